"""Drives every command over weights and batches that are wrong.

    hostile.py SPEC WORK_DIRECTORY

Each case has to end with the exit code 1, say what it says in lines that begin
with `error: ` and nothing else, as often as there are mistakes (and one hint),
and leave no output behind.
"""

import json
import math
import os
import struct
import subprocess
import sys

SETS = ["--set", "story.vocab=5", "--set", "y.vocab=4"]
CODES = {"F64": "d", "F32": "f", "I64": "q", "U64": "Q", "U8": "B"}


class File:
    """A safetensors file whose header may say anything."""

    def __init__(self, tensors):
        self.tensors = {name: [dtype, list(shape), list(values)] for name, (dtype, shape, values) in tensors.items()}
        self.header, self.cut = {}, None

    def bytes(self):
        header, body = {}, b""
        for name, (dtype, shape, values) in self.tensors.items():
            packed = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
            header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(body), len(body) + len(packed)]}
            body += packed
        for name, entries in self.header.items():
            header[name] |= entries
        text = json.dumps(header).encode()
        whole = struct.pack("<Q", len(text)) + text + body
        return whole if self.cut is None else whole[:self.cut(len(text), len(whole))]


def weights():
    def filled(*shape):
        return "F32", shape, [0.1] * math.prod(shape)
    return File({"embed.weight": filled(5, 2), "mix.weight": filled(2, 2), "mix.bias": filled(2),
                 "out.weight": filled(4, 2), "out.bias": filled(4)})


def batch():
    return File({
        "story": ("I64", [2, 2, 3], [1, 2, 3, 4, 0, 9, 0, 0, 0, 9, 9, 9]),
        "story.length": ("I64", [2], [2, 1]),
        "story.length.2": ("I64", [2, 2], [3, 2, 3, 9]),
        "x": ("F64", [2, 2, 2], [0.5, -0.5, 1, 2, 3, 4, math.nan, 9]),
        "x.length": ("I64", [2], [2, 1]),
        "y": ("I64", [2, 2], [2, 1, 1, 9]),
        "y.length": ("I64", [2], [2, 1]),
    })


def changed(make, change):
    file = make()
    change(file)
    return file


def put(name, dtype=None, shape=None, values=None):
    """Replaces what is given of a tensor, or adds one."""
    def change(file):
        old = file.tensors.get(name, ["F32", [1], [0]])
        file.tensors[name] = [dtype or old[0], old[1] if shape is None else shape, old[2] if values is None else values]
    return change


def at(name, index, value):
    def change(file):
        file.tensors[name][2][index] = value
    return change


def drop(*names):
    def change(file):
        for name in names:
            del file.tensors[name]
    return change


def claim(name, **entries):
    def change(file):
        file.header[name] = entries
    return change


def cut(where):
    def change(file):
        file.cut = where
    return change


def both(*changes):
    def change(file):
        for each in changes:
            each(file)
    return change


