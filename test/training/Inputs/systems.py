"""Small sizes and examples of systems of the literature, for Fovea and for
their peers in PyTorch (peers.py) alike. Standard library only.

  systems.py NAME MODELS    writes weights.safetensors and data.safetensors, and trains MODELS/NAME.fov for
                            50 updates of all examples into the folder `out`

Weights and examples follow from the name. An example is a dict of nested lists.
"""

import os
import random
import shutil
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from setting import weights_of  # noqa: E402
from tensors import Tensor, write  # noqa: E402

ATTENTION = {"E": 4, "H": 5, "A": 3, "M": 3, "src.vocab": 7, "tgt.vocab": 6}
ADAM = {"train.optimiser": "adam", "train.rate": 0.01}
# Sizes, and what replaces entries of the train block.
SETS = {
    "caption_soft": {"D": 3, "E": 4, "H": 5, "A": 3, "tgt.vocab": 6, "train.rate": 0.01},
    "speech": {"L": 2, "H": 3, "E": 4, "A": 4, "K": 2, "R": 3, "M": 2, "I": 3, "tgt.vocab": 6, **ADAM,
               "train.noise": "weight(0)", "train.column_norm": 100},
    "pointer": {"H": 5, "train.rate": 0.01},
    "memory_soft": {"K": 2, "D": 4, "maxfacts": 3, "words.vocab": 8, "train.clip": 0.5},
    "memory_hard": {"D": 4, "maxfacts": 3, "words.vocab": 8, "train.rate": 0.01},
    "memory_latent": {"D": 4, "words.vocab": 8},
    "ntm": {"N": 5, "W": 3, "H": 4, "B": 2, "train.rate": 0.01},
    "graves": {"L": 2, "H": 4, "K": 2, "M": 2, "text.vocab": 4, "train.rate": 0.01},
    "video": {"E": 3, "H": 4, "A": 3, "C": 2, "D": 3, "tgt.vocab": 6, "train.rate": 0.01},
    "luong_local_p": {"L": 2, "E": 4, "H": 5, "D": 2, "src.vocab": 7, "tgt.vocab": 6, "train.rate": 0.01},
    "luong_local_m": {"L": 2, "E": 4, "H": 5, "D": 1, "src.vocab": 7, "tgt.vocab": 6, "train.rate": 0.01},
    "pyramid": {"L": 2, "H": 3, "E": 4, "A": 3, "I": 2, "tgt.vocab": 6, "train.rate": 0.01},
    "caption_pixels": {"C": 3, "E": 4, "H": 5, "A": 3, "tgt.vocab": 6, "train.rate": 0.01},
    "rnnlm": {"E": 4, "H": 4, "word.vocab": 7},
    "decoder_lm": {"L": 2, "D": 8, "K": 2, "N": 3, "word.vocab": 7, "train.rate": 0.01},
    "llama": {"L": 2, "D": 8, "K": 4, "G": 2, "F": 6, "word.vocab": 7, **ADAM, "train.warmup": 0},
    "multi_token": {"L": 1, "D": 8, "K": 2, "F": 6, "N": 3, "word.vocab": 7, **ADAM, "train.warmup": 0},
    "ttt": {"L": 2, "D": 5, "word.vocab": 7, **ADAM},
    "block_sparse": {"L": 2, "D": 8, "K": 2, "F": 6, "B": 2, "N": 1, "W": 2, "word.vocab": 7, **ADAM, "train.warmup": 0},
    "experts": {"L": 2, "D": 8, "K": 4, "G": 2, "F": 5, "E": 3, "word.vocab": 7, **ADAM, "train.warmup": 0},
    "snli_gated": {"E": 4, "H": 3, "A": 3, "R": 2, "G": 3, "F": 5, "words.vocab": 8, "train.rate": 0.01},
    "hred": {"E": 3, "H": 4, "C": 3, "K": 3, "words.vocab": 8, "train.rate": 0.01},
    "match": {"E": 3, "H": 4, "words.vocab": 8, "train.rate": 0.01},
    "sampled_softmax": {**ATTENTION, "N": 3},
    "deep_fusion": {"M": 3, "nmt.E": 4, "nmt.H": 5, "nmt.A": 3, "nmt.M": 3, "lm.E": 4, "lm.H": 4, "src.vocab": 7,
                    "tgt.vocab": 6, "train.rate": 0.01},
    "coverage": {**ATTENTION, **ADAM},
    "hmm_align": {"E": 4, "J": 2, "src.vocab": 7, "tgt.vocab": 6, "train.rate": 0.01},
    "ctc": {"X": 3, "H": 4, "phone.vocab": 5, "train.rate": 0.01},
    "ctc_prefix": {"X": 3, "H": 4, "phone.vocab": 5, "train.rate": 0.01},
    "transducer": {"H": 4, "E": 3, "J": 5, "I": 3, "tgt.vocab": 6, "train.rate": 0.01},
    "scheduled_sampling": {"E": 4, "H": 5, "src.vocab": 7, "tgt.vocab": 6, "k": 20, "train.rate": 0.01},
    "caption_hard": {"D": 3, "E": 4, "H": 5, "A": 3, "tgt.vocab": 6, "train.rate": 0.01},
    "sketch_rnn": {"E": 3, "H": 4, "Z": 2, "M": 2, "train.rate": 0.01},
    "draw": {"N": 3, "R": 2, "W": 2, "H": 4, "Z": 2, "train.rate": 0.01},
    "vq_vae": {"S": 2, "P": 2, "N": 3, "D": 3, "C": 2, "H": 4, "share": 0.8, **ADAM},
    "flow_matching": {"S": 2, "H": 5, "N": 3, "train.rate": 0.01, "train.batch": 32},
    "moco": {"B": 3, "X": 4, "H": 5, "D": 3, "N": 7, "share": 0.8, "heat": 0.5},
    "ram": {"N": 3, "W": 2, "G": 2, "H": 5, "train.rate": 0.01},
}
EXAMPLES = 4


