"""Interprets the launches of models, and compares compiled code with them after each launch.

    launches.py WORK_DIRECTORY SIZES WHAT[,WHAT..] HOW.. -- [MODEL..]

SIZES is tiny (those of tiny.py) or wide (those of wide.py). HOW are options of `fovea run --launches`.
The models are those of tiny.py, or the named ones; a file of a spec has the data of bits.py.
"""

import itertools
import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
import tiny  # noqa: E402

TINY = dict(tiny.LENGTHS)
import bits  # noqa: E402
from bits import prepared  # noqa: E402


def tiny_options(model):
    return [word for k, v in tiny.MODELS[model][0].items() for word in ("--set", f"{k}={v}")]


def main(work, sizes, gets, *rest):
    how = list(itertools.takewhile(lambda word: word != "--", rest))
    if sizes == "tiny":
        bits.options = tiny_options
        tiny.LENGTHS = TINY
    failures = 0
    models = rest[len(how) + 1:] or tiny.TRAINED
    for model in models:
        model, arguments, out = prepared(model, work)
        command = ["fovea", "run", *arguments, "--get", *gets.split(","), "--launches", *how]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        failures += done.returncode != 0
        print(f"{model}: {done.stderr.strip() or 'agrees'}", flush=True)
    print(f"{len(models) - failures} of {len(models)} agree")
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
