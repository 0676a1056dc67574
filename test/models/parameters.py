"""The parameters of a spec, as `fovea params` lists them, and random values."""

import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "golden"))
from tensors import Tensor  # noqa: E402


def shapes(spec, sets):
    """The extents of each parameter, by name, in the order of the list."""
    lines = subprocess.run(["fovea", "params", spec, *sets], check=True, capture_output=True, text=True).stdout
    found = {}
    for line in lines.splitlines():
        name, _, extents = line.split("\t")
        found[name] = [int(x) for x in extents.strip("[]").split(",") if x.strip()]
    return found


def drawn(spec, sets, bound):
    """Every parameter, uniform in -bound .. bound, always the same."""
    draw = random.Random(1)
    return {name: Tensor("F64", shape, [draw.uniform(-bound, bound) for _ in range(math.prod(shape))])
            for name, shape in shapes(spec, sets).items()}
