"""before.py SIGNAL COMMAND ..: sends a signal to a training that waits for its
data, /dev/fd/PIPE in COMMAND; so it has not begun. The exit code has to be 128 +
the signal."""

import os
import signal
import subprocess
import sys
import time

name, command = sys.argv[1], sys.argv[2:]
number = getattr(signal, "SIG" + name)
data, _ = os.pipe()
pipe = os.readlink(f"/proc/self/fd/{data}")
command = [word.replace("/dev/fd/PIPE", f"/dev/fd/{data}") for word in command]
process = subprocess.Popen(command, pass_fds=[data])


def waits():
    """Whether it has opened the pipe that it was given."""
    folder = f"/proc/{process.pid}/fd"
    links = [os.readlink(os.path.join(folder, each)) for each in os.listdir(folder)]
    return links.count(pipe) == 2


end = time.monotonic() + 60
while time.monotonic() < end and process.poll() is None:
    try:
        if waits():
            break
    except FileNotFoundError:
        pass
    time.sleep(0.01)
process.send_signal(number)
code = process.wait(timeout=60)
sys.exit(0 if code == 128 + number else f"exit code {code} instead of {128 + number}")
