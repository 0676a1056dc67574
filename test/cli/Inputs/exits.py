"""exits.py CODE COMMAND ..: runs a command and fails unless it exits with CODE.

exits.py interrupted COMMAND ..: interrupts the command, whose standard input
stays open, as soon as it has started; it has to exit with 130.
"""

import signal
import subprocess
import sys
import time

wanted, command = sys.argv[1], sys.argv[2:]
if wanted == "interrupted":
    wanted = 130
    process = subprocess.Popen(command, stdin=subprocess.PIPE)
    # Long enough for the handler to be there; the command waits for its input.
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    code = process.wait(timeout=60)
else:
    code = subprocess.run(command).returncode
if code != int(wanted):
    sys.exit(f"exit code {code} instead of {wanted}: {' '.join(command)}")
