"""Losses and gradients of small specs against numbers that were found by hand.

`check` runs a spec over one batch by the interpreter and compiled, in both
precisions and with vectors of 256 bits. Nothing is equal to NaN.
"""

import math
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

WAYS = [("--reference",), ("--dtype", "f64"), ("--dtype", "f32"), ("--dtype", "f32", "--cpu", "x86-64-v3")]


def tensor(value):
    """A tensor of nested lists."""
    shape, values = [], value
    while isinstance(values, list):
        shape.append(len(values))
        values = values[0] if shape[-1] else 0
    flat = value
    for _ in shape[1:]:
        flat = [each for row in flat for each in row]
    flat = flat if shape else [flat]
    whole = all(isinstance(each, int) for each in flat)
    return Tensor("I64" if whole else "F64", shape, flat)


def check(name, spec, weights, data, gets=(), gradients=True, **expected):
    """`data` is a batch: lists of examples of one length, which is given where
    a list has an axis for it. `expected` are results by name; `grad_w` is that
    of the parameter w, and `penalty` the sum over the batch's examples is not:
    the loss is a mean over them."""
    work = sys.argv[1]
    os.makedirs(work, exist_ok=True)
    path, result = os.path.join(work, name + ".fov"), os.path.join(work, "result")
    with open(path, "w") as file:
        file.write(f"model spec_{name}\n{spec}")
    write(os.path.join(work, "w"), {key: tensor(value)._replace(dtype="F64") for key, value in weights.items()})
    batch = {}
    for key, value in data.items():
        batch[key] = tensor(value)
        if len(batch[key].shape) > 1:
            batch[key + ".length"] = Tensor("I64", [len(value)], [batch[key].shape[1]] * len(value))
    write(os.path.join(work, "b"), batch)
    for way in WAYS:
        subprocess.run(["fovea", "run", path, "--weights", os.path.join(work, "w"), "--data", os.path.join(work, "b"),
                        "--get", "loss", *(["grads"] if gradients else []), *gets, "-o", result, "--quiet", *way],
                       check=True)
        found = read(result)
        tolerance = 1e-5 if "f32" in way else 1e-10
        for key, value in expected.items():
            key = "grad/" + key[5:] if key.startswith("grad_") else key
            want, got = tensor(value).values, found[key].values
            assert len(got) == len(want), (name, way, key, got)
            for a, b in zip(got, want):
                same = a == b if math.isinf(b) else abs(a - b) <= tolerance * max(1, abs(b))
                assert same, f"{name} {' '.join(way)}: {key} is {got} and not {want}"
    print(f"{name}: {len(expected)} results as they should be")
