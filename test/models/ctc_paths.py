"""Best paths and prefix search of `ctc` and `ctc_prefix`, beside all outputs there can be.

    ctc_paths.py MODELS_DIRECTORY WORK_DIRECTORY

Three sounds of 4, 3 and 2 frames, and labels 0, 2, 3 beside the blank: an output has at most as many
labels as frames, so all of them can be listed.
"""

import itertools
import json
import math
import os
import random
import subprocess
import sys

from parameters import drawn
from tensors import Tensor, read, write  # `parameters` says where it is

models, work = sys.argv[1:]
os.makedirs(work, exist_ok=True)
FRAMES, LABELS, BLANK, WIDTH = (4, 3, 2), (0, 2, 3), 1, 3
SETS = [word for k, v in {"X": WIDTH, "H": 3, "phone.vocab": 4}.items() for word in ("--set", f"{k}={v}")]
weights, data, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))
draw = random.Random(5)
sounds = [[draw.uniform(-3, 3) for _ in range(frames * WIDTH)] for frames in FRAMES]
outputs = [out for count in range(FRAMES[0] + 1) for out in itertools.product(LABELS, repeat=count)]


def spec(model):
    return os.path.join(models, model + ".fov")


def store(sounds, outputs=None):
    """Writes a batch: sounds, and what they say."""
    longest = max(map(len, sounds))
    tensors = {
        "sound": Tensor("F64", [len(sounds), longest // WIDTH, WIDTH],
                        [v for sound in sounds for v in sound + [0.0] * (longest - len(sound))]),
        "sound.length": Tensor("I64", [len(sounds)], [len(sound) // WIDTH for sound in sounds]),
    }
    if outputs:
        said = [[*out, 1] for out in outputs]
        longest = max(map(len, said))
        tensors["phone"] = Tensor("I64", [len(said), longest], [v for out in said for v in out + [0] * (longest - len(out))])
        tensors["phone.length"] = Tensor("I64", [len(said)], [len(out) for out in said])
    write(data, tensors)


def run(model, *gets):
    subprocess.run(["fovea", "run", spec(model), *SETS, "--weights", weights, "--data", data, "--dtype", "f64",
                    "--get", *gets, "-o", result], check=True)
    return read(result)


def decoded(model, *options):
    done = subprocess.run(["fovea", "decode", spec(model), *SETS, "--weights", weights, "--data", data, "--dtype", "f64",
                           "--json", *options], check=True, capture_output=True, text=True)
    return [[(tuple(map(int, h["outputs"]["phone"].split())), h["logp"]) for h in json.loads(line)["hypotheses"]]
            for line in done.stdout.splitlines()]


def logsumexp(values):
    largest = max(values)
    return largest if largest == -math.inf else largest + math.log(math.fsum(math.exp(v - largest) for v in values))


write(weights, drawn(spec("ctc"), SETS, 2.0))
store(sounds, [(2,)] * len(sounds))
rows = run("ctc", "p")["p"]
vocabulary = rows.shape[-1]
paths = []
for example, frames in enumerate(FRAMES):
    begin = example * rows.shape[1] * vocabulary
    logs = [rows.values[begin + s * vocabulary:begin + (s + 1) * vocabulary] for s in range(frames)]
    best = [row.index(max(row)) for row in logs]
    paths.append(tuple(label for label, _ in itertools.groupby(best) if label != BLANK))
store(sounds)
assert [hypotheses[0][0] for hypotheses in decoded("ctc")] == paths, paths
print(len(paths), "best paths, of lengths", *map(len, paths))

# Each output of the first sound: its last frame is at the last blank, or at the last label.
store([sounds[0]] * len(outputs), outputs)
ends = run("ctc", "a")["a"]
_, frames, width = ends.shape
last = [ends.values[((number + 1) * frames - 1) * width:(number + 1) * frames * width] for number in range(len(outputs))]
wanted = [logsumexp(row[max(0, 2 * len(out) - 1):2 * len(out) + 1]) for row, out in zip(last, outputs, strict=True)]
print(len(outputs), f"outputs have the probability {math.fsum(map(math.exp, wanted)):.6f} together")
scores = subprocess.run(["fovea", "score", spec("ctc_prefix"), *SETS, "--weights", weights, "--data", data, "--dtype", "f64"],
                        check=True, capture_output=True, text=True).stdout.split()
for ours, other in zip(map(float, scores), wanted, strict=True):
    assert ours == other or abs(ours - other) < 1e-8, (ours, other)  # ten digits are printed
print("ctc_prefix gives them the same log p")

ranked = sorted(zip(outputs, wanted), key=lambda pair: -pair[1])[:4]
store(sounds[:1])
for (ours, logp), (other, log) in zip(decoded("ctc_prefix", "--beam", "60", "--nbest", "4")[0], ranked, strict=True):
    assert ours == other and abs(logp - log) < 1e-12, (ours, other)
print("beams find the", len(ranked), "most probable of each")
