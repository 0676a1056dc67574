"""Compares the bits of compiled code with those of the reference interpreter in f32.

    bits.py WORK_DIRECTORY PHASE[,PHASE..] WHAT[,WHAT..] [MODEL..]

WHAT is what `fovea run --get` takes. The models are those of test/models/tiny.py, or the named
ones, with sizes that no vector divides and lengths above 16. A MODEL may also be the file of a spec
whose data are `x[S] : real(37)`.
"""

import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import tiny  # noqa: E402
from parameters import drawn  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

# Sizes that data do not have as well, and that are no numbers of layers.
GROWING = "EHADGMFW"
FIXED = {"luong_local_p": "D", "luong_local_m": "D", "caption_soft": "D", "caption_hard": "D", "ram": "WG"}

tiny.LENGTHS = {name: tuple(9 * length - 2 for length in lengths) for name, lengths in tiny.LENGTHS.items()}
# `W` is nested in `M` and `B`; pictures have many places as it is.
tiny.LENGTHS.update(M=(3, 1), B=(3, 1), Y=(19, 17), X=(18, 21), F=(2, 3))


def options(model):
    sizes, _ = tiny.MODELS[model]
    fixed = FIXED.get(model, "")
    grown = {k: 11 * v if k in GROWING and k not in fixed else v for k, v in sizes.items()}
    return [word for k, v in grown.items() for word in ("--set", f"{k}={v}")]


def vectors(lengths=(50, 1, 18), width=37):
    """A batch of sequences of vectors, with NaN after them."""
    draw = random.Random(0)
    values = [draw.uniform(-1, 1) if place < length else float("nan")
              for length in lengths for place in range(max(lengths)) for _ in range(width)]
    return {"x": Tensor("F64", [len(lengths), max(lengths), width], values),
            "x.length": Tensor("I64", [len(lengths)], list(lengths))}


def main(work, phases, gets, *models):
    differing = 0
    for model in models or tiny.TRAINED:
        spec, sets, batch = model, [], None
        if model.endswith(".fov"):
            batch, model = vectors(), os.path.basename(model).removesuffix(".fov")
        else:
            spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
            sets, batch = options(model), tiny.batch(tiny.MODELS[model][1], 2, 0)
        folder = os.path.join(work, model)
        os.makedirs(folder, exist_ok=True)
        weights, inputs, out = (os.path.join(folder, f + ".safetensors") for f in ("w", "b", "o"))
        write(weights, drawn(spec, sets, 0.2))
        write(inputs, batch)

        def results(*how):
            subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", inputs, "--dtype", "f32",
                            "--seed", "7", "--quiet", "--get", *gets.split(","), "-o", out, *how], check=True)
            return read(out)

        compiled = results()
        for phase in phases.split(","):
            expected = results("--reference", "--stop-after", phase)
            assert set(compiled) == set(expected)
            numbers = {name: count(compiled[name], expected[name]) for name in sorted(compiled)}
            total = sum(len(tensor.values) for tensor in compiled.values())
            wrong = ", ".join(f"{name} {n}" for name, n in numbers.items() if n)
            differing += bool(wrong)
            print(f"{model} {phase}: {sum(numbers.values())} of {total} numbers differ", wrong, flush=True)
    sys.exit(1 if differing else 0)


def count(a, b):
    """How many numbers differ in their bits; a NaN would hide differences."""
    assert a.shape == b.shape and all(x == x for x in a.values)
    return sum(x != y for x, y in zip(a.values, b.values))


if __name__ == "__main__":
    main(*sys.argv[1:])
