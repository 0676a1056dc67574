"""typed.py COMMAND ..: types the lines of standard input at a terminal, each
after the answer to the one before it, and prints all that the command writes.
A command that waits for the end of its input before it answers is an error.
"""

import os
import pty
import select
import sys
import termios

process, terminal = pty.fork()
if process == 0:
    attributes = termios.tcgetattr(0)
    attributes[3] &= ~termios.ECHO
    termios.tcsetattr(0, termios.TCSANOW, attributes)
    os.execvp(sys.argv[1], sys.argv[1:])

said, taken = b"", 0


def read():
    """Whether there was more."""
    global said
    if not select.select([terminal], [], [], 120)[0]:
        sys.exit(f"no answer after {said}")
    try:
        more = os.read(terminal, 4096)
    except OSError:
        return False
    said += more
    return bool(more)


def answer():
    """Waits for a line that nobody has waited for."""
    global taken
    while b"\n" not in said[taken:] and read():
        pass
    taken = said.find(b"\n", taken) + 1 or len(said)


answer()  # what it asks for
for line in sys.stdin:
    os.write(terminal, line.encode())
    answer()
os.write(terminal, b"\x04")
while read():
    pass
print(said.decode().replace("\r", ""), end="")
sys.exit(os.waitstatus_to_exitcode(os.waitpid(process, 0)[1]))
