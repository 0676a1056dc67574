"""What latents take is the same by the interpreter and by compiled code, in
company and alone, of any number of threads, with vectors of any length, and in
both precisions; another seed, update or example has other numbers.

    draws.py SPEC
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

spec = sys.argv[1]
DRAWN = ("category", "bit", "number", "other")
LENGTHS, IDS = (19, 4, 33), (7, 9, 4)
write("w.safetensors", {"v": Tensor("F64", [2], [0.7, -0.4])})


def run(examples, *how, seed="5"):
    longest = max(LENGTHS[n] for n in examples)
    x = [((3 * n + 5 * i) % 7 - 3) / 4 if i < LENGTHS[n] else 99 for n in examples for i in range(longest)]
    ids = [IDS[n] for n in examples]
    write("b.safetensors", {
        "x": Tensor("F64", [len(examples), longest], x), "y": Tensor("F64", [len(examples), longest], x),
        "x.length": Tensor("I64", [len(examples)], [LENGTHS[n] for n in examples]),
        "y.length": Tensor("I64", [len(examples)], [LENGTHS[n] for n in examples]),
        "example": Tensor("I64", [len(examples)], ids)})
    given = ["--seed", seed] if seed else []
    subprocess.run(["fovea", "run", spec, "--weights", "w.safetensors", "--data", "b.safetensors", *given, *how,
                    "--get", *DRAWN, "-o", "r.safetensors"], check=True)
    results = read("r.safetensors")
    return {n: {name: results[name].values[k * longest:][: LENGTHS[n]] for name in DRAWN}
            for k, n in enumerate(examples)}


base = run((0, 1, 2), "--reference")
for how in (("--dtype", "f64"), ("--dtype", "f64", "--threads", "2"), ("--dtype", "f64", "--cpu", "x86-64-v3"),
            ("--dtype", "f32")):
    for examples in ((0, 1, 2), (2,), (1, 0)):
        got = run(examples, *how)
        for n in examples:
            for name in DRAWN:
                # A uniform number is exact, and so is what is compared with it.
                bound = 0 if name != "number" else 1e-12 if "f64" in how else 1e-5
                for a, b in zip(got[n][name], base[n][name], strict=True):
                    assert abs(a - b) <= bound, (how, n, name, a, b)
for seed in ("6", ""):
    other = run((0, 1, 2), "--dtype", "f64", seed=seed)
    assert all(other[n][name] != base[n][name] for n in (0, 2) for name in DRAWN), seed
assert base[0]["other"][:4] != base[1]["other"]
print("the same numbers:", *(f"{u:.6f}" for u in base[1]["other"]))
