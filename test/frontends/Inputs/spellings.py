"""Compares values that an equation has with those that another spelling gives.

    spellings.py SPEC WORK_DIRECTORY [KEY=VALUE]..

Each NAME_ has the values of NAME, by the interpreter and by compiled code, to
1e-12; the gradients agree with central differences along a random direction.
The data are x[T] : real(4), flag[T] : bit and word[T] : sentence of 6 symbols.
"""

import os
import random
import re
import subprocess
import sys

from parameters import drawn  # in test/models
from tensors import Tensor, read, write

T, D = 5, 4


def main(spec, work, *options):
    os.makedirs(work, exist_ok=True)
    sets = [word for option in options for word in ("--set", option)]
    weights, inputs, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))
    draw, parameters = random.Random(3), drawn(spec, sets, 0.6)
    with open(spec) as file:
        text = file.read()
    names = re.findall(r"^(\w+)_\[", text, re.M)
    data = {"x": Tensor("F64", [1, T, D], [draw.uniform(-1, 1) for _ in range(T * D)]),
            "flag": Tensor("I64", [1, T], [draw.randrange(2) for _ in range(T)]),
            "word": Tensor("I64", [1, T], [draw.randrange(2, 6) for _ in range(T - 1)] + [1])}
    data = {name: tensor for name, tensor in data.items() if re.search(rf"^data .*\b{name}\[", text, re.M)}
    write(inputs, data | {f"{name}.length": Tensor("I64", [1], [T]) for name in data})

    def run(parameters, gets, *how):
        write(weights, parameters)
        asked = [word for name in gets for word in ("--get", name)]
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", inputs, "--dtype", "f64", *how, *asked,
                        "-o", result], check=True)
        return read(result)

    def close(ours, theirs, tolerance, what):
        for a, b in zip(ours, theirs, strict=True):
            assert abs(a - b) <= tolerance * max(1, abs(b)), f"{what}: {a}, not {b}"

    reference = {}
    for how in (["--reference"], []):
        found = run(parameters, [*names, *(name + "_" for name in names), "loss", "grads"], *how)
        for name in names:
            close(found[name].values, found[name + "_"].values, 1e-12, f"{name} {how}")
        reference = reference or found
        for name, tensor in found.items():
            close(tensor.values, reference[name].values, 1e-12, f"{name} {how}")
        print(f"{' '.join(how) or 'compiled'}: {len(names)} values agree")

    direction = {n: [draw.uniform(-1, 1) for _ in t.values] for n, t in parameters.items()}

    def at(scale):
        moved = {n: Tensor("F64", t.shape, [v + scale * d for v, d in zip(t.values, direction[n], strict=True)])
                 for n, t in parameters.items()}
        return run(moved, ["loss"])["loss"].values[0]

    slope = (at(1e-5) - at(-1e-5)) / 2e-5
    ours = sum(d * g for n, ds in direction.items() for d, g in zip(ds, reference[f"grad/{n}"].values, strict=True))
    close([ours], [slope], 1e-6, "gradient")
    print("gradients agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
