"""Runs models on the emulated GPU with factors that are rounded to bf16.

    rounded_models.py WORK_DIRECTORY PART/PARTS | MODEL..

At sizes of which products are rounded: the loss, log p and all gradients have the
same bits in the code of both architectures where their tensor cores add alike, under
another schedule of threads and in another grid; an example has the same log p alone;
and the loss and the angle between all of both gradients are near what a CPU has in
f32 (docs/GPU_CODE.md).
"""

import math
import os
import sys

from rounded import CAPABILITIES, LIKE_CPU, NEAR, Runner, alone, differing
from same_bits import FIXED, GROWING, SCHEDULES, TESTS
import tiny
from parameters import drawn

# Each of the sizes that data do not have as well is so many times larger.
LARGER = 6


def larger(work, name):
    """A runner of the model at sizes of which products are rounded, with weights and two examples."""
    sizes, data = tiny.MODELS[name]
    grows = [key for key in sizes if key in GROWING and key not in FIXED.get(name, "")]
    sizes = {key: value * LARGER if key in grows else value for key, value in sizes.items()}
    sets = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    spec = os.path.join(TESTS, "..", "models", name + ".fov")
    run = Runner(os.path.join(work, name), spec, sets, ["loss", "logp", "grads"])
    weights, inputs = drawn(spec, sets, 0.2), tiny.batch(data, 2, 0)
    return run, weights, inputs


def check(work, name):
    """What is wrong, or what was found; and whether that is good."""
    run, weights, inputs = larger(work, name)
    older, newer = CAPABILITIES.values()
    first = run.rounding(weights, inputs, SCHEDULES[0], FOVEA_EMULATOR_CAPABILITY=older, **LIKE_CPU)
    second = run.rounding(weights, inputs, SCHEDULES[2], FOVEA_EMULATOR_CAPABILITY=newer, **LIKE_CPU)
    if wrong := differing(second, first, first):
        return f"{len(wrong)} of {len(first)} results differ: {', '.join(wrong[:6])}", False
    # What is drawn for an example depends on its number.
    found = run.rounding(weights, alone(inputs, 0), SCHEDULES[1], FOVEA_EMULATOR_CAPABILITY=older, **LIKE_CPU)
    if found["logp"].values[0] != first["logp"].values[0]:
        return "an example has another log p alone", False
    exact = run(weights, inputs)
    loss, wanted = first["loss"].values[0], exact["loss"].values[0]
    ours, theirs = ([v for key in sorted(first) if key.startswith("grad/") for v in file[key].values]
                    for file in (first, exact))
    cosine = sum(a * b for a, b in zip(ours, theirs)) / math.sqrt(sum(a * a for a in ours) * sum(b * b for b in theirs))
    off = abs(loss / wanted - 1)
    found = f"{len(first)} results with the same bits, off by {off:.0e}, gradients by {1 - cosine:.0e}"
    return found, off <= NEAR and cosine >= 1 - NEAR


def main():
    work, *names = sys.argv[1:]
    if "/" in names[0]:
        part, parts = map(int, names[0].split("/"))
        names = tiny.TRAINED[part - 1::parts]
    results = {}
    for name in names:
        text, results[name] = check(work, name)
        print(f"{name}: {text}{'' if results[name] else ' (wrong)'}", flush=True)
    sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
