"""Runs models with the sums of tensor cores: on the CPU, on the emulated GPU, and by the interpreter in f32.

    tensor_sums.py WORK_DIRECTORY [--interpreted] MODEL..

At sizes of which products are rounded, for the tensor cores of both architectures: the loss, log p and all
gradients of a batch have the same bits. They differ from those of f32 and of the other architecture.
`--interpreted`: by the interpreter as well.
"""

import sys

from rounded import CAPABILITIES, differing
from rounded_models import larger
from same_bits import SCHEDULES
import tiny


def check(work, name, isInterpreted):
    """What is wrong, or what was found; and whether that is good."""
    run, weights, inputs = larger(work, name)
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
