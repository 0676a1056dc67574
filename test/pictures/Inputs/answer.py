"""answer.py WORD COMMAND ..: runs a command on a terminal, on which somebody
answers WORD to each question, and prints what stands there and the exit
code."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parents[2] / "cli/Inputs"))
import on_terminal

text, code = on_terminal.run(sys.argv[2:], answer=sys.argv[1])
print(text, "exit code", code)
