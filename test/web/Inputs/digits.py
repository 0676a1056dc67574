"""digits.py MODELS WORK PAGE [MODEL ..]: which digits differ on WebAssembly, for each model.

Compiles a page and a program of each model that tiny.py has sizes for, with the same random
weights. Prints how many log p, of how many answers, have other digits among the first ten, and
whether the table of PAGE, docs/CODEGEN.md, says the same.
"""

import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", "..", folder))
from tiny import MODELS  # noqa: E402


def run(*command):
    result = subprocess.run(command, capture_output=True, text=True)
    return result.returncode, result.stdout, result.stderr


def value(draw, kind):
    name, *size = kind.split()
    if name == "real":
        return f"{draw.uniform(-1, 1):.4f}"
    return str(draw.randrange(2 if name == "bit" else int(size[0]) if size and size[0].isdigit() else 1))


def field(draw, kind, *axes):
    """Numbers with spaces between positions, commas in one, and bars between outer rows."""
    sizes = [axis for axis in axes if isinstance(axis, int)]
    lengths = [axis for axis in axes if not isinstance(axis, int)]
    count = sizes[0] if sizes else 1

    def row():
        return " ".join(",".join(value(draw, kind) for _ in range(count)) for _ in range(draw.randrange(1, 6)))
    if not lengths:
        return value(draw, kind)
    return row() if len(lengths) == 1 else " | ".join(row() for _ in range(draw.randrange(1, 4)))


def digits_of(models, work, name):
    spec, draw = os.path.join(models, name + ".fov"), random.Random(7)
    sets = [word for key, size in MODELS[name][0].items() for word in ("--set", f"{key}={size}")]
    weights, program, page, lines = (os.path.join(work, name + end) for end in (".safetensors", "", ".page", ".lines"))
    code, _, mistake = run("fovea", "init", spec, *sets, "--seed", "3", "-o", weights)
    if code:
        return "reads weights"
    code, _, mistake = run("fovea", "compile", spec, *sets, "--weights", weights, "--emit", "web", "-o", page)
    if code:
        return "no page: " + mistake.split("error: ")[-1].split("\n")[0]
    run("fovea", "compile", spec, *sets, "--weights", weights, "--emit", "exe", "-o", program)
    about = re.sub(r"\s+", " ", run(program, "--help")[1])
    if "names a file" in about:
        return "files (test/web/files.test)"
    inputs = re.search(r"holds ([\w, ]+?)(, separated by tabs)?\. ", about)
    names = inputs[1].split(", ") if inputs else []
    with open(lines, "w") as file:
        for _ in range(6 if names else 1):
            file.write("\t".join(field(draw, *MODELS[name][1][one]) for one in names) + "\n")
    code, said, mistake = run(sys.executable, "-B", os.path.join(HERE, "page.py"), "node",
                              os.path.join(page, "index.html"), program, lines, "2")
    found = re.search(r"the same: (\d+) answers, (\d+) with other digits", said)
    return f"{found[2]} of {found[1]}" if found else "other answers: " + (mistake or said).strip().split("\n")[-1]


def row_of(found):
    """The row of the table in which a model stands."""
    differing, of, total = found.partition(" of ")
    if not of:
        return {"files": "not compared, reads files", "no": "no page"}.get(found.split()[0], "not compared, " + found)
    if total == "0":
        return "not compared, answers without log p"
    return "none" if differing == "0" else "some or all"


def listed(page):
    """The row of each model in the table."""
    with open(page, encoding="utf-8") as file:
        table = file.read().split("| log p with other digits | models |")[1].split("\n\n")[0]
    rows = (line.strip("| ").split(" | ") for line in table.splitlines()[2:])
    return {model: row for row, models in rows for model in re.findall(r"`(\w+)`", models)}


def main(models, work, page, *only):
    os.makedirs(work, exist_ok=True)
    names = only or sorted(file[:-4] for file in os.listdir(models) if file.endswith(".fov"))
    rows, wrong = listed(page), 0
    for name in filter(MODELS.__contains__, names):
        found = digits_of(models, work, name)
        print(f"{name}: {found}", flush=True)
        if rows.get(name) != row_of(found):
            wrong += 1
            print(f"{name}: the page says {rows.get(name, 'nothing')}, not {row_of(found)}", flush=True)
    print(f"{wrong} rows are wrong")


main(*sys.argv[1:])
