"""stops.py SIGNAL[/CODE] LOG COMMAND ..: sends a signal once LOG has a line; the
exit code has to be 128 + the signal, or CODE. PIPE instead closes what reads the
lines."""

import os
import signal
import subprocess
import sys
import time

(name, *other), log, command = sys.argv[1].split("/"), sys.argv[2], sys.argv[3:]
number = getattr(signal, "SIG" + name)
process = subprocess.Popen(command, stderr=subprocess.PIPE if name == "PIPE" else None)
end = time.monotonic() + 60
while time.monotonic() < end and process.poll() is None:
    if os.path.exists(log) and os.path.getsize(log) > 0:
        break
    time.sleep(0.01)
if name == "PIPE":
    process.stderr.close()
else:
    process.send_signal(number)
code = process.wait(timeout=60)
codes = [128 + number, *map(int, other)]
sys.exit(0 if code in codes else f"exit code {code} instead of {codes}")
