"""hardened.py FILE PATH..: how a program is protected, and how often it has a path."""

import pathlib
import re
import subprocess
import sys

file, paths = sys.argv[1], sys.argv[2:]


def read(*options):
    return subprocess.run(["llvm-readelf-22", *options, file], check=True, capture_output=True, text=True).stdout


def answer(what, holds):
    print(f"{what}: {'yes' if holds else 'no'}")


headers, dynamic, symbols = read("-lW"), read("-dW"), read("--dyn-syms", "-W")
stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
answer("position-independent", "DYN" in read("-hW"))
answer("read-only tables", "GNU_RELRO" in headers and ("BIND_NOW" in dynamic or " NOW" in dynamic))
answer("executable stack", " RWE " in stack)
answer("canaries", "__stack_chk_fail" in symbols)
answer("checked functions", re.search(r"\b__\w+_chk\b", symbols))
content = pathlib.Path(file).read_bytes()
found = {path for path in paths if path.encode() + b"/" in content}
print("paths of the build:", len(found), *sorted(found))
