"""Writes large and deep .fov files into the folder that it is given."""

import os
import sys

FILES = {
    "brackets": "x = " + "(" * 10_000 + "a" + ")" * 10_000 + "\ny = 3\nz = = 3\n",
    "allowed": "x = " + "(" * 255 + "a" + ")" * 255 + "\ny = " + "a + " * 255 + "a\n",
    "chain": "x = " + "a + " * 200_000 + "a\n",
    "powers": "x = " + "a^" * 100_000 + "a\n",
    "defaults": "x = " + "a[i] ?? " * 100_000 + "a\n",
    "ifs": "x = " + "if a then b else " * 100_000 + "c\n",
    "calls": "x = a" + "()" * 100_000 + "\n",
    "defs": "def f(x) { " * 100_000,
    "mistakes": "x = = 3\n" * 1_000_000,
    "statements": "".join(f"x{i} = a\n" for i in range(1_000_000)),
    "number": "x = " + "9" * 10_000_000 + "\n",
}

os.makedirs(sys.argv[1], exist_ok=True)
for name, text in FILES.items():
    with open(os.path.join(sys.argv[1], name + ".fov"), "w") as file:
        file.write("model large\n" + text)
