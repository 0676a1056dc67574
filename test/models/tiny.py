"""Runs a model of `models/` once at tiny sizes, on random data.

    tiny.py MODEL SPEC WORK_DIRECTORY

Two examples of different lengths, garbage past the lengths: the loss is a
number, the garbage does not matter, compiled code for two CPUs agrees with the
interpreter, and the gradients of a few entries of every parameter agree with
central differences. The models' sizes and data stand in the table.
"""

import itertools
import math
import os
import random
import subprocess
import sys

from parameters import drawn
from tensors import Tensor, read, write  # `parameters` says where it is

# Lengths of the two examples.
LENGTHS = dict(S=(4, 2), T=(3, 4), P=(3, 3), N=(4, 3), M=(3, 1), Q=(2, 3), U=(3, 2), Y=(5, 4), X=(4, 6), F=(2, 3), B=(3, 1))
SOURCE = {"src": ("token 7", "S"), "tgt": ("sentence 6", "T")}
VOCABULARIES = {"src.vocab": 7, "tgt.vocab": 6}

# Per model: options, and the data: kind and axes. `W` is nested in `M`.
MODELS = {
    "rnnsearch": (dict(E=3, H=4, A=3, M=2, **VOCABULARIES), SOURCE),
    "spelling": (
        {"E": 3, "H": 4, "A": 3, "M": 2, "letters.vocab": 7},
        {"src": ("token 7", "S"), "tgt": ("sentence 7", "T")},
    ),
    "g2p": (
        {"E": 3, "H": 4, "A": 3, "M": 2, "letters.vocab": 7, "phones.vocab": 6},
        SOURCE,
    ),
    "luong": (dict(L=2, E=3, H=4, **VOCABULARIES), SOURCE),
    "luong_dot": (dict(L=2, E=3, H=4, **VOCABULARIES), SOURCE),
    "luong_concat": (dict(L=2, E=3, H=4, **VOCABULARIES), SOURCE),
    # The first source is longer than the scores.
    "luong_location": (dict(L=2, E=3, H=4, N=3, **VOCABULARIES), SOURCE),
    "attention_simple": (dict(E=3, H=4, A=3, **VOCABULARIES), SOURCE),
    "attention_input": (dict(E=3, H=4, A=3, **VOCABULARIES), SOURCE),
    "attention_luong": (dict(E=3, H=4, A=3, M=2, **VOCABULARIES), SOURCE),
    "attention_bahdanau": (dict(E=3, H=4, A=3, **VOCABULARIES), SOURCE),
    "coverage": (dict(E=3, H=4, A=3, M=2, **VOCABULARIES), SOURCE),
    "hmm_align": (dict(E=3, J=2, **VOCABULARIES), SOURCE),
    "sampled_softmax": (dict(E=3, H=4, A=3, M=2, N=4, **VOCABULARIES), SOURCE),
    "scheduled_sampling": (dict(E=3, H=4, **VOCABULARIES), SOURCE),
    "seq2seq": (dict(L=2, E=3, H=4, **VOCABULARIES), SOURCE),
    "seq2seq_start": (dict(L=2, E=3, H=4, **VOCABULARIES), SOURCE),
    "luong_local_p": (dict(L=2, E=3, H=4, D=2, **VOCABULARIES), SOURCE),
    "luong_local_m": (dict(L=2, E=3, H=4, D=2, **VOCABULARIES), SOURCE),
    "transformer": (
        {"L": 2, "D": 4, "K": 2, "F": 3, "joint.vocab": 7},
        {"src": ("token 7", "S"), "tgt": ("sentence 7", "T")},
    ),
    "decoder_lm": ({"L": 2, "D": 4, "K": 2, "N": 3, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "llama": ({"L": 2, "D": 8, "K": 4, "G": 2, "F": 3, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "multi_token": ({"L": 1, "D": 4, "K": 2, "F": 3, "N": 3, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "ttt": ({"L": 2, "D": 4, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "block_sparse": ({"L": 2, "D": 4, "K": 2, "F": 3, "B": 2, "N": 1, "W": 2, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "experts": ({"L": 2, "D": 4, "K": 2, "G": 1, "F": 3, "E": 3, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "rnnlm": ({"L": 2, "E": 3, "H": 4, "word.vocab": 6}, {"word": ("sentence 6", "T")}),
    "caption_soft": (
        {"D": 3, "E": 4, "H": 4, "A": 3, "tgt.vocab": 6},
        {"a": ("real", "P", 3), "tgt": ("sentence 6", "T")},
    ),
    "caption_hard": (
        {"D": 3, "E": 4, "H": 4, "A": 3, "tgt.vocab": 6},
        {"a": ("real", "P", 3), "tgt": ("sentence 6", "T")},
    ),
    "caption_pixels": (
        {"C": 2, "E": 3, "H": 3, "A": 2, "tgt.vocab": 6},
        {"image": ("real", "Y", "X", 3), "tgt": ("sentence 6", "T")},
    ),
    "video": (
        {"C": 2, "D": 3, "E": 3, "H": 3, "A": 2, "tgt.vocab": 6},
        {"clip": ("real", "F", "Y", "X", 1), "tgt": ("sentence 6", "T")},
    ),
    "speech": (
        {"L": 2, "H": 3, "E": 3, "A": 3, "K": 2, "R": 3, "M": 2, "I": 2, "tgt.vocab": 6},
        {"x": ("real", "S", 2), "tgt": ("sentence 6", "T")},
    ),
    "pyramid": (
        {"L": 2, "H": 3, "E": 3, "A": 3, "I": 2, "tgt.vocab": 6},
        {"x": ("real", "S", 2), "tgt": ("sentence 6", "T")},
    ),
    "transducer": (
        {"H": 3, "E": 3, "J": 3, "I": 2, "tgt.vocab": 6},
        {"x": ("real", "S", 2), "tgt": ("sentence 6", "T")},
    ),
    "pointer": (dict(H=4), {"point": ("real", "N", 2), "out": ("place N", "T")}),
    "memory_soft": (
        {"K": 2, "D": 3, "maxfacts": 2, "words.vocab": 7},
        {"story": ("token 7", "M", "W"), "question": ("token 7", "Q"), "answer": ("token 7",)},
    ),
    "memory_start": (
        {"K": 2, "D": 3, "maxfacts": 2, "words.vocab": 7},
        {"story": ("token 7", "M", "W"), "question": ("token 7", "Q"), "answer": ("token 7",)},
    ),
    "memory_latent": (
        {"D": 3, "words.vocab": 7},
        {"story": ("token 7", "M", "W"), "question": ("token 7", "Q"), "answer": ("token 7",)},
    ),
    "match": (
        {"E": 3, "H": 3, "words.vocab": 7},
        {"question": ("token 7", "B", "W"), "reply": ("token 7", "B", "W"), "found": ("position B", "B")},
    ),
    "hred": (dict(E=3, H=3, C=2, K=3, **{"words.vocab": 7}), {"said": ("token 7", "M", "W")}),
    "memory_hard": (
        {"D": 3, "maxfacts": 2, "words.vocab": 7},
        {"story": ("token 7", "M", "W"), "question": ("token 7", "Q"), "support": ("position M", "T"),
         "answer": ("token 7",)},
    ),
    "ntm": (dict(N=4, W=3, H=4, B=2), {"input": ("bit", "S", 2), "output": ("bit", "S", 2)}),
    "graves": (
        {"L": 2, "H": 3, "K": 2, "M": 2, "text.vocab": 5},
        {"text": ("token 5", "U"), "stroke": ("real", "T", 2), "lift": ("bit", "T")},
    ),
    "sketch_rnn": (dict(E=3, H=4, Z=2, M=2), {"stroke": ("real", "T", 2), "pen": ("class 3", "T")}),
    "draw": (dict(N=2, R=2, W=2, H=3, Z=2), {"image": ("bit", "Y", "X")}),
    "vq_vae": (dict(S=2, P=2, N=3, D=2, C=2, H=3), {"image": ("bit", 4, 4)}),
    "flow_matching": (dict(S=2, H=3, N=3), {"digit": ("class 10",), "image": ("real", 2, 2)}),
    "moco": (dict(B=2, X=3, H=4, D=3, N=5), {"seen": ("real", 2, 3), "other": ("real", 2, 3)}),
    "ctc": ({"X": 3, "H": 3, "phone.vocab": 4}, {"sound": ("real", "Y", 3), "phone": ("sentence 4", "Q")}),
    "ctc_prefix": ({"X": 3, "H": 3, "phone.vocab": 4}, {"sound": ("real", "Y", 3), "phone": ("sentence 4", "Q")}),
    "ram": (dict(N=2, W=2, G=2, D=4, M=3, H=3), {"image": ("real", "Y", "X"), "label": ("class 10",)}),
    "deep_fusion": (
        {"M": 2, "nmt.E": 3, "nmt.H": 4, "nmt.A": 3, "nmt.M": 2, "lm.E": 3, "lm.H": 4, **VOCABULARIES}, SOURCE,
    ),
    "snli_gated": (
        dict(E=3, H=3, A=2, R=2, G=3, F=4, **{"words.vocab": 7}),
        {"premise": ("token 7", "S"), "hypothesis": ("token 7", "T"), "label": ("class 3",)},
    ),
    "decomposable": (
        {"E": 3, "F": 4, "words.vocab": 7},
        {"premise": ("token 7", "S"), "hypothesis": ("token 7", "T"), "label": ("class 3",)},
    ),
    "self_attentive": (
        {"E": 3, "H": 3, "A": 2, "R": 2, "F": 4, "text.vocab": 7},
        {"text": ("token 7", "N"), "label": ("class 2",)},
    ),
}
# Estimates of a gradient, which are no derivatives of the loss
# (test/train/estimators.test).
ESTIMATED = ("caption_hard", "ram", "sampled_softmax", "vq_vae")
# These begin with models that have to be trained first; the others are also
# trained.
BUILT = ("deep_fusion",)
TRAINED = [model for model in MODELS if model not in BUILT]
# Models whose weights come from other programs.
PUBLISHED = {
    "marian": ({"L": 2, "D": 4, "K": 2, "F": 3, "joint.vocab": 7}, MODELS["transformer"][1]),
    "gpt2": ({"L": 2, "D": 4, "K": 2, "P": 9, "pieces.vocab": 9, "begin": 8, "end": 8}, {"word": ("token 9", "T")}),
    "t5": ({"L": 2, "D": 4, "K": 2, "H": 3, "F": 3, "N": 8, "M": 16, "pieces.vocab": 9},
           {"src": ("sentence 9", "S"), "tgt": ("sentence 9", "T")}),
    "bert": ({"L": 2, "D": 4, "K": 2, "F": 3, "P": 5, "pieces.vocab": 9, "segments.vocab": 2},
             {"src": ("token 9", "S"), "segment": ("token 2", "S")}),
    "vit": ({"L": 2, "D": 4, "K": 2, "F": 3, "W": 2, "N": 4, "C": 5}, {"image": ("real", 3, 4, 4), "label": ("class 5",)}),
    "whisper": ({"L": 2, "D": 4, "K": 2, "F": 3, "C": 3, "P": 5, "Q": 9, "pieces.vocab": 9, "begin": 8, "end": 7},
                {"frame": ("real", "S", 3), "word": ("token 9", "T")}),
}
NESTED = ((2, 0, 3), (1,))  # W of each m, for both examples
BATCH = 2
TOLERANCES = {"f64": 1e-10, "f32": 1e-4}
CPUS = ("native", "x86-64-v3")  # the second has vectors of half the length


def element(kind, draw, example, place, end):
    """A value of the data at `place` of its first axis, which ends at `end`."""
    name, *argument = kind.split()
    if name == "real":
        return draw.uniform(-1, 1)
    if name == "bit":
        return draw.randrange(2)
    if name in ("token", "class"):
        return draw.randrange(int(argument[0]))
    if name == "sentence":
        return 1 if place == end - 1 else draw.randrange(2, int(argument[0]))
    if name == "position":
        return draw.randrange(LENGTHS[argument[0]][example])
    assert name == "place"  # a place of an axis, or its end
    length = LENGTHS[argument[0]][example]
    return length if place == end - 1 else draw.randrange(length)


def batch(data, seed, garbage):
    """Tensors of the batch; what lies past a length depends on `garbage`."""
    draw, noise, tensors = random.Random(seed), random.Random(garbage), {}
    for name, (kind, *axes) in data.items():
        extents = [a if isinstance(a, int) else max(map(max, NESTED)) if a == "W" else max(LENGTHS[a]) for a in axes]
        values = []
        for example in range(BATCH):
            for flat in range(math.prod(extents)):
                place, rest = [], flat
                for extent in reversed(extents):
                    place.insert(0, rest % extent)
                    rest //= extent
                inside = True
                for axis, index in zip(axes, place):
                    if axis == "W":
                        inside = inside and index < NESTED[example][place[0]]
                    elif not isinstance(axis, int):
                        inside = inside and index < LENGTHS[axis][example]
                    if not inside:
                        break
                end = LENGTHS[axes[0]][example] if axes and not isinstance(axes[0], int) else 0
                if inside:
                    values.append(element(kind, draw, example, place[0] if place else 0, end))
                else:
                    values.append(noise.uniform(-9, 9) if kind == "real" else noise.randrange(50, 99))
        tensors[name] = Tensor("F64" if kind == "real" else "I64", [BATCH, *extents], values)
        free = [a for a in axes if not isinstance(a, int)]
        for number, axis in enumerate(free):
            key = f"{name}.length" + (f".{number + 1}" if number else "")
            if axis == "W":
                rows = max(LENGTHS["M"])
                padded = [w for ws in NESTED for w in (*ws, *[0] * (rows - len(ws)))]
                tensors[key] = Tensor("I64", [BATCH, rows], padded)
            else:
                tensors[key] = Tensor("I64", [BATCH], list(LENGTHS[axis]))
    return tensors


def main(model, spec, work):
    options, data = MODELS[model]
    sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
    os.makedirs(work, exist_ok=True)
    weights, inputs, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))
    draw, parameters = random.Random(1), drawn(spec, sets, 0.6)

    def run(parameters, garbage=0, grads=False, how=("--reference", "--dtype", "f64")):
        write(weights, parameters)
        write(inputs, batch(data, 2, garbage))
        gets = ["--get", "loss", *(["--get", "grads"] if grads else [])]
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", inputs, *how, *gets,
                        "-o", result], check=True)
        return read(result)

    base = run(parameters, grads=True)
    for (dtype, tolerance), cpu in itertools.product(TOLERANCES.items(), CPUS):
        compiled = run(parameters, garbage=3, grads=True, how=("--dtype", dtype, "--cpu", cpu))
        assert set(compiled) == set(base)
        for name, tensor in base.items():
            scale = max(1, *map(abs, tensor.values))
            for ours, wanted in zip(compiled[name].values, tensor.values, strict=True):
                # A NaN is never close.
                assert abs(ours - wanted) <= tolerance * scale, f"{dtype} {cpu} {name}: {ours}, not {wanted}"
    loss = base["loss"].values[0]
    assert math.isfinite(loss), loss
    assert run(parameters, garbage=3)["loss"].values[0] == loss, "what lies past a length matters"
    assert all(math.isfinite(v) for t in base.values() for v in t.values), "a gradient is no number"

    # Along a random direction of everything that is trained, and along single
    # entries.
    trained = {n: t for n, t in parameters.items() if f"grad/{n}" in base}

    def slope(direction, step):
        def at(scale):
            moved = {n: Tensor("F64", t.shape, [v + scale * d for v, d in zip(t.values, direction[n])])
                     for n, t in trained.items()}
            return run({**parameters, **moved})["loss"].values[0]
        return (at(step) - at(-step)) / (2 * step)

    for trial in range(0 if model in ESTIMATED else 3):
        direction = {n: [draw.uniform(-1, 1) for _ in t.values] for n, t in trained.items()}
        if trial:  # one entry alone
            chosen = draw.choice(sorted(trained))
            direction = {n: [0.0] * len(v) for n, v in direction.items()}
            direction[chosen][draw.randrange(len(direction[chosen]))] = 1.0
        expected = sum(d * g for n, ds in direction.items() for d, g in zip(ds, base[f"grad/{n}"].values))
        got = slope(direction, 1e-5)
        assert abs(got - expected) <= 1e-6 * max(1.0, abs(expected)), (trial, got, expected)
    print(f"{model}: {len(parameters)} parameters, loss {loss:.6f}")


if __name__ == "__main__":
    main(*sys.argv[1:])
