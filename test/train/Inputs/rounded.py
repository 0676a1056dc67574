"""rounded.py round W R: writes the weights W to R, with matrices in bf16.

rounded.py same W W2 R R2: checks that an update has changed W to W2 as it has
changed R to R2.
"""

import os
import struct
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read, write


def rounded(value):
    bits, = struct.unpack("<I", struct.pack("<f", value))
    bits += 0x7FFF + (bits >> 16 & 1)
    return struct.unpack("<f", struct.pack("<I", bits & 0xFFFF0000))[0]


what, *paths = sys.argv[1:]
if what == "round":
    file = read(paths[0])
    for name, tensor in file.items():
        if len(tensor.shape) > 1:
            file[name] = tensor._replace(values=list(map(rounded, tensor.values)))
    write(paths[1], file)
else:
    begin, end, other_begin, other_end = map(read, paths)
    largest = 0
    for name, tensor in begin.items():
        for before, after, other_before, other_after in zip(
                tensor.values, end[name].values, other_begin[name].values, other_end[name].values, strict=True):
            largest = max(largest, abs(after - before))
            if abs((after - before) - (other_after - other_before)) > 1e-6:
                sys.exit(f"'{name}' changes by {after - before} and by {other_after - other_before}")
    if largest < 1e-3:
        sys.exit("the weights do not change")
