"""Trains by each optimiser on the CPU and on the emulated GPU, and compares all that is stored.

    learners.py SPEC WORK_DIRECTORY

What is launched is looked for in the emulator's log.
"""

import os
import subprocess
import sys

# What is trained, and what the device has to do for it.
CASES = {
    "sgd": "sgd",
    "momentum(0.8) decay=0.01": "momentum",
    "rmsprop(0.9,1e-8,0.5)": "rmsprop",
    "adadelta": "adadelta",
    "adagrad decay=0.01": "adagrad",
    "adam clip=0.001": "adam scale squares",
    "adamw clip_value=0.0001 clip=0.0003": "adam clamp scale squares",
    "adam column_norm=0.5": "adam limit",
    "adam accumulate=2": "adam add clear",
    "adam f64 column_norm=0.5 clip=0.001": "adam limit scale squares",
}


def main(spec, work):
    os.makedirs(work, exist_ok=True)
    data = os.path.join(work, "s.txt")
    with open(data, "w") as file:
        for line in range(8):
            print(*((7 * line * line + 3 * place) % 117 + 3 for place in range(4 + line % 3)), file=file)
    for number, (case, kernels) in enumerate(CASES.items()):
        rule, *words = case.split()
        command = ["fovea", "train", spec, "--data", "s=" + data, "--steps", "2", "--quiet",
                   "--set", "train.optimiser=" + rule]
        for word in words:
            command += ["--dtype", word] if word == "f64" else ["--set", "train." + word]
        log = os.path.join(work, "log")
        folders = [os.path.join(work, f"{machine}{number}") for machine in ("cpu", "gpu")]
        environment = {**os.environ, "FOVEA_EMULATOR_LOG": log}
        for folder, target in zip(folders, ("native", "cuda")):
            done = subprocess.run([*command, "--out", folder, "--target", target], env=environment,
                                  capture_output=True, text=True)
            if done.returncode != 0:
                sys.exit(f"{case}: {done.stderr.strip()}")
        for name in ("model.safetensors", "last/state.safetensors"):
            cpu, gpu = (open(os.path.join(folder, name), "rb").read() for folder in folders)
            assert cpu == gpu, f"{case}: {name} differs"
        with open(log) as file:
            launched = file.read()
        kind = "f64" if "f64" in words else "f32"
        for kernel in kernels.split():
            assert f"fovea${kernel}${kind} " in launched, f"{case}: '{kernel}' is not launched"
        print(f"{case}: the same bits")


if __name__ == "__main__":
    main(*sys.argv[1:])
