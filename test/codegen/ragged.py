"""Compares compiled code with the interpreter over examples of several lengths.

    ragged.py SPEC WORK_DIRECTORY LENGTH.. [NAME=VALUE..]

Every name that is `data name[LENGTH] : real`, `real(n)`, `token`, `sentence` or
`int` has these lengths; NAME=VALUE goes to `--set`, where `NAME.vocab` says how
many symbols there are. In f64 the loss and every gradient agree to 1e-10,
whatever the phase that is interpreted; each example alone gives its share.
"""

import os
import random
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
from parameters import drawn  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

DATA = re.compile(r"^data (\w+)\[\w+\] : (real\((\d+)\)|real|token|sentence|int)", re.MULTILINE)


def main(spec, work, *words):
    sets = [word for part in words if "=" in part for word in ("--set", part)]
    settings = dict(part.split("=") for part in words if "=" in part)
    lengths = [int(word) for word in words if "=" not in word]
    os.makedirs(work, exist_ok=True)
    weights, batch, result = (os.path.join(work, f) for f in ("w", "b", "r"))
    write(weights, drawn(spec, sets, 0.7))
    with open(spec, encoding="utf-8") as file:
        declared = DATA.findall(file.read())
    draw = random.Random(0)

    def value(name, kind):
        if kind.startswith("real"):
            return draw.uniform(-1, 1)
        return draw.randrange(int(settings.get(name + ".vocab", 5)))

    data = {}
    for name, kind, width in declared:
        data[name] = kind, width, [[value(name, kind) for _ in range(n * int(width or 1))] for n in lengths]

    def run(examples, *options):
        longest = max(lengths[e] for e in examples)
        tensors = {}
        for name, (kind, width, rows) in data.items():
            size = longest * int(width or 1)
            values = [v for e in examples for v in rows[e] + [0] * (size - len(rows[e]))]
            tensors[name] = Tensor("F64" if kind.startswith("real") else "I64",
                                   [len(examples), longest] + ([int(width)] if width else []), values)
            tensors[name + ".length"] = Tensor("I64", [len(examples)], [lengths[e] for e in examples])
        write(batch, tensors)
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", batch, "--get", "loss", "grads",
                        *options, "-o", result], check=True)
        return read(result)

    def compare(found, wanted, where):
        assert set(found) == set(wanted), where
        for name, tensor in wanted.items():
            largest = max([1, *map(abs, tensor.values)])
            for a, b in zip(tensor.values, found[name].values, strict=True):
                assert abs(a - b) <= 1e-10 * largest, f"{where}: {name} is {b} and not {a}"

    everyone = range(len(lengths))
    wanted = run(everyone, "--reference", "--stop-after", "differentiate")
    assert any(v != 0 for name, tensor in wanted.items() for v in tensor.values), "all is zero"
    for options in ["--reference"], ["--dtype", "f64"], ["--dtype", "f64", "--cpu", "x86-64-v3"]:
        compare(run(everyone, *options), wanted, " ".join(options))
    for e in everyone:
        compare(run([e], "--dtype", "f64"), run([e], "--reference", "--stop-after", "differentiate"), f"{e} alone")
    print(f"{len(wanted)} results agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
