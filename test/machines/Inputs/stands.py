"""stands.py MOMENT WHO RANK FOLDER COMMAND ..: starts `mpirun .. fovea train ..
--out FOLDER`, and stops processes of RANK, or of `all`, without ending them
(SIGSTOP): the one that works, the one that watches it, or both. MOMENT is `start`, as soon as
it is there, or a number of lines of the log. With `for SECONDS` in place of
`COMMAND` before it, they go on after that time. Ends as the command does."""

import os
import signal
import subprocess
import sys
import time

from processes import rank_of, workers

moment, who, rank, folder = sys.argv[1:5]
command, seconds = sys.argv[5:], None
if command[0] == "for":
    seconds, command = float(command[1]), command[2:]


def is_time():
    if moment == "start":
        return True
    try:
        with open(os.path.join(folder, "log.jsonl")) as file:
            return len(file.readlines()) >= int(moment)
    except FileNotFoundError:
        return False


def find():
    found = []
    for worker, watcher in workers(folder).items():
        try:
            if rank in ("all", str(rank_of(worker))):
                found += {"worker": [worker], "watcher": [watcher], "both": [watcher, worker]}[who]
        except (FileNotFoundError, ProcessLookupError):
            pass
    return found


process = subprocess.Popen(command)
while not (is_time() and (found := find())):
    if process.poll() is not None:
        sys.exit(f"ended before, with {process.returncode}")
    time.sleep(0.005)
for pid in found:
    os.kill(pid, signal.SIGSTOP)
if seconds is not None:
    time.sleep(seconds)
    for pid in found:
        os.kill(pid, signal.SIGCONT)
try:
    code = process.wait(timeout=90)
except subprocess.TimeoutExpired:
    process.kill()
    sys.exit("it hangs")
time.sleep(0.3)
if workers(folder):
    sys.exit("a process is left")
sys.exit(code)
