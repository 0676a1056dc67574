"""What is decoded has the bits of what is scored and trained on.

    same_bits.py MODELS_DIRECTORY WORK_DIRECTORY MODEL[:EQUATION].. [quick | oracle]
    same_bits.py MODELS_DIRECTORY rest TEST

Draws and searches; log p of each hypothesis that has ended is that of `fovea score` on what it
generated, to the last digit. An EQUATION, its steps one after the other, has the bits that `fovea
run` gives it for all steps at once. In f32 and f64, with vectors of two lengths, alone and in a
batch, on one thread and two. With `quick` in f32 on this CPU only. Sizes are those of
test/models/wide.py.

With `oracle`, what compiled code decodes in f32 has the bits of what the interpreter decodes, with a
given beginning as well. `rest` prints why models that TEST does not name are not compared.
"""

import json
import math
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "models"), os.path.join(HERE, "..", "golden")]
import tiny  # noqa: E402
import wide  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

tiny.MODELS["marian"] = ({"L": 2, "D": 4, "K": 2, "F": 3, "joint.vocab": 7}, tiny.MODELS["transformer"][1])
# Specs of test/decode/Inputs.
for name in ("convolution", "score_matrix", "named_condition", "top_places", "blocks"):
    tiny.MODELS[name] = ({"word.vocab": 9}, {"word": ("sentence 9", "T")})
tiny.MODELS["prefix"] = ({"v.vocab": 9}, {"given": ("token 9", "M"), "word": ("sentence 9", "T")})
BITS = tuple(f"b{number}" for number in range(10))
tiny.MODELS["several"] = ({"word.vocab": 9}, {"word": ("sentence 9", "T"), **{name: ("bit", "T") for name in BITS}})
GENERATED = (*BITS, "tgt", "word", "out", "output", "found", "label", "answer", "stroke", "lift")
# Training takes one log at the end, and decoding one in each step.
CLOSE = {"hmm_align": {"f32": 1e-6, "f64": 1e-14}}
# What decoding sets is set in training as well.
SETS = {"speech": ["--set", "sharp=2"]}
REASONS = {
    "bert": "it generates nothing",
    "caption_hard": "training draws places, and decoding takes their mean",
    "draw": "training draws latents from the guide, and decoding from the prior",
    "graves": "densities of real numbers are computed by the search",
    "hred": "decoding continues a dialogue, of which training scores each turn",
    "memory_hard": "training observes the supports, and decoding chooses them",
    "memory_latent": "training sums over the facts, and decoding takes their mean",
    "ram": "training draws places, and decoding takes the most probable ones",
    "scheduled_sampling": "training reads guesses in the place of some symbols",
}
REAL = ("graves",)  # choices of real numbers: no beam
WAYS = [["--beam", "1"], ["--sample", "--seed", "3", "--nbest", "6"], ["--beam", "4", "--nbest", "4"]]


def fovea(*arguments):
    done = subprocess.run(["fovea", *arguments], capture_output=True, text=True)
    assert done.returncode == 0, f"fovea {' '.join(arguments)}: {done.returncode}\n{done.stderr}"
    return done.stdout


def selected(tensors, rows):
    """The examples `rows` of a batch."""
    result = {}
    for name, tensor in tensors.items():
        size = math.prod(tensor.shape[1:])
        values = [x for row in rows for x in tensor.values[row * size:(row + 1) * size]]
        result[name] = Tensor(tensor.dtype, [len(rows), *tensor.shape[1:]], values)
    return result


def is_of(name, names):
    return name.split(".")[0] in names


