"""Runs a command on a terminal and prints what it writes there; also a module."""

import fcntl
import os
import pty
import struct
import subprocess
import sys
import termios


def run(command, columns=80, answer=None, environment=None):
    """What stands on a terminal of `columns` after `command`, and its exit
    code. Somebody answers `answer` to each question."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ,
                struct.pack("4H", 24, columns, 0, 0))
    process = subprocess.Popen(command, stdin=theirs, stdout=theirs,
                               stderr=theirs, env=environment)
    os.close(theirs)
    data = b""
    while True:
        try:
            part = os.read(ours, 1 << 16)
        except OSError:
            break
        if not part:
            break
        data += part
        if answer is not None and data.endswith(b"? [y/N] "):
            os.write(ours, answer.encode() + b"\n")
    return data.decode(), process.wait()


if __name__ == "__main__":
    print(run(sys.argv[1:])[0])
