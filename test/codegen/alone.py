"""Runs a batch, and each of its examples alone.

    alone.py SPEC BATCH WORK_DIRECTORY NAME..

Each NAME is one number of each example of a spec with random weights: the same
one, bit for bit, in both precisions.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from parameters import drawn  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402


def main(spec, batch, work, *names):
    os.makedirs(work, exist_ok=True)
    weights, one, result = (os.path.join(work, f) for f in ("w", "b", "r"))
    write(weights, drawn(spec, [], 0.3))
    examples = read(batch)
    count = next(iter(examples.values())).shape[0]

    def run(data, dtype):
        subprocess.run(["fovea", "run", spec, "--weights", weights, "--data", data, "--dtype", dtype, "--get", *names,
                        "-o", result], check=True)
        return read(result)

    for dtype in "f64", "f32":
        together = run(batch, dtype)
        for example in range(count):
            alone = {}
            for name, tensor in examples.items():
                size = len(tensor.values) // count
                alone[name] = Tensor(tensor.dtype, [1, *tensor.shape[1:]],
                                     tensor.values[example * size:(example + 1) * size])
            write(one, alone)
            for name, tensor in run(one, dtype).items():
                assert tensor.values[0] == together[name].values[example], f"{name} of example {example} alone"
    print(f"{count} examples are the same alone")


if __name__ == "__main__":
    main(*sys.argv[1:])