def ids(rng, vocab, low, high):
    """A sentence, which ends."""
    return [rng.randrange(2, vocab) for _ in range(rng.randint(low, high))] + [1]


def reals(rng, *shape):
    if not shape:
        return rng.uniform(-1, 1)
    return [reals(rng, *shape[1:]) for _ in range(shape[0])]


def bits(rng, *shape):
    if not shape:
        return rng.randrange(2)
    return [bits(rng, *shape[1:]) for _ in range(shape[0])]


def words(rng):
    return [rng.randrange(2, 8) for _ in range(rng.randint(1, 3))]


def story(rng):
    facts = [words(rng) for _ in range(rng.randint(2, 5))]
    return {"story": facts, "question": words(rng), "answer": rng.randrange(2, 8)}


def example(name, rng):
    if name in ("caption_soft", "caption_hard"):
        return {"a": reals(rng, rng.randint(2, 4), 3), "tgt": ids(rng, 6, 1, 4)}
    if name in ("speech", "transducer"):
        return {"x": reals(rng, rng.randint(3, 6), 3), "tgt": ids(rng, 6, 1, 3)}
    if name in ("ctc", "ctc_prefix"):  # some symbols repeat, and need a blank between them
        said = [rng.randrange(2, 5) for _ in range(rng.randint(0, 2))] + [rng.randrange(2, 5)]
        return {"sound": reals(rng, rng.randint(5, 8), 3), "phone": said + said[-1:] + [1]}
    if name == "pointer":
        count = rng.randint(2, 4)
        order = rng.sample(range(count), rng.randint(1, count))
        return {"point": reals(rng, count, 2), "out": order + [count]}
    if name in ("memory_soft", "memory_latent"):
        return story(rng)
    if name == "memory_hard":
        told = story(rng)
        return told | {"support": [rng.randrange(len(told["story"])) for _ in range(rng.randint(1, 2))]}
    if name == "ntm":
        rows = bits(rng, rng.randint(1, 3), 2)
        return {"input": rows, "output": rows}
    if name == "graves":
        count = rng.randint(2, 5)
        return {"text": [rng.randrange(4) for _ in range(rng.randint(1, 3))], "stroke": reals(rng, count, 2),
                "lift": bits(rng, count)}
    if name == "sketch_rnn":
        count = rng.randint(2, 5)
        return {"stroke": reals(rng, count, 2), "pen": [*(rng.randrange(2) for _ in range(count - 1)), 2]}
    if name == "video":
        return {"clip": reals(rng, rng.choice((2, 4)), 5, 5, 1), "tgt": ids(rng, 6, 1, 3)}
    if name == "draw":
        return {"image": bits(rng, 4, 3)}
    if name == "vq_vae":
        return {"image": bits(rng, 4, 4)}
    if name == "flow_matching":
        return {"digit": rng.randrange(10), "image": reals(rng, 2, 2)}
    if name == "moco":
        return {"seen": reals(rng, 3, 4), "other": reals(rng, 3, 4)}
    if name == "ram":
        return {"image": reals(rng, 5, 6), "label": rng.randrange(10)}
    if name == "pyramid":
        return {"x": reals(rng, rng.randint(1, 6), 2), "tgt": ids(rng, 6, 1, 3)}
    if name == "caption_pixels":
        return {"image": reals(rng, rng.randint(4, 9), rng.randint(4, 6), 3), "tgt": ids(rng, 6, 1, 3)}
    if name in ("rnnlm", "decoder_lm", "llama", "multi_token", "ttt", "experts"):
        return {"word": ids(rng, 7, 1, 5)}
    if name == "block_sparse":
        return {"word": ids(rng, 7, 1, 9)}
    if name == "snli_gated":
        return {"premise": words(rng), "hypothesis": words(rng), "label": rng.randrange(3)}
    if name == "hred":
        return {"said": [ids(rng, 8, 0, 3) for _ in range(rng.randint(1, 3))]}
    if name == "match":
        count = rng.randint(2, 4)
        return {"question": [words(rng) for _ in range(count)], "reply": [words(rng) for _ in range(count)],
                "found": rng.sample(range(count), count)}
    if name == "luong_local_m":  # more words than the window reaches
        return {"src": ids(rng, 7, 1, 3), "tgt": ids(rng, 6, 2, 5)}
    return {"src": ids(rng, 7, 1, 4), "tgt": ids(rng, 6, 1, 3)}


