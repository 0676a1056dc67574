"""What a training begins with, for Fovea and for its peer alike: weights that
follow from their names, and lines of ids. Standard library only.

  setting.py MODEL SPEC     writes weights.safetensors, src.txt and tgt.txt, and
                            trains for 50 updates into the folder `out`
"""

import math
import os
import random
import subprocess
import sys
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "golden"))
from tensors import Tensor, write  # noqa: E402

SIDES = {"src.vocab": 9, "tgt.vocab": 8}
# Sizes, and what replaces entries of the train block.
SETS = {
    "spelling": {"E": 5, "H": 6, "A": 4, "M": 3, "letters.vocab": 9},
    "g2p": {"E": 5, "H": 6, "A": 4, "M": 3, "letters.vocab": 9, "phones.vocab": 8},
    "rnnsearch": {"E": 5, "H": 6, "A": 4, "M": 3, **SIDES},
    "luong": {"L": 2, "E": 5, "H": 6, **SIDES},
    "luong_dot": {"L": 2, "E": 5, "H": 6, **SIDES},
    "luong_concat": {"L": 2, "E": 5, "H": 6, **SIDES},
    "seq2seq": {"L": 2, "E": 5, "H": 6, "train.optimiser": "momentum", "train.rate": 0.1, **SIDES},
    "seq2seq_start": {"L": 2, "E": 5, "H": 6, "train.optimiser": "sgd", "train.rate": 0.5, **SIDES},
    "transformer": {"L": 2, "D": 8, "K": 2, "F": 10, "joint.vocab": 9,
                    "train.smooth": 0, "train.rate": "noam(D, 20)"},
}
EXAMPLES = 7


def symbols(name, side):
    sets = SETS[name]
    known = [f"{side}.vocab", *["phones.vocab"] * (side == "tgt"), "letters.vocab", "joint.vocab"]
    return next(sets[key] for key in known if key in sets)


def weight(name, index):
    """Between -0.5 and 0.5, from a counter of its own for each name."""
    return 0.5 * math.sin(zlib.crc32(name.encode()) % 1000 + 1.7 * index * index + index)


def weights_of(spec, sets):
    """Those of all parameters of a spec, with these options."""
    listed = subprocess.run(["fovea", "params", spec, *sets], check=True,
                            capture_output=True, text=True).stdout
    tensors = {}
    for line in listed.splitlines():
        path, _, extents = line.split("\t")
        shape = [int(extent) for extent in extents.strip("[]").split(",") if extent.strip()]
        values = [weight(path, i) for i in range(math.prod(shape))]
        tensors[path] = Tensor("F64", shape, values)
    return tensors


def main():
    name, spec = sys.argv[1:]
    sets = [word for key, value in SETS[name].items()
            for word in ("--set", f"{key}={value}")]
    write("weights.safetensors", weights_of(spec, sets))
    rng = random.Random(name)
    for side in ("src", "tgt"):
        with open(f"{side}.txt", "w") as file:
            for _ in range(EXAMPLES):
                ids = [rng.randrange(2, symbols(name, side))
                       for _ in range(rng.randint(1, 6))]
                file.write(" ".join(map(str, ids)) + "\n")
    subprocess.run(
        ["fovea", "train", spec, "--weights", "weights.safetensors", "--data",
         "src=src.txt,tgt=tgt.txt", "--batch", str(EXAMPLES), "--steps", "50",
         "--report-every", "1", "--dtype", "f64", "--out", "out", "--quiet", *sets],
        check=True)


if __name__ == "__main__":
    main()
