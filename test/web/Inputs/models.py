"""models.py WORK MODEL..: models of models/, at tiny sizes, as pages.

Of each, a page and a program are compiled with the same random weights, and
page.py compares what they answer. The sizes are those of test/models/tiny.py.
"""

import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
MODELS_FOLDER = os.path.join(HERE, "..", "..", "..", "models")
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", "..", folder))
from tiny import MODELS  # noqa: E402

# What a line holds: symbols below a number, or points.
LINES = {
    "transformer": [7],
    "seq2seq": [7],
    "coverage": [7],
    "snli_gated": [7, 7],
    "pointer": ["points"],
    "decoder_lm": [],
}


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    if result.returncode:
        sys.exit(f"{result.returncode}: {' '.join(command)}\n{result.stderr}")
    return result.stdout


def column(draw, kind):
    count = draw.randrange(1, 8)
    if kind == "points":
        return " ".join(f"{draw.uniform(-1, 1):.4f},{draw.uniform(-1, 1):.4f}" for _ in range(count))
    return " ".join(str(draw.randrange(kind)) for _ in range(count))


work, *names = sys.argv[1:]
os.makedirs(work, exist_ok=True)
for name in names:
    spec, draw = os.path.join(MODELS_FOLDER, name + ".fov"), random.Random(7)
    sets = [word for key, value in MODELS[name][0].items() for word in ("--set", f"{key}={value}")]
    weights, program, page, lines = (os.path.join(work, name + end) for end in (".safetensors", "", ".page", ".lines"))
    run("fovea", "init", spec, *sets, "--seed", "3", "-o", weights)
    run("fovea", "compile", spec, *sets, "--weights", weights, "--emit", "exe", "-o", program)
    run("fovea", "compile", spec, *sets, "--weights", weights, "--emit", "web", "-o", page)
    with open(lines, "w") as file:
        for _ in range(12 if LINES[name] else 1):
            file.write("\t".join(column(draw, kind) for kind in LINES[name]) + "\n")
    print(run(sys.executable, "-B", os.path.join(HERE, "page.py"), "node", os.path.join(page, "index.html"), program,
              lines, "3"), end="", flush=True)