def examples(name):
    rng = random.Random("examples of " + name)
    # A queue takes one group in each update.
    return [example(name, rng) for _ in range(1 if name == "moco" else EXAMPLES)]


# Axes whose extent is a number of the model; all others are lengths.
FIXED = {"a": 1, "x": 1, "sound": 1, "image": 1, "point": 1, "input": 1, "output": 1, "stroke": 1,
         "seen": 2, "other": 2}


def shape_of(value):
    if not isinstance(value, list):
        return []
    inner = [shape_of(v) for v in value]
    return [len(value)] + [max(extents) for extents in zip(*inner)]


def padded(value, shape, zero):
    if not shape:
        return [value]
    rows = value if isinstance(value, list) else []
    flat = []
    for i in range(shape[0]):
        flat += padded(rows[i], shape[1:], zero) if i < len(rows) else padded([] if shape[1:] else zero, shape[1:], zero)
    return flat


def batch(all_examples):
    """The tensors of a batch file."""
    tensors = {}
    for name in all_examples[0]:
        values = [one[name] for one in all_examples]
        shape = [max(extents) for extents in zip(*map(shape_of, values))]
        flat = [number for value in values for number in padded(value, shape, 0)]
        is_real = any(isinstance(number, float) for number in flat)
        tensors[name] = Tensor("F64" if is_real else "I64", [len(values)] + shape, flat)
        is_nested = name in ("story", "said", "reply") or (name == "question" and len(shape) == 2)
        if is_nested:
            tensors[name + ".length.2"] = Tensor("I64", [len(values), shape[0]], [
                len(value[m]) if m < len(value) else 0 for value in values for m in range(shape[0])])
        lengths = len(shape) - (FIXED.get(name, 0) if len(shape) != 2 or name != "image" else 0)
        lengths -= is_nested or name == "clip"
        for axis in range(lengths):
            def extent(value, depth=axis):
                return len(value) if depth == 0 else extent(value[0], depth - 1)
            key = f"{name}.length" + (f".{axis + 1}" if axis else "")
            tensors[key] = Tensor("I64", [len(values)], [extent(value) for value in values])
    return tensors


def main():
    name, models = sys.argv[1:]
    spec = os.path.join(models, name + ".fov")
    sets = [word for key, value in SETS[name].items() for word in ("--set", f"{key}={value}")]
    weights = weights_of(spec, sets)
    if name == "deep_fusion":  # what lies beside the spec: models that were trained
        for part, inner in ("nmt", "rnnsearch"), ("lm", "rnnlm"):
            os.mkdir(part)
            shutil.copy(os.path.join(models, inner + ".fov"), ".")
            write(f"{part}/model.safetensors", {path[len(part) + 1:]: tensor for path, tensor in weights.items()
                                                if path.startswith(part + ".")})
        spec = shutil.copy(spec, ".")
    write("weights.safetensors", weights)
    shown = examples(name)
    write("data.safetensors", batch(shown))
    subprocess.run(["fovea", "train", spec, "--weights", "weights.safetensors", "--data", "data.safetensors", "--batch",
                    str(len(shown)), "--steps", "50", "--report-every", "1", "--dtype", "f64", "--out", "out", "--quiet",
                    *sets], check=True)


if __name__ == "__main__":
    main()
