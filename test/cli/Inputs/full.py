"""Runs commands whose output lies on a file system that is full.

    full.py SPEC WORK_DIRECTORY

Each has to end with the exit code 3 and one error, and leave nothing behind.
Runs itself in a namespace of its own, where it may mount a small tmpfs; prints
`cannot mount` where that is not permitted.
"""

import os
import subprocess
import sys

SETS = ["--set", "src.vocab=60", "--set", "y.vocab=60"]


def fovea(*arguments):
    return subprocess.run(["fovea", *arguments], capture_output=True, text=True, timeout=100)


def main(spec, work):
    small = os.path.join(work, "small")
    os.makedirs(small, exist_ok=True)
    if subprocess.run(["mount", "-t", "tmpfs", "-o", "size=16k", "tmpfs", small], capture_output=True).returncode:
        print("cannot mount")
        return
    weights, lines, spec = os.path.join(work, "w.safetensors"), os.path.join(work, "lines"), [spec, *SETS]
    with open(lines, "w") as file:
        file.write("".join("3 4 5 6\t7 8 9\n" for _ in range(50)))
    out = os.path.join(small, "out.safetensors")
    assert fovea("init", *spec, "-o", weights).returncode == 0
    columns = ["--data", f"src={lines}:1", "--data", f"y={lines}:2"]
    cases = {
        "init": ["init", *spec, "-o", out],
        "run": ["run", *spec, "--weights", weights, *columns, "--get", "grads", "-o", out],
        "decode": ["decode", *spec, "--weights", weights, *columns[:2], "--max-length", "40", "--show", f"logits={out}"],
        "train": ["train", *spec, *columns, "--steps", "2", "--quiet", "--out", os.path.join(small, "trained")],
    }
    # A program has more bytes than there is space.
    cases["exe"] = ["compile", *spec, "--weights", weights, "--emit", "exe", "-o", os.path.join(small, "p.part")]
    cases["so"] = ["compile", *spec, "--weights", weights, "--emit", "so", "-o", os.path.join(small, "p.part")]
    for name, command in cases.items():
        done = fovea(*command)
        left = [os.path.join(folder, file) for folder, _, files in os.walk(small) for file in files
                if file.endswith((".safetensors", ".part"))]
        errors = [line for line in done.stderr.splitlines() if "error: " in line]
        good = done.returncode == 3 and len(errors) == 1 and "No space left on device" in errors[0] and not left
        good = good and "Stack dump" not in done.stderr and "#0" not in done.stderr
        print(f"{'ok' if good else 'WRONG'} {name}: exit code {done.returncode}, left {left}, {done.stderr.strip()}")


if __name__ == "__main__":
    if len(sys.argv) == 3:
        done = subprocess.run(["unshare", "--user", "--map-root-user", "--mount",
                               sys.executable, "-B", __file__, *sys.argv[1:], "inside"])
        if done.returncode:
            print("cannot mount")
    else:
        main(*sys.argv[1:3])
