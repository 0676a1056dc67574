"""Runs models with the sums of tensor cores: on the CPU, on the emulated GPU, and by the interpreter in f32.

    tensor_sums.py WORK_DIRECTORY [--interpreted] MODEL..

At sizes of which products are rounded, for the tensor cores of both architectures: the loss, log p and all
gradients of a batch have the same bits. They differ from those of f32 and of the other architecture.
`--interpreted`: by the interpreter as well.
"""

import os
import sys

from rounded import CAPABILITIES, Runner, differing
from same_bits import FIXED, GROWING, SCHEDULES, TESTS
import tiny
from parameters import drawn

# Each of the sizes that data do not have as well is so many times larger.
LARGER = 6


def check(work, name, isInterpreted):
    """What is wrong, or what was found; and whether that is good."""
    sizes, data = tiny.MODELS[name]
    grows = [key for key in sizes if key in GROWING and key not in FIXED.get(name, "")]
    sizes = {key: value * LARGER if key in grows else value for key, value in sizes.items()}
    sets = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    spec = os.path.join(TESTS, "..", "models", name + ".fov")
    run = Runner(os.path.join(work, name), spec, sets, ["loss", "logp", "grads"])
    weights, inputs = drawn(spec, sets, 0.2), tiny.batch(data, 2, 0)
    before = run(weights, inputs)
    for architecture, capability in CAPABILITIES.items():
        precision = ["--precision", "bf16:" + architecture.rstrip("a")]
        own = run(weights, inputs, *precision)
        if not differing(own, before, own):
            return f"{architecture}: the bits of other sums", False
        before = own
        schedule, processors = SCHEDULES[2]
        others = {"GPU": run(weights, inputs, *precision, "--target", "cuda", FOVEA_EMULATOR_CAPABILITY=capability,
                             FOVEA_EMULATOR_SCHEDULE=schedule, FOVEA_EMULATOR_PROCESSORS=processors)}
        if isInterpreted:
            others["interpreter"] = run(weights, inputs, *precision, "--reference", "--dtype", "f32", "--stop-after",
                                        "kernels")
        for other, found in others.items():
            if wrong := differing(found, own, own):
                return f"{architecture}: {len(wrong)} of {len(own)} results of the {other} differ: " \
                    f"{', '.join(wrong[:6])}", False
    return f"{len(own)} results with the same bits", True


def main():
    work, *names = sys.argv[1:]
    isInterpreted = names[0] == "--interpreted"
    results = {}
    for name in names[isInterpreted:] if names[-1] != "all" else tiny.TRAINED:
        text, results[name] = check(work, name, isInterpreted)
        print(f"{name}: {text}{'' if results[name] else ' (wrong)'}", flush=True)
    sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
