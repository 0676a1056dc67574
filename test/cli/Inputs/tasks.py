"""tasks.py COMMAND ..: runs a command whose standard input ends after half a
second, passes on what it says on standard error, and fails if it ever has more
than 64 threads."""

import os
import subprocess
import sys
import time

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)
begin, most = time.monotonic(), 0
while process.poll() is None:
    try:
        most = max(most, len(os.listdir(f"/proc/{process.pid}/task")))
    except FileNotFoundError:
        break
    if time.monotonic() > begin + 0.5 and not process.stdin.closed:
        process.stdin.write(b"2\n")
        process.stdin.close()
    time.sleep(0.0005)
code = process.wait()
sys.exit(code or (f"{most} threads" if most > 64 else 0))
