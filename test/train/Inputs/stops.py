"""stops.py SIGNAL LOG COMMAND ..: sends a signal once LOG has a line; the exit
code has to be 128 + the signal. PIPE instead closes what reads the lines.
An mpirun has exit codes of its own, which depend on who ended first."""

import os
import signal
import subprocess
import sys
import time

name, log, command = sys.argv[1], sys.argv[2], sys.argv[3:]
number = getattr(signal, "SIG" + name)
# Whoever runs the tests may ignore the signal, as nohup does.
process = subprocess.Popen(command, stderr=subprocess.PIPE if name == "PIPE" else None,
                           preexec_fn=lambda: signal.signal(number, signal.SIG_DFL))
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
isMpirun = os.path.basename(command[0]).startswith("mpirun")
sys.exit(0 if isMpirun or code == 128 + number else f"exit code {code} instead of {128 + number}")
