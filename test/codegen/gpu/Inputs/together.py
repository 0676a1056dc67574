"""together.py COMMAND .. -o FILE ..: runs a command twice at the same time, with
files of their own; both have to give the same."""

import subprocess
import sys

command = sys.argv[1:]
at = command.index("-o") + 1
files = [command[at] + str(number) for number in (1, 2)]
running = [subprocess.Popen(command[:at] + [file] + command[at + 1:]) for file in files]
assert [process.wait() for process in running] == [0, 0]
first, second = (open(file, "rb").read() for file in files)
assert first == second and first
