"""sgd.py BEFORE AFTER GRADIENTS RATE [CLIP]: checks that the weights AFTER are
BEFORE - RATE * gradients, whose norm is cut to CLIP, to 1e-12."""

import json
import math
import struct
import sys

CODES = {"F64": "d", "F32": "f"}


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    tensors = {}
    for name, entry in json.loads(data[8:8 + size]).items():
        if name != "__metadata__" and entry["dtype"] in CODES:
            begin, end = (8 + size + each for each in entry["data_offsets"])
            code = CODES[entry["dtype"]]
            count = (end - begin) // struct.calcsize(code)
            tensors[name] = struct.unpack(f"<{count}{code}", data[begin:end])
    return tensors


before, after, gradients = map(read, sys.argv[1:4])
rate = float(sys.argv[4])
if len(sys.argv) > 5:
    norm = math.sqrt(sum(g * g for name in before
                         for g in gradients["grad/" + name]))
    rate *= min(1, float(sys.argv[5]) / norm)
worst = max(abs(a - (b - rate * g)) for name in before
            for a, b, g in zip(after[name], before[name],
                               gradients["grad/" + name]))
if worst > 1e-12:
    sys.exit(f"weights differ by {worst}")
