"""What `fovea check` accepts, the compiler compiles, or refuses with a sentence.

    accepted.py [--seeds FIRST..LAST] [--damages N]

Takes random specs, and damages each of them N times: another word where a word is, another
number where a number is. What the check accepts is compiled for training and decoding, up to machine code.
Each command ends with exit code 0, or 1 and an error that `check` or the compiler may give.
"""

import argparse
import collections
import pathlib
import random
import re
import subprocess
import sys

WORD = re.compile(r"[A-Za-z_]\w*|\d+|[-+*/<>]=?")


def damaged(spec, chance):
    """The spec with one word replaced by another of the same kind."""
    words = [word for word in WORD.finditer(spec) if spec[:word.start()].count("\n") > 1]
    kinds = [str.isdigit, str.isidentifier, lambda word: not word[0].isalnum()]
    kind = chance.choice([one for one in kinds if any(one(word[0]) for word in words)])
    at = chance.choice([word for word in words if kind(word[0])])
    others = sorted({word[0] for word in words if kind(word[0])} | ({"0", "2", "64"} if kind is str.isdigit else set()))
    return spec[:at.start()] + chance.choice(others) + spec[at.end():]


def run(*command):
    return subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=600)


def problem(done):
    """Why a command ended as none may; empty if it ended well."""
    if done.returncode not in (0, 1):
        return f"exit code {done.returncode}"
    if done.returncode == 1 and "error: " not in done.stderr:
        return "no error is printed"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", default="0..9")
    parser.add_argument("--damages", type=int, default=3)
    parser.add_argument("--folder", type=pathlib.Path, default=pathlib.Path("."))
    options = parser.parse_args()
    first, last = map(int, options.seeds.split(".."))
    counts = collections.Counter()
    for seed in range(first, last + 1):
        chance = random.Random(seed)
        spec = run("fovea-random", "--print", str(seed)).stdout
        for number in range(options.damages + 1):
            path = options.folder / f"{seed}.{number}.fov"
            path.write_text(damaged(spec, chance) if number else spec)
            done = run("fovea", "check", str(path))
            wrong = problem(done)
            counts["specs"] += 1
            if not wrong and done.returncode == 0:
                counts["accepted"] += 1
                done = run("fovea", "compile", str(path), "--emit", "fingerprint", "--cpu", "x86-64-v3")
                wrong = problem(done)
                counts["compiled"] += done.returncode == 0
                if done.returncode == 1:
                    print(f"{path.name}: {done.stderr.strip().splitlines()[0]}", flush=True)
            if wrong:
                counts["wrong"] += 1
                print(f"WRONG: {path}: {wrong}: {done.stderr.strip()[-300:]}", flush=True)
            else:
                path.unlink()
    print(", ".join(f"{counts[name]} {name}" for name in ("specs", "accepted", "compiled", "wrong")))
    sys.exit(counts["wrong"] > 0)


main()
