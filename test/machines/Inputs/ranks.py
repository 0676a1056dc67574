"""ranks.py COUNT SEED FOLDER COMMAND ..: starts `mpirun .. fovea train ..
--out FOLDER` COUNT times, and kills the process that works for a random rank
(SIGKILL) at a random moment. Each run has to end by itself, with exit code 3
and one sentence of ours. In the end the command may finish."""

import os
import random
import signal
import subprocess
import sys
import time

numbers = random.Random(int(sys.argv[2]))
folder, command = sys.argv[3], sys.argv[4:]


def parent_and_words(pid):
    with open(f"/proc/{pid}/stat") as file:
        parent = int(file.read().rsplit(")", 1)[1].split()[1])
    with open(f"/proc/{pid}/cmdline") as file:
        return parent, file.read().split("\0")


def workers():
    """Each rank is a process that watches and one that works."""
    ours = {}
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            parent, words = parent_and_words(pid)
        except (FileNotFoundError, ProcessLookupError):
            continue
        if os.path.basename(words[0]) == "fovea" and folder in words:
            ours[int(pid)] = parent
    return [pid for pid, parent in ours.items() if parent in ours]


def kill_one():
    process = subprocess.Popen(command, stdout=subprocess.PIPE,
                               stderr=subprocess.STDOUT, text=True)
    while process.poll() is None and not workers():
        time.sleep(0.01)
    time.sleep(numbers.uniform(0, 1.2))
    alive = workers()
    killed = False
    if alive:
        try:
            os.kill(numbers.choice(sorted(alive)), signal.SIGKILL)
            killed = True
        except ProcessLookupError:
            pass
    text = process.communicate(timeout=60)[0]
    ours = [line for line in text.splitlines() if line.startswith("error: ")]
    if process.returncode == 0:
        return  # it was done before
    if killed and (len(ours) != 1 or "was ended by signal 9 (Killed)" not in ours[0]):
        sys.exit(f"not one sentence:\n{text}")
    if process.returncode != 3:
        sys.exit(f"exit code {process.returncode}:\n{text}")
    time.sleep(0.3)
    if workers():
        sys.exit("a process is left")


for _ in range(int(sys.argv[1])):
    kill_one()
sys.exit(subprocess.run(command).returncode)