def with_generated(data, tensors, generated, rows, chosen):
    """The batch of the examples `rows` with what was chosen for each of them."""
    result = selected({n: t for n, t in tensors.items() if not is_of(n, generated)}, rows)
    for name in generated:
        kind, *axes = data[name]
        values = [choice[name] for choice in chosen]
        width = math.prod(axes[1:])
        lengths = [len(v) // width for v in values]
        shape = [max(lengths), *axes[1:]] if axes else []
        flat = [x for v in values for x in [*v, *[0] * (math.prod(shape) - len(v))]]
        result[name] = Tensor("F64" if kind == "real" else "I64", [len(rows), *shape], flat)
        if axes:
            result[name + ".length"] = Tensor("I64", [len(rows)], lengths)
    return result


class Model:
    def __init__(self, models, work, name):
        self.name, self.data = name, tiny.MODELS[name][1]
        self.sets = wide.options(name) + SETS.get(name, [])
        self.spec = os.path.join(models, name + ".fov")
        self.files = {kind: os.path.join(work, f"{name}.{kind}.safetensors") for kind in ("w", "b", "p", "d", "r")}
        draw, parameters = random.Random(1), {}
        for line in fovea("params", self.spec, *self.sets).splitlines():
            path, _, extents = line.split("\t")
            shape = [int(x) for x in extents.strip("[]").split(",") if x.strip()]
            scale = 2 / math.sqrt(max(shape[-1:] + [4]))
            parameters[path] = Tensor("F64", shape, [draw.uniform(-scale, scale) for _ in range(math.prod(shape))])
        write(self.files["w"], parameters)
        with open(self.spec) as file:
            classes = re.search(r"class\((.*?)\)", file.read())
        self.classes = re.findall(r"\w+", classes[1]) if classes else []
        self.generated = [n for n in self.data if n in GENERATED]
        self.tensors = tiny.batch(self.data, 2, 0)
        self.given = {n: t for n, t in self.tensors.items() if not is_of(n, self.generated)}
        write(self.files["b"], self.given)

    def number(self, text):
        """A symbol, or the number of a class by its name."""
        return int(text) if text.isdigit() else self.classes.index(text)

    def ends(self, name):
        """Whether a symbol, or the place past the last, ends what is generated."""
        return self.data[name][0].split()[0] in ("sentence", "place")

    def decode(self, *how):
        return fovea("decode", self.spec, *self.sets, "--weights", self.files["w"],
                     *(["--data", self.files["b"]] if self.given else []), "--json", "--max-length", "12", *how)

    def hypotheses(self, how, way, show):
        """For each of a decoding: its example, what it generated, and the rest."""
        out = self.decode(*how, *way, "--threads", "2", *show)
        for row, line in enumerate(out.splitlines()):
            for one in json.loads(line)["hypotheses"]:
                chosen = {name: [self.number(x) for x in one["outputs"][name].replace(",", " ").split()]
                          for name in self.generated}
                for name in filter(self.ends, self.generated) if one["ended"] else ():
                    kind, *argument = self.data[name][0].split()
                    chosen[name].append(1 if kind == "sentence" else tiny.LENGTHS[argument[0]][row])
                yield row, chosen, one

    def write_pairs(self, pairs):
        rows, chosen = [row for row, *_ in pairs], [chosen for _, chosen, *_ in pairs]
        write(self.files["p"], with_generated(self.data, self.tensors, self.generated, rows, chosen))


def main(models, work, *names):
    if work == "rest":
        return rest(models, names[0])
    os.makedirs(work, exist_ok=True)
    for entry in names:
        if entry not in ("quick", "oracle"):
            name, *equation = entry.split(":")
            model = Model(models, work, name)
            check_oracle(model) if "oracle" in names else check(model, "quick" in names, *equation)


def check(model, quick, equation=None):
    count = equal = 0
    for dtype in ("f32",) if quick else ("f32", "f64"):
        for how in [[]] if quick else [[], ["--cpu", "x86-64-v3"]]:
            how = ["--dtype", dtype, *how]
            for way in WAYS:
                shows = equation and way == ["--beam", "1"]
                made = list(model.hypotheses(how, way, ["--show", f"{equation}={model.files['d']}"] if shows else []))
                if shows:
                    model.write_pairs(made)
                    fovea("run", model.spec, *model.sets, "--weights", model.files["w"], *how, "--data", model.files["p"], "--get", equation, "-o",
                          model.files["r"])
                    (name,) = model.generated
                    compare(model.name, equation, read(model.files["d"]), read(model.files["r"]),
                            [len(chosen[name]) for _, chosen, _ in made])
                ended = [one for one in made if one[2]["ended"]]
                for batch in [ended] if quick else [ended, ended[:1]]:
                    if not batch:
                        continue
                    model.write_pairs(batch)
                    scores = fovea("score", model.spec, *model.sets, "--weights", model.files["w"], *how, "--data",
                                   model.files["p"], "--json", "--threads", "1")
                    for line, (_, chosen, one) in zip(scores.splitlines(), batch, strict=True):
                        count += 1
                        logp = json.loads(line)["logp"]
                        close = CLOSE.get(model.name, {}).get(dtype, 0) * abs(logp)
                        assert abs(logp - one["logp"]) <= close, (
                            f"{model.name} {' '.join(how[2:] + way)}: {chosen} has log p {one['logp']!r}, but is "
                            f"scored {logp!r}")
                        equal += 1
    assert count, f"{model.name}: nothing has ended"
    print(f"{model.name}: {equal} of {count} log p are {'close' if model.name in CLOSE else 'equal'}")


def check_oracle(model):
    ways = list(WAYS if model.name not in REAL else WAYS[:2])
    for name in model.generated:
        if model.data[name][0].startswith("sentence"):
            begins = model.files["p"].replace(".safetensors", ".txt")
            with open(begins, "w") as file:
                file.write("3 2\n2\n" if model.given else "3 2\n")
            ways += [[*way, "--prefix", f"{name}={begins}"] for way in WAYS]
    hypotheses = 0
    for way in ways:
        compiled, interpreted = (model.decode(*way, "--dtype", "f32", *how) for how in ([], ["--reference"]))
        assert compiled == interpreted, f"{model.name} {' '.join(way)}:\n{compiled}interpreted:\n{interpreted}"
        hypotheses += sum(len(json.loads(line)["hypotheses"]) for line in compiled.splitlines())
    print(f"{model.name}: {hypotheses} hypotheses have the bits of the interpreter")


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


def rest(models, test):
    with open(test) as file:
        compared = set(re.findall(r"\w+", " ".join(line for line in file if line.startswith("RUN: %{bits}"))))
    for file in sorted(os.listdir(models)):
        name = file.removesuffix(".fov")
        if not file.endswith(".fov") or name in compared:
            assert name not in REASONS, f"{name} is compared, and there is a reason not to"
            continue
        assert name in REASONS, f"{name} is not compared, and there is no reason"
        print(f"{name}: {REASONS[name]}")


if __name__ == "__main__":
    main(*sys.argv[1:])
