"""terminal.py COLUMNS COMMAND ..: runs a command on a terminal so wide, and
prints what stays there. No line may be wider, and what is drawn again and again
has to leave the last column free. At the end it says whether there were bars
and colours, and prints the last bar."""

import os
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cli/Inputs"))
import on_terminal

columns, command = int(sys.argv[1]), sys.argv[2:]
text, code = on_terminal.run(command, columns,
                             environment=dict(os.environ, TERM="xterm"))
if code != 0:
    sys.exit(f"exit code {code}: {text}")

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
