"""What is decoded has the bits of what is scored and trained on.

    same_bits.py MODELS_DIRECTORY WORK_DIRECTORY MODEL[:EQUATION].. [quick]

Draws and searches words; log p of each that has ended is that of `fovea score`
on the same words, to the last digit. An EQUATION, its steps one after the
other, has the bits that `fovea run` gives it for all steps at once. In f32 and
f64, with vectors of two lengths, alone and in a batch, on one thread and two.
Where training sums over a latent, log p is close.
With `quick` in f32 on this CPU only.
"""

import json
import math
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "models"), os.path.join(HERE, "..", "golden")]
import tiny  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

# Sizes at which layers, scores and what is read with weights are products.
WIDE = {"E": 24, "H": 24, "A": 24}
OWN = {"transformer": {"D": 40, "K": 4, "F": 24}, "decoder_lm": {"D": 40, "K": 4}, "llama": {"D": 40, "K": 4},
       "experts": {"D": 40, "K": 4}, "deep_fusion": {"nmt.H": 24, "lm.H": 24}}
# Specs of test/decode/Inputs.
for name in ("convolution", "score_matrix", "named_condition", "top_places", "blocks"):
    tiny.MODELS[name] = ({"word.vocab": 9}, {"word": ("sentence 9", "T")})
EXAMPLES = 6
SIZE = 6  # of data with several lengths
# Training takes one log at the end, and decoding one in each step.
CLOSE = {"hmm_align": {"f32": 1e-6, "f64": 1e-14}}
WAYS = [["--sample", "--seed", "3", "--nbest", "4"], ["--beam", "1"], ["--beam", "4", "--nbest", "4"]]


