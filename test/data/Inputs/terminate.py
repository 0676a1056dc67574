"""terminate.py COMMAND ..: gives a command lines without an end on standard input,
and ends it by SIGTERM while it reads them."""

import subprocess
import sys
import threading
import time

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE)
reads = threading.Event()


def feed():
    try:
        # More than a pipe holds: what was written before has been read.
        for _ in range(100):
            process.stdin.write(b"1,2,3,4 5,6,7,8\n" * 1000)
        reads.set()
        while True:
            process.stdin.write(b"1,2,3,4 5,6,7,8\n" * 1000)
    except OSError:
        reads.set()


threading.Thread(target=feed, daemon=True).start()
reads.wait()
begin = time.monotonic()
process.terminate()
code = process.wait()
print("ended with", code if code >= 0 else 128 - code, "at once:", time.monotonic() - begin < 30)
