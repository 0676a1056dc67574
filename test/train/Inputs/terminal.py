"""terminal.py COLUMNS COMMAND ..: runs a command on a terminal so wide, and
prints what stays there. No line may be wider, and what is drawn again and again
has to leave the last column free. At the end it says whether there were bars
and colours, and prints the last bar."""

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios

columns, command = int(sys.argv[1]), sys.argv[2:]
ours, theirs = pty.openpty()
fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("4H", 24, columns, 0, 0))
environment = dict(os.environ, TERM="xterm")
process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs,
                           env=environment)
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
if process.wait() != 0:
    sys.exit(f"exit code {process.returncode}: {data.decode()}")

text = data.decode()
colours = re.compile("\x1b\\[[0-9;]*m")
bars = []
for line in text.replace("\r\n", "\n").split("\n"):
    drawn = [colours.sub("", each) for each in line.split("\r\x1b[K")]
    for each in drawn[:-1]:
        bars += [each] if each else []
        if len(each) >= columns:
            sys.exit(f"{len(each)} columns of {columns}: {each}")
    if len(drawn[-1]) > columns:
        sys.exit(f"{len(drawn[-1])} columns of {columns}: {drawn[-1]}")
    print(drawn[-1])
print("bar:", bars[-1] if bars else "none")
print("colours:", "some" if colours.search(text) else "none")
