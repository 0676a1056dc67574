"""terminate.py COMMAND ..: gives a command lines without an end on standard input,
and ends it by SIGTERM while it reads them."""

import subprocess
import sys
import threading
import time

process = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stderr=subprocess.DEVNULL)


def feed():
    try:
        while True:
            process.stdin.write(b"1,2,3,4 5,6,7,8\n" * 1000)
    except OSError:
        pass


threading.Thread(target=feed, daemon=True).start()
time.sleep(1)
begin = time.monotonic()
process.terminate()
code = process.wait()
print("ended with", code if code >= 0 else 128 - code, "at once:", time.monotonic() - begin < 5)
