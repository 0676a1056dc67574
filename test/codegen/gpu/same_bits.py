"""Runs models on the CPU and on the emulated GPU, and compares bits.

    same_bits.py WORK_DIRECTORY [--dtype f64] [--grown] [--schedules N] [--processors N] [MODEL.. | --every N]

The loss, log p and all gradients, in grids of different sizes and under
different schedules of threads, by turns: each model begins with another one. The
models are those of test/models/tiny.py, all or each Nth;
`--grown` gives them sizes above those of a tile that no tile divides. The
emulator is found in place of CUDA's driver (docs/GPU_CODE.md).
"""

import argparse
import array
import os
import subprocess
import sys

TESTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(TESTS, folder))
import tiny  # noqa: E402
from parameters import drawn  # noqa: E402
from tensors import read, write  # noqa: E402

# How threads take turns, and how many processors there are.
SCHEDULES = [("ascending", "2"), ("descending", "1"), ("7", "3"), ("8", "1")]
# Sizes that data do not have as well, and that are no numbers of layers.
GROWING = "EHADGMF"
FIXED = {"luong_local_p": "D", "luong_local_m": "D", "caption_soft": "D", "caption_hard": "D", "ram": "WG", "llama": "G",
         "experts": "GE"}


def options(model, grown):
    sizes, _ = tiny.MODELS[model]
    fixed = FIXED.get(model, "")
    if grown:
        sizes = {k: 17 * v if k in GROWING and k not in fixed else v for k, v in sizes.items()}
    return [word for k, v in sizes.items() for word in ("--set", f"{k}={v}")]


def bits(tensor):
    """NaN is not equal to itself; 0 is equal to -0."""
    return array.array("d", map(float, tensor.values)).tobytes()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--grown", action="store_true")
    parser.add_argument("--schedules", type=int, default=len(SCHEDULES))
    parser.add_argument("--processors", help="of the device, under each schedule")
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("models", nargs="*")
    given = parser.parse_intermixed_args()
    if given.grown:
        tiny.LENGTHS = {name: tuple(6 * n - 1 for n in lengths) for name, lengths in tiny.LENGTHS.items()}
        tiny.LENGTHS.update(M=(3, 1), B=(3, 1), Y=(19, 17), X=(18, 21), F=(2, 3))
    hasFailed = False
    for number, model in enumerate(given.models or tiny.TRAINED[::given.every]):
        spec = os.path.join(TESTS, "..", "models", model + ".fov")
        sets = options(model, given.grown)
        folder = os.path.join(given.work, model)
        os.makedirs(folder, exist_ok=True)
        weights, inputs = (os.path.join(folder, name) for name in ("w.safetensors", "b.safetensors"))
        write(weights, drawn(spec, sets, 0.2))
        write(inputs, tiny.batch(tiny.MODELS[model][1], 2, 0))

        def run(*how, **environment):
            out = os.path.join(folder, "out.safetensors")
            command = ["fovea", "run", spec, *sets, "--weights", weights, "--data", inputs, "--dtype", given.dtype,
                       "--quiet", *how, "--get", "loss", "logp", "grads", "-o", out]
            done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
            if done.returncode != 0:
                return (done.stderr.strip().splitlines() or [f"exit code {done.returncode}"])[0]
            return read(out)

        expected = run()
        assert isinstance(expected, dict), expected
        wrong = ""
        first = number % len(SCHEDULES)
        for schedule, processors in (SCHEDULES[first:] + SCHEDULES[:first])[:given.schedules]:
            found = run("--target", "cuda", FOVEA_EMULATOR_SCHEDULE=schedule,
                        FOVEA_EMULATOR_PROCESSORS=given.processors or processors)
            if isinstance(found, str):
                wrong = found
                break
            names = [name for name, tensor in expected.items() if bits(tensor) != bits(found[name])]
            if names:
                wrong = f"{len(names)} of {len(expected)} results differ ({schedule}): {', '.join(names[:6])}"
                break
        hasFailed |= bool(wrong)
        print(f"{model} {given.dtype}: {wrong or f'{len(expected)} results with the same bits'}", flush=True)
    sys.exit(1 if hasFailed else 0)


if __name__ == "__main__":
    main()
