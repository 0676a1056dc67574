"""Compares compiled code with the interpreter.

    agree.py SPEC BATCH WORK_DIRECTORY [NAME..] [--set K=V]

The loss, its gradients and the equations NAME of a spec with random weights, in
both precisions, with vectors of 256 bits, with three threads and once more.
Prints how many results agree.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from parameters import drawn  # noqa: E402
from tensors import read, write  # noqa: E402

WAYS = [("f64", 1e-10, []), ("f32", 1e-4, []), ("f32", 1e-4, ["--cpu", "x86-64-v3"])]


def main(spec, batch, work, *names):
    sets = list(names[names.index("--set"):]) if "--set" in names else []
    names = names[:len(names) - len(sets)]
    os.makedirs(work, exist_ok=True)
    weights, result = os.path.join(work, "w"), os.path.join(work, "r")
    write(weights, drawn(spec, sets, 0.3))

    def run(*options):
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", batch, "--get", "loss", "grads",
                        *names, *options, "-o", result], check=True)
        return read(result)

    expected = run("--reference")
    for dtype, tolerance, options in WAYS:
        found = run("--dtype", dtype, *options)
        for name, tensor in expected.items():
            largest = max([1, *map(abs, tensor.values)])
            for a, b in zip(tensor.values, found[name].values, strict=True):
                assert abs(a - b) <= tolerance * largest, f"{dtype} {options}: {name} is {b} and not {a}"
        for threads in ("3", "1"):
            for name, tensor in run("--dtype", dtype, *options, "--threads", threads).items():
                assert tensor.values == found[name].values, f"{name} differs with {threads} threads"
    print(f"{len(expected)} results agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
