"""damage.py FILE COPY weights|description|code: a copy of a program or a library
in which one bit of the weights, of the description, or of its code is another."""

import os
import re
import shutil
import sys

file, copy, part = sys.argv[1:]
data = bytearray(open(file, "rb").read())
if part == "weights":
    # A safetensors file: eight bytes of size, a header, the values.
    found = re.search(rb'\{"__metadata__":\{"fovea.checksum"', data)
    at = found.start() + int.from_bytes(data[found.start() - 8 : found.start()], "little")
elif part == "code":
    # The middle of the largest part of the file that is run.
    count, size = int.from_bytes(data[56:58], "little"), 56
    parts = [data[64 + i * size : 64 + (i + 1) * size] for i in range(count)]
    word = lambda part, at: int.from_bytes(part[at : at + 8], "little")
    run = max((p for p in parts if p[0] == 1 and p[4] & 1), key=lambda p: word(p, 32))
    at = word(run, 8) + word(run, 32) // 2
else:
    at = re.search(rb"fovea \d+ [0-9a-f]{16}\n\[", data).end()
data[at] ^= 1
shutil.copyfile(file, copy)
open(copy, "wb").write(data)
os.chmod(copy, 0o755)
