"""interrupt.py LOG COMMAND ..: interrupts a command once LOG has a line; it has
to exit with 130."""

import os
import signal
import subprocess
import sys
import time

log, command = sys.argv[1], sys.argv[2:]
process = subprocess.Popen(command)
end = time.monotonic() + 60
while time.monotonic() < end and process.poll() is None:
    if os.path.exists(log) and os.path.getsize(log) > 0:
        process.send_signal(signal.SIGINT)
        break
    time.sleep(0.01)
code = process.wait(timeout=60)
sys.exit(0 if code == 130 else f"exit code {code} instead of 130")
