"""Damages the vocabulary that a file of weights has, and takes away the checksum
that would say so.

  stored.py FROM TO OLD NEW     replaces OLD by NEW in the header, once
"""

import struct
import sys

source, target, old, new = sys.argv[1:]
with open(source, "rb") as file:
    data = file.read()
size = struct.unpack("<Q", data[:8])[0]
header, body = data[8:8 + size], data[8 + size:]
assert old.encode() in header, old
header = header.replace(old.encode(), new.encode(), 1)
header = header.replace(b"fovea.checksum", b"other.checksum")
with open(target, "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header + body)
