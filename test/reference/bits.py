"""Compares the bits of compiled code with those of the reference interpreter in f32.

    bits.py WORK_DIRECTORY PHASE[,PHASE..] WHAT[,WHAT..] [HOW.. --] [MODEL..]

WHAT is what `fovea run --get` takes; HOW are options of it, for both. The models are all that have an objective, or the named ones,
with the sizes of test/models/wide.py. A MODEL may also be the file of a spec whose data are
`x[S] : real(37)`.
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
from wide import options  # noqa: E402

tiny.MODELS.update(tiny.PUBLISHED)
WITHOUT_OBJECTIVE = ("bert",)


def every():
    """All models of models/ that have an objective."""
    files = {file.removesuffix(".fov") for file in os.listdir(os.path.join(HERE, "..", "..", "models")) if file.endswith(".fov")}
    named = set(tiny.TRAINED) | set(tiny.BUILT) | set(tiny.PUBLISHED)
    assert files == named, f"{sorted(files ^ named)} are not both in models/ and in test/models/tiny.py"
    return sorted(files - set(WITHOUT_OBJECTIVE))


def end(differing, count):
    """Says how many comparisons found the same bits, and exits."""
    print(f"{count - differing} of {count} have the same bits")
    sys.exit(1 if differing else 0)


def vectors(lengths=(50, 1, 18), width=37):
    """A batch of sequences of vectors, with NaN after them."""
    draw = random.Random(0)
    values = [draw.uniform(-1, 1) if place < length else float("nan")
              for length in lengths for place in range(max(lengths)) for _ in range(width)]
    return {"x": Tensor("F64", [len(lengths), max(lengths), width], values),
            "x.length": Tensor("I64", [len(lengths)], list(lengths))}


def prepared(model, work):
    """The name of a model, the arguments of `fovea` for it with weights and data, and a file for results."""
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
    return model, [spec, *sets, "--weights", weights, "--data", inputs, "--seed", "7", "--quiet", "-o", out], out


def main(work, phases, gets, *models):
    differing = 0
    options = models[:models.index("--")] if "--" in models else ()
    models = models[len(options) + bool(options):] or every()
    for model in models:
        model, arguments, out = prepared(model, work)

        def results(*how):
            subprocess.run(["fovea", "run", *arguments, *options, "--dtype", "f32", "--get", *gets.split(","), *how], check=True)
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
    end(differing, len(models) * len(phases.split(",")))


def count(a, b):
    """How many numbers differ in their bits; a NaN would hide differences."""
    assert a.shape == b.shape and all(x == x for x in a.values)
    return sum(x != y for x, y in zip(a.values, b.values))


if __name__ == "__main__":
    main(*sys.argv[1:])
