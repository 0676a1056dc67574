"""answer.py WORD COMMAND ..: runs a command on a terminal, on which somebody
answers WORD to the first question, and prints what stands there and the exit
code."""

import os
import pty
import subprocess
import sys

word, command = sys.argv[1], sys.argv[2:]
ours, theirs = pty.openpty()
process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
os.close(theirs)
text = b""
while True:
    try:
        part = os.read(ours, 1 << 16)
    except OSError:
        break
    if not part:
        break
    text += part
    if text.endswith(b"? [y/N] "):
        os.write(ours, word.encode() + b"\n")
print(text.decode(), "exit code", process.wait())
