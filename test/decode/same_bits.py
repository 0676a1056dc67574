"""What is decoded has the bits of what is scored and trained on.

    same_bits.py MODELS_DIRECTORY WORK_DIRECTORY MODEL[:EQUATION].. [quick | oracle | phases] [PRECISION | cache]
    same_bits.py MODELS_DIRECTORY rest TEST [oracle]

Draws and searches; log p of each hypothesis that has ended is that of `fovea score` on what it
generated, to the last digit. An EQUATION, its steps one after the other, has the bits that `fovea
run` gives it for all steps at once. If none is named, these are the logits, where there are any. In
f32 and f64, with vectors of two lengths, alone and in a batch, on one thread and two. With `quick`
in f32 on this CPU only. Sizes are those of test/models/wide.py.

Where training and decoding treat a latent choice in different ways, the spec gets one way for both
(`ALIKE`). What decoding adds to a dialogue is the difference of two scores.

With `oracle`, what compiled code decodes in f32 has the bits of what the interpreter decodes, with a
given beginning as well; specs are as they are. With `phases` the interpreter does so after each
phase of the compiler, for a few steps. PRECISION is one of `PRECISIONS`; `cache` is `--cache bf16`. `rest` prints why models
that TEST does not name are not compared.
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

tiny.MODELS.update(tiny.PUBLISHED)
# Specs of test/decode/Inputs.
for name in ("convolution", "score_matrix", "named_condition", "top_places", "blocks", "masks", "chunks", "best_blocks",
             "chosen"):
    tiny.MODELS[name] = ({"word.vocab": 9}, {"word": ("sentence 9", "T")})
tiny.MODELS["prefix"] = ({"v.vocab": 9}, {"given": ("token 9", "M"), "word": ("sentence 9", "T")})
BITS = tuple(f"b{number}" for number in range(10))
tiny.MODELS["several"] = ({"word.vocab": 9}, {"word": ("sentence 9", "T"), **{name: ("bit", "T") for name in BITS}})
PRECISIONS = ("int8", "bf16", "int4", "f16", "e4m3", "bf16:avx512")
GENERATED = (*BITS, "tgt", "word", "out", "output", "found", "support", "label", "answer", "stroke", "lift", "phone")
# What decoding sets is set in training as well; given symbols are certain.
SETS = {"speech": ["--set", "sharp=2"], "graves": ["--set", "bias=0.5"], "scheduled_sampling": ["--set", "k=1e30"]}
# One treatment of latent choices in training and decoding: the mean, the most probable place, or
# a choice that decoding generates as well.
ALIKE = {
    "caption_hard": [(r"train \{.*?\n\}", "train { place ~ expected }")],
    "memory_hard": [("support ~ mode, ", "")],
    "memory_latent": [("fact ~ enumerate", "fact ~ expected")],
    "ram": [(r"uniform\(-1, 1, size = 2\)", "normal(zeros(2), 0)"), ("std = 0.1", "std = 0"),
            ("samples = 10", "samples = 1")],
}
# What is chosen by logits, at each place or once.
CHOICE = re.compile(r"^(\w+)((?:\[t\])?)( *)~ categorical\((?!probs)(.*)\)( *#.*)?$", re.MULTILINE)
WITHOUT_LOGITS = ("hmm_align", "memory_hard")  # a sum over places, and two choices
NOTHING = "it generates nothing"
REASONS = {
    "bert": NOTHING,
    "ctc": "it has no likelihood",
    "flow_matching": "it has no likelihood",
    "moco": NOTHING,
    "draw": "training draws latents from the guide, and decoding from the prior",
    "vq_vae": "training takes codes from the guide, and decoding from the prior",
    "sketch_rnn": "training draws latents from the guide, and decoding from the prior",
}
# What a model generates, if other models are given data of that name.
OWN = {"draw": ("image",), "vq_vae": ("image",), "flow_matching": ("image",), "sketch_rnn": ("stroke", "pen")}
REAL = ("graves", "sketch_rnn", "flow_matching")  # choices of real numbers: no beam
PHASES = ("derive", "differentiate", "schedule", "batch", "fuse", "kernels", "memory")
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


def alike(models, work, name):
    """A copy of the spec with one treatment of latent choices, where the logits have a name. Also returns whether
    there are logits."""
    with open(os.path.join(models, name + ".fov")) as file:
        text = file.read()
    uses = re.findall(r"^use (\w+ *= *)?(\w+)", text, re.MULTILINE)
    hasLogits = any([alike(models, work, used)[1] and not scope for scope, used in uses])
    for old, new in ALIKE.get(name, ()):
        text, count = re.subn(old, new, text, flags=re.DOTALL)
        assert count == 1, f"{name}: {old} occurs {count} times"
    if not re.search(r"^logits\b", text, re.MULTILINE) and name not in WITHOUT_LOGITS:
        text = CHOICE.sub(r"logits\2 = \4\n\1\2\3~ categorical(logits\2)", text)
    path = os.path.join(work, name + ".fov")
    with open(path, "w") as file:
        file.write(text)
    return path, hasLogits or re.search(r"^logits\b", text, re.MULTILINE) is not None


class Model:
    def __init__(self, models, work, name, precision=(), isAlike=True):
        self.precision, self.longest = precision, 12
        self.name, self.data = name, tiny.MODELS[name][1]
        self.sets = wide.options(name) + SETS.get(name, [])
        self.spec, hasLogits = alike(models, work, name) if isAlike else (os.path.join(models, name + ".fov"), False)
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
        self.generated = [n for n in self.data if n in OWN.get(name, GENERATED)]
        self.tensors = tiny.batch(self.data, 2, 0)
        self.logits = ["logits"] if hasLogits and len(self.generated) == 1 else []
        self.given = {n: t for n, t in self.tensors.items() if not is_of(n, self.generated)}
        write(self.files["b"], self.given)

    def number(self, text):
        """A symbol, the number of a class by its name, or a real number."""
        return int(text) if text.isdigit() else self.classes.index(text) if text in self.classes else float(text)

    def ends(self, name):
        """Whether a symbol, or the place past the last, ends what is generated."""
        return self.data[name][0].split()[0] in ("sentence", "place")

    def decode(self, *how):
        return fovea("decode", self.spec, *self.sets, *self.precision, "--weights", self.files["w"],
                     *(["--data", self.files["b"]] if self.given else []), "--json", "--max-length", str(self.longest), *how)

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

    def forced(self, ways):
        """The same with a given beginning of each sentence. CTC has one answer for an input."""
        names = [name for name in self.generated if self.data[name][0].startswith("sentence") and self.name != "ctc"]
        begins = self.files["p"].replace(".safetensors", ".txt")
        with open(begins, "w") as file:
            file.write("3 2\n2\n" if self.given else "3 2\n")
        return [[*way, "--prefix", f"{name}={begins}"] for name in names for way in ways]

    def write_pairs(self, pairs):
        rows, chosen = [row for row, *_ in pairs], [chosen for _, chosen, *_ in pairs]
        write(self.files["p"], with_generated(self.data, self.tensors, self.generated, rows, chosen))


def main(models, work, *names):
    if work == "rest":
        return rest(models, *names)
    os.makedirs(work, exist_ok=True)
    for entry in names:
        if entry not in ("quick", "oracle", "phases", "cache", *PRECISIONS):
            name, *equation = entry.split(":")
            precision = [word for name in names if name in PRECISIONS for word in ("--precision", name)]
            precision += ["--cache", "bf16"] if "cache" in names else []
            model = Model(models, work, name, precision, not {"oracle", "phases"} & set(names))
            if "oracle" in names:
                check_oracle(model)
            elif "phases" in names:
                check_phases(model)
            elif model.generated:
                check(model, "quick" in names, *(equation or model.logits))
            else:
                check_turns(model, "said")


def check(model, quick, equation=None):
    count = equal = 0
    for dtype in ("f32",) if quick or {"bf16", "bf16:avx512"} & set(model.precision) else ("f32", "f64"):
        for how in [[]] if quick else [[], ["--cpu", "x86-64-v3"]]:
            how = ["--dtype", dtype, *how]
            for way in [*(WAYS if model.name not in REAL else WAYS[:2]), *model.forced(WAYS[:1])]:
                shows = equation and way == ["--beam", "1"]
                made = list(model.hypotheses(how, way, ["--show", f"{equation}={model.files['d']}"] if shows else []))
                if shows:
                    model.write_pairs(made)
                    fovea("run", model.spec, *model.sets, *model.precision, "--weights", model.files["w"], *how, "--data", model.files["p"], "--get", equation, "-o",
                          model.files["r"])
                    (name,) = model.generated
                    compare(model.name, equation, read(model.files["d"]), read(model.files["r"]),
                            [len(chosen[name]) for _, chosen, _ in made] if model.data[name][1:] else None)
                # The log p of what is cut has no end symbol.
                ended = [one for one in made if one[2]["ended"] or not any(map(model.ends, model.generated))]
                for batch in [ended] if quick else [ended, ended[:1]]:
                    if not batch:
                        continue
                    model.write_pairs(batch)
                    scores = fovea("score", model.spec, *model.sets, *model.precision, "--weights", model.files["w"], *how, "--data",
                                   model.files["p"], "--json", "--threads", "1")
                    for line, (_, chosen, one) in zip(scores.splitlines(), batch, strict=True):
                        count += 1
                        logp = json.loads(line)["logp"]
                        assert logp == one["logp"], (
                            f"{model.name} {' '.join(how[2:] + way)}: {chosen} has log p {one['logp']!r}, but is "
                            f"scored {logp!r}")
                        equal += 1
    assert count, f"{model.name}: nothing has ended"
    print(f"{model.name}: {equal} of {count} log p are equal")


def check_turns(model, name):
    """log p of a further turn is what it adds to that of the dialogue, compiled and interpreted."""
    def turns_of(row):
        lengths, turns = model.tensors[name + ".length.2"], model.tensors[name]
        _, most, width = turns.shape
        starts = [(row * most + turn) * width for turn in range(model.tensors[name + ".length"].values[row])]
        return [turns.values[start:start + lengths.values[start // width]] for start in starts]

    def score(dialogues, how):
        most, width = max(map(len, dialogues)), max(len(turn) for turns in dialogues for turn in turns)
        padded = [turns + [[]] * (most - len(turns)) for turns in dialogues]
        flat = [x for turns in padded for turn in turns for x in [*turn, *[0] * (width - len(turn))]]
        write(model.files["p"], {
            name: Tensor("I64", [len(padded), most, width], flat),
            name + ".length": Tensor("I64", [len(padded)], [len(turns) for turns in dialogues]),
            name + ".length.2": Tensor("I64", [len(padded), most], [len(turn) for turns in padded for turn in turns])})
        lines = fovea("score", model.spec, *model.sets, "--weights", model.files["w"], *how, "--data", model.files["p"],
                      "--json")
        return [json.loads(line)["logp"] for line in lines.splitlines()]

    count = 0
    for dtype in ("f32", "f64"):
        for way in WAYS:
            how, given, longer, found = ["--dtype", dtype], [], [], []
            lines = model.decode(*how, *way)
            assert dtype == "f64" or lines == model.decode(*how, *way, "--reference"), (model.name, way)
            for row, line in enumerate(lines.splitlines()):
                for one in json.loads(line)["hypotheses"]:
                    turn = [int(x) for x in one["outputs"][name].split()] + [1] * one["ended"]
                    given.append(turns_of(row))
                    longer.append(turns_of(row) + [turn])
                    found.append(one["logp"])
            for turns, before, after, logp in zip(given, score(given, how), score(longer, how), found, strict=True):
                count += 1
                # In f64, the sum of several turns is rounded itself.
                exact = before + logp if dtype == "f32" or len(turns) < 2 else after
                assert after == exact and abs(after - before - logp) <= 2**-52 * abs(after), (
                    f"{model.name} {' '.join(how + way)}: a turn has log p {logp!r}, but adds {after - before!r}")
    print(f"{model.name}: {count} of {count} log p are equal")


def check_oracle(model):
    ways = [*(WAYS if model.name not in REAL else WAYS[:2]), *model.forced(WAYS)]
    hypotheses = 0
    for way in ways:
        compiled, interpreted = (model.decode(*way, "--dtype", "f32", *how) for how in ([], ["--reference"]))
        assert compiled == interpreted, f"{model.name} {' '.join(way)}:\n{compiled}interpreted:\n{interpreted}"
        hypotheses += sum(len(json.loads(line)["hypotheses"]) for line in compiled.splitlines())
    print(f"{model.name}: {hypotheses} hypotheses have the bits of the interpreter")


def check_phases(model):
    """The beam of a few steps and draws, after each phase."""
    count, model.longest = 0, 3
    for way in [*(WAYS[1:] if model.name not in REAL else WAYS[1:2]), *model.forced(WAYS[1:2])]:
        how = [*way, "--dtype", "f32"]
        compiled = model.decode(*how)
        for phase in PHASES:
            interpreted = model.decode(*how, "--reference", "--stop-after", phase)
            assert compiled == interpreted, f"{model.name} {' '.join(way)}:\n{compiled}after '{phase}':\n{interpreted}"
            count += 1
    print(f"{model.name}: the interpreter gives the bits of code in {count} runs of phases")


def compare(model, equation, steps, whole, lengths):
    """The first axis after the batch that has other extents is that of steps, if there are any."""
    a, b = steps[equation], whole[equation]
    assert a.shape[0] == b.shape[0] and a.shape[2:] == b.shape[2:], (model, equation, a.shape, b.shape)
    width = math.prod(a.shape[2:])
    differ = total = 0
    for example, length in enumerate(lengths or [a.shape[1]] * a.shape[0]):
        for step in range(min(length, a.shape[1], b.shape[1])):
            at, bt = ((example * x.shape[1] + step) * width for x in (a, b))
            total += width
            differ += sum(x != y for x, y in zip(a.values[at:at + width], b.values[bt:bt + width]))
    assert not differ, f"{model}: {differ} of {total} elements of {equation} have other bits"
    print(f"{model}: {total} elements of {equation} are equal")


def rest(models, test, oracle=None):
    with open(test) as file:
        compared = set(re.findall(r"\w+", " ".join(line for line in file if line.startswith("RUN: %{bits}"))))
    for file in sorted(os.listdir(models)):
        name = file.removesuffix(".fov")
        reason = REASONS.get(name)
        if oracle and reason != NOTHING:
            reason = None  # the interpreter generates whatever code does
        if not file.endswith(".fov") or name in compared:
            assert not reason, f"{name} is compared, and there is a reason not to"
            continue
        assert reason, f"{name} is not compared, and there is no reason"
        print(f"{name}: {reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
