"""Writes the weight `w` and data `x` of two examples to a folder, and to its folder
`old` a library that is called as the driver of CUDA and is the one of C."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "..", "models"))
import parameters  # noqa: E402,F401
from tensors import Tensor, write  # noqa: E402

folder = sys.argv[1]
write(os.path.join(folder, "w"), {"w": Tensor("F64", [1], [0.7])})
write(os.path.join(folder, "x"), {"x": Tensor("F64", [2, 21], [i / 7 - 2 for i in range(42)]),
                                  "x.length": Tensor("I64", [2], [21, 18])})
with open("/proc/self/maps") as maps:
    library = next(line.split()[-1] for line in maps if "/libc.so" in line or "/libc-" in line)
os.makedirs(os.path.join(folder, "old"), exist_ok=True)
link = os.path.join(folder, "old", "libcuda.so.1")
if os.path.lexists(link):
    os.remove(link)
os.symlink(library, link)
