"""Lists what a program carries for drivers of CUDA: the kind of each image and
its architecture.

    fatbin.py PROGRAM
"""

import struct
import sys

KINDS = {1: "ptx", 2: "cubin"}
MAGIC = struct.pack("<I", 0xBA55ED50)

with open(sys.argv[1], "rb") as file:
    program = file.read()
start = program.find(MAGIC)
assert start >= 0, "no images for CUDA"
_, _, header, size = struct.unpack_from("<IHHQ", program, start)
at, end = start + header, start + header + size
while at < end:
    kind, _, header, size = struct.unpack_from("<HHIQ", program, at)
    (architecture,) = struct.unpack_from("<I", program, at + 28)
    print(f"{KINDS[kind]} {architecture}")
    at += header + size
