"""Writes a batch of images, clips or signals of different sizes.

    images.py FILE NAME CHANNELS SIZE..

A SIZE is `5`, `5x4` or `2x5x4`; all have as many axes. The channels come last;
NaN comes after what an example has.
"""

import itertools
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, write  # noqa: E402


def main(path, name, channels, *sizes):
    sizes = [[int(number) for number in size.split("x")] for size in sizes]
    largest = [max(axis) for axis in zip(*sizes)]
    draw = random.Random(1)
    values = []
    for size in sizes:
        for place in itertools.product(*map(range, largest)):
            inside = all(at < own for at, own in zip(place, size))
            values += [draw.uniform(-1, 1) if inside else float("nan") for _ in range(int(channels))]
    tensors = {name: Tensor("F64", [len(sizes), *largest, int(channels)], values)}
    for axis in range(len(largest)):
        suffix = "" if axis == 0 else f".{axis + 1}"
        tensors[f"{name}.length{suffix}"] = Tensor("I64", [len(sizes)], [size[axis] for size in sizes])
    write(path, tensors)


if __name__ == "__main__":
    main(*sys.argv[1:])
