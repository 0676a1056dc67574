"""flip.py FROM TO: copies safetensors with one bit of the tensors flipped."""

import struct
import sys

with open(sys.argv[1], "rb") as file:
    data = bytearray(file.read())
data[8 + struct.unpack("<Q", data[:8])[0] + 101] ^= 0x40
with open(sys.argv[2], "wb") as file:
    file.write(data)
