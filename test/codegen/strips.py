"""Compares strips of rows with the interpreter, and with themselves.

    strips.py SPEC WORK_DIRECTORY LENGTH.. [--cpu CPU]

`x` of the spec is a sequence of vectors of 32; the examples have these lengths,
`3x100` is 100 of length 3, and NaN after them. Prints what agrees; of many
examples the first are run alone.
"""

import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from parameters import drawn  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

WIDTH = 32
TOLERANCES = {"f64": 1e-10, "f32": 1e-4}


def main(spec, work, *lengths):
    cpu = ["--cpu", lengths[-1]] if "--cpu" in lengths else []
    counted = [length.split("x") for length in lengths[:len(lengths) - len(cpu)]]
    lengths = [int(length) for length, *count in counted for _ in range(int(*count or [1]))]
    os.makedirs(work, exist_ok=True)
    weights, batch, result = (os.path.join(work, f) for f in ("w", "b", "r"))
    write(weights, drawn(spec, [], 0.3))
    draw = random.Random(0)
    rows = [[draw.uniform(-1, 1) for _ in range(length * WIDTH)] for length in lengths]

    def run(examples, *options):
        longest = max(lengths[e] for e in examples)
        nan = float("nan")
        values = [v for e in examples for v in rows[e] + [nan] * ((longest - lengths[e]) * WIDTH)]
        write(batch, {
            "x": Tensor("F64", [len(examples), longest, WIDTH], values),
            "x.length": Tensor("I64", [len(examples)], [lengths[e] for e in examples]),
        })
        subprocess.run(["fovea", "run", spec, "--weights", weights, "--data", batch, "--get", "loss", "grads", "c",
                        *options, *([] if "--reference" in options else cpu), "-o", result], check=True)
        return read(result)

    everyone = range(len(lengths))
    expected = run(everyone, "--reference")
    for dtype, tolerance in TOLERANCES.items():
        found = run(everyone, "--dtype", dtype)
        for name, tensor in expected.items():
            largest = max([1, *map(abs, tensor.values)])
            for a, b in zip(tensor.values, found[name].values, strict=True):
                assert abs(a - b) <= tolerance * largest, f"{dtype}: {name} is {b} and not {a}"
        for name, tensor in run(everyone, "--dtype", dtype, "--threads", "3").items():
            assert tensor.values == found[name].values, f"{name} differs with 3 threads"
        size = len(found["c"].values) // len(lengths)
        for e in everyone[:8]:
            alone = run([e], "--dtype", dtype)["c"].values
            heads = found["c"].shape[1]
            own = found["c"].values[e * size:(e + 1) * size]
            for head in range(heads):
                part, mine = size // heads, len(alone) // heads
                assert own[head * part:head * part + mine] == alone[head * mine:(head + 1) * mine], f"{e} alone"
    print(f"{len(expected)} results agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