# What any safetensors file may have: a change, and what the error says.
FILES = {
    "nothing at all": (cut(lambda header, whole: 0), "the file has 0"),
    "half a length": (cut(lambda header, whole: 5), "the file has 5"),
    "no header": (cut(lambda header, whole: 8), "bytes, but only 0 follow"),
    "half a header": (cut(lambda header, whole: 8 + header // 2), "follow; help: use another copy"),
    "no body": (cut(lambda header, whole: 8 + header), "but the file has 0"),
    "half a body": (cut(lambda header, whole: (8 + header + whole) // 2), "but the file has"),
    "a byte too few": (cut(lambda header, whole: whole - 1), "but the file has"),
}
HINT = "note: weights do not store the '--set' options of their training; help: repeat them"
WEIGHTS = {
    "everything else": (both(put("mix.weight", shape=[4]), put("mix.bais"), drop("mix.bias"),
                             put("out.bias", "I64", values=[1, 2, 3, 4]), put("more")),
                        ["'mix.weight' has extents [4] but the model needs [2, 2]", "'mix.bias' is missing",
                         "'out.bias' is I64 but parameters are F32 or F64",
                         "'mix.bais' is not a parameter of the model; did you mean 'mix.bias'?",
                         "'more' is not a parameter of the model"]),
    "none of them": (drop("embed.weight", "mix.weight", "mix.bias", "out.weight", "out.bias"),
                     [f"'{name}' is missing" for name in weights().tensors]),
    "not a number": (at("mix.weight", 2, math.nan), "'mix.weight' has the value nan at [1, 0]"),
    "infinite": (both(at("mix.bias", 1, math.inf), at("out.bias", 0, math.inf)),
                 ["'mix.bias' has the value inf at [1]", "'out.bias' has the value inf at [0]"]),
    "shared bytes": (claim("mix.bias", data_offsets=[0, 8]), "overlap"),
    "bytes beyond the end": (claim("out.bias", data_offsets=[100, 116]),
                             "'out.bias' occupies bytes 100 to 116, but the file has 112"),
    "bytes of nobody": (claim("out.bias", shape=[2], data_offsets=[104, 112]), "no tensor has the bytes 96 to 104"),
    "2^63 places": (claim("out.bias", shape=[2**63]), "'out.bias' has extents [9223372036854775808]"),
    "2^64 places": (claim("out.bias", shape=[2**64]), "a fraction or a number beyond 2^64"),
    "a product beyond 2^64": (claim("out.bias", shape=[2**33, 2**33]), "more than the file has bytes"),
    "nothing by much": (put("out.bias", shape=[0, 2**62, 2**62], values=[]), "'out.bias' has extents [0, 46116"),
    "an end before its begin": (claim("out.bias", data_offsets=[8, 0]), "'out.bias' occupies bytes 8 to 0"),
    "a place below nothing": (claim("out.bias", data_offsets=[-8, 8]), "'out.bias' has a negative number"),
    "an unknown type": (claim("out.bias", dtype="F8_E5M2"), "'out.bias' has the unknown dtype 'F8_E5M2'"),
}
BATCHES = {
    "no data": (drop("x", "x.length"), "no tensor 'x'"),
    "no length": (drop("x.length"), "no tensor 'x.length', the length S of each example"),
    "no nested length": (drop("story.length.2"), "no tensor 'story.length.2', the length W"),
    "a length of nothing": (put("z.length", "I64", [2], [1, 1]), "'z.length' is a length, but there is no data 'z'"),
    "too few axes": (put("x", shape=[2, 4]), "'x' has 3 axes including the batch, but the input has [2, 4]"),
    "other examples": (put("y", shape=[1, 4]), "'story' has 2 examples but 'y' has 1"),
    "another extent": (put("x", shape=[2, 2, 1], values=[1, 2, 3, 4]), "'x' has extent 2 at axis 2 but the input has [2, 2, 1]"),
    "whole numbers": (put("x", "I64", values=[0] * 8), "'x' is I64 but must be F64 or F32"),
    "real numbers": (put("y", "F64"), "'y' is F64 but must be I64"),
    "a real length": (put("x.length", "F64", values=[1.0, 1.0]), "'x.length' is F64 [2] but must be I64 [2]"),
    "a long list of lengths": (put("x.length", shape=[3], values=[1, 1, 1]), "'x.length' is I64 [3] but must be I64 [2]"),
    "a negative length": (at("x.length", 1, -1), "'x.length' of example 1 is -1, outside 0..2"),
    "the least length": (at("x.length", 1, -(2**63)), "'x.length' of example 1 is -9223372036854775808, outside 0..2"),
    "a length beyond the padding": (at("x.length", 0, 3), "'x.length' of example 0 is 3, outside 0..2"),
    "the largest length": (put("x.length", "U64", values=[1, 2**64 - 1]), "'x.length' of example 1 is 18446744073709551616"),
    "no places": (at("x.length", 0, 0), "example 0 has no 'x': its length S is 0"),
    "a nested length beyond the padding": (at("story.length.2", 1, 4), "'story.length.2' of example 0 is 4, outside 0..3"),
    "a negative nested length": (at("story.length.2", 2, -1), "'story.length.2' of example 1 is -1, outside 0..3"),
    "an id beyond the vocabulary": (at("y", 0, 4), "'y' of example 0 has the value 4, outside 0..3"),
    "an id far beyond": (at("story", 6, 2**63 - 1), "'story' of example 1 has the value 9223372036854775808, outside 0..4"),
    "a negative id": (at("story", 1, -1), "'story' of example 0 has the value -1, outside 0..4"),
    "not a number": (at("x", 1, math.nan), "'x' of example 0 has the value nan"),
    "infinite": (at("x", 4, math.inf), "'x' of example 1 has the value inf"),
    "names of examples": (put("example", "F64", [2], [1, 2]), "'example' is F64 [2] but must be I64 [2]"),
    "large names of examples": (put("example", "U64", [2], [1, 2**63]), "'example' of row 1 is 9223372036854775808"),
    "no examples": (both(*(put(name, shape=[0, *old[1][1:]], values=[]) for name, old in batch().tensors.items())),
                    "the batch has no examples"),
    "no examples by much": (put("x", shape=[0, 2**62, 2**62], values=[]), "'story' has 2 examples but 'x' has 0"),
}


class Driver:
    def __init__(self, spec, work):
        self.spec, self.work, self.wrong, self.cases = spec, work, 0, 0
        os.makedirs(work, exist_ok=True)
        self.weights, self.batch = (os.path.join(work, name) for name in ("w.safetensors", "b.safetensors"))

    def commands(self):
        """By name: what a command is given of weights and data, and what it leaves."""
        given = ["--weights", self.weights, "--data", self.batch]
        out, folder = os.path.join(self.work, "out.safetensors"), os.path.join(self.work, "trained")
        steps = ["--valid", self.batch, "--steps", "1", "--quiet", "--out", folder]
        return {
            "run": (["run", *given, "--get", "loss", "-o", out], [out]),
            "reference": (["run", *given, "--reference", "--get", "loss", "-o", out], [out]),
            "score": (["score", *given], []),
            "decode": (["decode", *given, "--max-length", "2", "--show", f"c={out}"], [out]),
            "train": (["train", *given, *steps],
                      [os.path.join(folder, name) for name in ("model.safetensors", "last/state.safetensors")]),
        }

    def run(self, name):
        arguments, outputs = self.commands()[name]
        for path in outputs:
            if os.path.exists(path):
                os.remove(path)
        command = ["fovea", arguments[0], self.spec, *SETS, *arguments[1:]]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60)
        return done, [path for path in outputs if os.path.exists(path)]

    def check(self, name, what, texts):
        self.cases += 1
        texts = [texts] if isinstance(texts, str) else texts
        done, left = self.run(name)
        lines = done.stderr.splitlines()
        # Of several sizes that do not fit, the first has a hint.
        if any(" has extents [" in text for text in texts) and HINT in lines:
            lines.remove(HINT)
        good = done.returncode == 1 and not left and not done.stdout and len(lines) == len(texts) and all(
            any(line.startswith("error: ") and text in line for line in lines) for text in texts)
        if good:
            return
        self.wrong += 1
        print(f"WRONG {name}, {what}: exit code {done.returncode}, left {left}, printed {done.stdout!r} and")
        print(done.stderr)

    def write(self, weight_file, batch_file):
        for path, file in (self.weights, weight_file), (self.batch, batch_file):
            with open(path, "wb") as stream:
                stream.write(file.bytes())

    def drive(self):
        for name in self.commands():
            self.write(weights(), batch())
            done, _ = self.run(name)
            if done.returncode != 0:
                sys.exit(f"{name} does not even do what is right: {done.stderr}")
            # Every mistake for one command, and a few for the others.
            every = 1 if name == "run" else 4
            for number, (what, (change, texts)) in enumerate((FILES | WEIGHTS).items()):
                if number % every == 0:
                    self.write(changed(weights, change), batch())
                    self.check(name, "weights with " + what, texts)
            for number, (what, (change, texts)) in enumerate((FILES | BATCHES).items()):
                if number % every == 0 and not (name == "decode" and "'y'" in texts):
                    self.write(weights(), changed(batch, change))
                    self.check(name, "a batch with " + what, texts)
        print(f"{self.cases} cases, {self.wrong} wrong")


if __name__ == "__main__":
    Driver(*sys.argv[1:]).drive()
