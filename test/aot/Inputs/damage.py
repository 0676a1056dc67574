"""damage.py FILE COPY weights|description: a copy of a program or a library in
which one bit of the weights, or of the description, is another."""

import os
import re
import shutil
import sys

file, copy, part = sys.argv[1:]
data = bytearray(open(file, "rb").read())
if part == "weights":
    # A safetensors file: eight bytes of size, a header, the values.
    found = re.search(rb'\{"[^{}]*":\{"[^{}]*"data_offsets"', data)
    at = found.start() + int.from_bytes(data[found.start() - 8 : found.start()], "little")
else:
    at = re.search(rb"fovea \d+ [0-9a-f]{16}\n\[", data).end()
data[at] ^= 1
shutil.copyfile(file, copy)
open(copy, "wb").write(data)
os.chmod(copy, 0o755)
