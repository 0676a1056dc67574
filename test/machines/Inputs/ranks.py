"""ranks.py WHO COUNT SEED FOLDER COMMAND ..: starts `mpirun .. fovea train ..
--out FOLDER` COUNT times, and kills a process of a random rank (SIGKILL) at a
random moment. Each run has to end by itself. Where the one that works is killed
(WHO is `worker`), the exit code is 3, and one sentence is ours; where it is the
one that watches it (`watcher`), both are those of mpirun. In the end the command
may finish."""

import os
import random
import signal
import subprocess
import sys
import time

from processes import workers

who, count = sys.argv[1], int(sys.argv[2])
numbers = random.Random(int(sys.argv[3]))
folder, command = sys.argv[4], sys.argv[5:]


def kill_one():
    process = subprocess.Popen(command, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    while process.poll() is None and not workers(folder):
        time.sleep(0.01)
    time.sleep(numbers.uniform(0, 1.2))
    alive = workers(folder)
    killed = False
    if alive:
        try:
            worker = numbers.choice(sorted(alive))
            os.kill(worker if who == "worker" else alive[worker], signal.SIGKILL)
            killed = True
        except ProcessLookupError:
            pass
    text = process.communicate(timeout=60)[0]
    ours = [line for line in text.splitlines() if line.startswith("error: ")]
    if process.returncode == 0:
        return  # it was done before
    if who == "worker" and killed and (len(ours) != 1 or "was ended by signal 9 (Killed)" not in ours[0]):
        sys.exit(f"not one sentence:\n{text}")
    if who == "worker" and process.returncode != 3:
        sys.exit(f"exit code {process.returncode}:\n{text}")
    time.sleep(0.3)
    if workers(folder):
        sys.exit("a process is left")


for _ in range(count):
    kill_one()
sys.exit(subprocess.run(command).returncode)
