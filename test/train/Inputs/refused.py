"""refused.py COMMAND .. --out FOLDER: runs a training while one system call, or
each from one on, fails. It has to say what is wrong, or not need the call."""

import shutil
import subprocess
import sys

command = sys.argv[1:]
faults = [f"brk:error=ENOMEM:when={number}" for number in (3, 4, 6, 9)]
faults += [f"brk:retval=0:when={number}+" for number in (3, 6)]
faults += [f"{call}:error=EINTR:when={number}+" for call, number in
           (("pread64", 4), ("fsync", 1), ("flock", 1), ("ftruncate", 1), ("rename", 1))]
# Not of standard error, where the error goes.
faults.append("write:error=EINTR:when=1+ -P " + command[-1] + "/log.jsonl")
wrong = 0
for fault in faults:
    shutil.rmtree(command[-1], ignore_errors=True)
    done = subprocess.run(["timeout", "-s", "KILL", "20", "strace", "-f", "-qq", "-o", "/dev/null", "-e",
                           *f"inject={fault}".split(), *command], stderr=subprocess.PIPE)
    said = b"error: " in done.stderr
    if done.returncode not in (0, 3) or (done.returncode == 3 and not said):
        wrong += 1
        print(fault, "ended with", done.returncode, done.stderr)
print(f"{len(faults)} faults, {wrong} wrong")