def fovea(*arguments):
    done = subprocess.run(["fovea", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"fovea {' '.join(arguments)}: {done.returncode}\n{done.stderr}"
    return done.stdout


def lengths_of(axes):
    return [axis for axis in axes if not isinstance(axis, int)]


def tensors_of(data, given, chosen):
    """The batch of `given` examples, number by number, with what was chosen."""
    tensors = {}
    for name, (kind, *axes) in data.items():
        rows = [chosen[i] if name in GENERATED else row[name] for i, row in enumerate(given)]
        if name not in GENERATED and (not axes or isinstance(axes[0], int)):
            extents = [a for a in axes]
            tensors[name] = Tensor("F64" if kind == "real" else "I64", [len(rows), *extents], [x for r in rows for x in r])
            continue
        if len(lengths_of(axes)) > 1:  # all examples have one size
            extents = [SIZE if axis in lengths_of(axes) else axis for axis in axes]
            tensors[name] = Tensor("F64", [len(rows), *extents], [x for r in rows for x in r])
            for number in range(len(lengths_of(axes))):
                tensors[name + ".length" + (f".{number + 1}" if number else "")] = Tensor("I64", [len(rows)], [SIZE] * len(rows))
            continue
        width = math.prod(axes[1:])
        longest = max(len(r) // width for r in rows)
        values = [x for r in rows for x in [*r, *[0] * (longest * width - len(r))]]
        tensors[name] = Tensor("F64" if kind == "real" else "I64", [len(rows), longest, *axes[1:]], values)
        tensors[name + ".length"] = Tensor("I64", [len(rows)], [len(r) // width for r in rows])
    return tensors


GENERATED = ("tgt", "word", "out")


def main(models, work, *names):
    quick = "quick" in names
    os.makedirs(work, exist_ok=True)
    for entry in names:
        if entry != "quick":
            check(models, work, quick, *entry.split(":"))


def check(models, work, quick, model, equation=None):
    options, data = tiny.MODELS[model]
    options = {**options, **{k: v for k, v in WIDE.items() if k in options}, **OWN.get(model, {})}
    sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
    spec, weights, inputs, pairs, steps, whole = (
        os.path.join(work, model + end) for end in (".fov", ".w.safetensors", ".b.safetensors", ".p.safetensors",
                                                    ".d.safetensors", ".r.safetensors"))
    spec = os.path.join(models, model + ".fov")
    draw, parameters = random.Random(1), {}
    for line in fovea("params", spec, *sets).splitlines():
        name, _, extents = line.split("\t")
        shape = [int(x) for x in extents.strip("[]").split(",") if x.strip()]
        scale = 2 / math.sqrt(max(shape[-1:] + [4]))
        parameters[name] = Tensor("F64", shape, [draw.uniform(-scale, scale) for _ in range(math.prod(shape))])
    write(weights, parameters)
    given = []
    for _ in range(EXAMPLES):
        row = {}
        for name, (kind, *axes) in data.items():
            if name not in GENERATED:
                size = SIZE if len(lengths_of(axes)) > 1 else draw.randrange(1, 9)
                shape = [a if isinstance(a, int) else size for a in axes]
                row[name] = [tiny.element(kind, draw, 0, 0, 0) for _ in range(math.prod(shape))]
        given.append(row)
    isGiven = any(given[0])
    count = equal = 0
    for dtype in ("f32",) if quick else ("f32", "f64"):
        for how in [[]] if quick else [[], ["--cpu", "x86-64-v3"]]:
            how = ["--weights", weights, "--dtype", dtype, *how]
            for way in WAYS:
                write(inputs, tensors_of({n: d for n, d in data.items() if n not in GENERATED}, given, None))
                show = ["--show", f"{equation}={steps}"] if equation and way == ["--beam", "1"] else []
                out = fovea("decode", spec, *sets, *how, *(["--data", inputs] if isGiven else []), *way, "--json",
                            "--max-length", "12", "--threads", "2", *show)
                hypotheses = []
                for row, line in zip(given, out.splitlines()):
                    for one in json.loads(line)["hypotheses"]:
                        (text,) = [t for n, t in one["outputs"].items() if n in GENERATED]
                        words = [int(x) for x in text.split()] if isinstance(text, str) else text
                        hypotheses.append((row, words, one))
                def whole_of(row, words, one):
                    """The words with their end: a symbol, or the place past the last."""
                    kind = next(kind for name, (kind, *_) in data.items() if name in GENERATED)
                    end = 1 if kind.split()[0] == "sentence" else len(row["point"]) // 2
                    return [*words, end] if one["ended"] else words

                if show:
                    compared = [(row, whole_of(row, words, one)) for row, words, one in hypotheses]
                    write(pairs, tensors_of(data, [r for r, _ in compared], [w for _, w in compared]))
                    fovea("run", spec, *sets, *how, "--data", pairs, "--get", equation, "-o", whole)
                    compare(model, equation, read(steps), read(whole), [len(w) for _, w in compared])
                ended = [(row, whole_of(row, words, one), one) for row, words, one in hypotheses if one["ended"]]
                if not ended:
                    continue
                for batch in [ended] if quick else [ended, ended[:1]]:
                    write(pairs, tensors_of(data, [r for r, _, _ in batch], [w for _, w, _ in batch]))
                    scores = fovea("score", spec, *sets, *how, "--data", pairs, "--json", "--threads", "1")
                    for line, (_, words, one) in zip(scores.splitlines(), batch, strict=True):
                        count += 1
                        logp = json.loads(line)["logp"]
                        close = CLOSE.get(model, {}).get(dtype, 0) * abs(logp)
                        assert abs(logp - one["logp"]) <= close, (
                            f"{model} {' '.join(how[2:] + way)}: {words} has log p {one['logp']!r}, but is scored {logp!r}")
                        equal += 1
    assert count, f"{model}: nothing has ended"
    print(f"{model}: {equal} of {count} log p are {'close' if model in CLOSE else 'equal'}")


def compare(model, equation, steps, whole, lengths):
    """The first axis after the batch that has other extents is that of steps."""
    a, b = steps[equation], whole[equation]
    assert a.shape[0] == b.shape[0] and a.shape[2:] == b.shape[2:], (model, equation, a.shape, b.shape)
    width = math.prod(a.shape[2:])
    differ = total = 0
    for example, length in enumerate(lengths):
        for step in range(min(length, a.shape[1], b.shape[1])):
            at, bt = ((example * x.shape[1] + step) * width for x in (a, b))
            total += width
            differ += sum(x != y for x, y in zip(a.values[at:at + width], b.values[bt:bt + width]))
    assert not differ, f"{model}: {differ} of {total} elements of {equation} have other bits"
    print(f"{model}: {total} elements of {equation} are equal")


if __name__ == "__main__":
    main(*sys.argv[1:])
