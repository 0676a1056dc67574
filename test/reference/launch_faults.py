"""Plants faults into the schedules of a program, one at a time, and shows how each is found.

    launch_faults.py CPU.mlir GPU.mlir

The files hold @grad of the model in launch-faults.test, placed, with its schedule. A fault is a list of edits of the text: (what, instead), (what, "^", line) puts a line ahead
of the one with `what`, and (what, "v", line) after it. `what` is a regular expression for one place.
"""

import random
import re
import subprocess
import sys

RUN8 = r"launch.run compute of 8 "
COST = r"launch.run compute of 14 .cost."

FAULTS = {
    "live range": [
        ("cpu", "ends ahead of a reader", [(r"launch.dealloc %cost", "launch.dealloc %cost, %s")]),
        ("cpu", "ends ahead of its writer", [(COST, "^", "launch.dealloc %cost")]),
        ("cpu", "ends in the first step", [(RUN8, "v", "launch.dealloc %array")]),
        ("cpu", "of an output ends", [(r"launch.dealloc %array_4, %x.packed", "launch.dealloc %d_b.weight")]),
        ("gpu", "of a step's memory is read ahead of it", [(r"(launch.run compute of 8 .*) phase 0", r"\1 phase 9")]),
        ("gpu", "of a list starts anew in each step", [(r"(launch.run list of 8 .*) phase 0", r"\1 phase 9")]),
    ],
    "phase": [
        ("gpu", "nobody waits", [(r"(launch.run compute of 9 .*) phase 1", r"\1 phase 0")]),
        ("gpu", "a turn in place of a phase", [(r"(launch.run compute of 9 .*) phase 1 turn 0", r"\1 phase 0 turn 1")]),
        ("gpu", "a turn too few", [(r"(launch.run compute of 24 .*) turn 1", r"\1 turn 0")]),
        ("gpu", "zeros after their reader", [(r"(launch.run where of 23 .*) phase 1", r"\1 phase 2")]),
        ("gpu", "rows are zero ahead of the product", [(r"(launch.run where of 23 .*) phase 1", r"\1 phase 0")]),
    ],
    "copy": [
        ("cpu", "of other weights", [(r"(launch.run pack of 9 .*)reads\(%a.weight\)", r"\1reads(%b.weight)")]),
        ("cpu", "for another op", [(r"launch.run pack of 24 ", "launch.run pack of 23 ")]),
        ("cpu", "of nothing", [(r"launch.run pack of 9 .*", "")]),
        ("cpu", "not read by the product", [(r"(launch.run compute of 5 .*)%b.weight.packed", r"\1%b.weight")]),
        ("cpu", "is pack's work for a loop", [(r"launch.run compute of 6 ", "launch.run end of 6 ")]),
    ],
    "unit": [
        ("cpu", "one, of what each example has", [(COST + r"(.*)units\(examples %batch\)", r'launch.run compute of 14 "cost"\1units(once)')]),
        ("cpu", "rows of examples", [(r"(launch.run compute of 13 .*)units\(rows %places\)", r"\1units(rows %batch)")]),
        ("cpu", "too many rows", [(r"(launch.run compute of 13 .*)units\(rows %places\)", r"\1units(rows %c16_i64)")]),
        ("cpu", "too few rows of a product", [(r"launch.run compute of 5 ", "^", "%few = launch.batch"), (r"(launch.run compute of 5 .*scalars\()%places", r"\1%few")]),
        ("cpu", "too many rows of a product", [(r"(launch.run compute of 5 .*scalars\()%places", r"\1%c16_i64")]),
        ("cpu", "other terms of a product", [(r"(launch.run compute of 5 .*scalars\(%places, )%c16_i64", r"\1%places")]),
        ("cpu", "examples, of what a batch has once", [(r"(launch.run compute of 16 .*)units\(once\)", r"\1units(examples %batch)")]),
        ("cpu", "more rows than examples in a step", [(r"(launch.run compute of 8 .*)scalars\(%n\)(.*)tiles %n", r"\1scalars(%c16_i64)\2tiles %c16_i64")]),
        ("cpu", "without its workspace", [(r"(launch.run compute of 8 .*)scratch\(%room\)", r"\1")]),
        ("cpu", "one reads what another one writes", [(r"location<own 11>", "location<own 10>"), (rf"({COST} by @\S+) reads\(%array_0\) writes\(%cost\)", r"\1 updates(%array_0)"), (r"(launch.run compute of 15 .*)reads\(%cost\)", r"\1reads(%array_0)")]),
    ],
    "index": [
        ("cpu", "of another output's memory", [(r"location<own 25>", "location<own 23>"), (r"(launch.run compute of 30 .*)writes\(%d_b.weight\)", r"\1writes(%d_a.weight)")]),
        ("cpu", "of rows that are one", [(r'("s" at 20 of memory 8 : made) each', r"\1 once")]),
        ("cpu", "of an array in a memory of one element", [(r'("cost" at 25 of memory 11 : made each )\["T"\]', r"\1[]")]),
        ("cpu", "of a row that the loop does not have", [(r"location<row 8>", "location<row 20>")]),
        ("cpu", "of a carry that another loop has", [(r"attn.location<carry 8>", "attn.location<carry 20>")]),
        ("cpu", "of the row of another loop", [(r"launch.for in .T. of 7 ", 'launch.for in "T" of 6 ')]),
        ("cpu", "of an op that is not there", [(r"launch.run compute of 30 ", "launch.run compute of 99 ")]),
        ("cpu", "of data in a memory of another size", [(r'("y" at 9 of memory 1 : given each )\["T", 16\]', r'\1["T"]')]),
        ("cpu", "of a memory that the run does not name", [(r"(launch.run compute of 13 .*reads\(%s), %y", r"\1, %s")]),
        ("cpu", "of a memory that the run does not write", [(r"(launch.run compute of 15 .*reads\(%cost\)) writes\(%array_1\)", r"\1 writes(%cost)")]),
    ],
    "kernel": [
        ("cpu", "that is not there", [(rf"({COST} by) @cost", r"\1 @costs")]),
        ("cpu", "of other work", [(rf"({COST} by) @cost", r"\1 @pack")]),
        ("cpu", "with another number of memories", [(rf"({COST} by) @cost", r"\1 @nll")]),
        ("cpu", "with memories of other forms", [(r"(launch.kernel @cost .*writes\()each .*\)", r"\1once [3] x f32)")]),
    ],
}


def edited(text, edits):
    for what, *how in edits:
        places = list(re.finditer(what, text))
        assert len(places) == 1, (what, len(places))
        start, end = places[0].span()
        if len(how) == 1:
            text = text[:start] + places[0].expand(how[0]) + text[end:]
        elif how[0] == "^":
            at = text.rindex("\n", 0, start) + 1
            text = text[:at] + how[1] + "\n" + text[at:]
        else:
            at = text.index("\n", end) + 1
            text = text[:at] + how[1] + "\n" + text[at:]
    return text


def with_kernels(text):
    """The text with kernels that take what runs give to them: otherwise the verifier finds most faults."""
    forms = dict(re.findall(r"(%\S+) = launch.memory .* : [a-z]+ (.*)", text))
    runs = {run["name"]: run for run in re.finditer(r'launch.run (?P<work>\w+) of (?P<op>\d+).* by (?P<name>@\w\S*|@".*?")(?P<rest> .*)', text)}

    def kernel(match):
        run = runs.get(match["name"])
        if not run:
            return match[0]
        line = f"launch.kernel {run['name']} {run['work']} of {run['op']}"
        if scalars := re.search(r" scalars\((.*?)\)", run["rest"]):
            line += f" scalars({len(scalars[1].split(', '))})"
        for name, memories in re.findall(r" (reads|writes|updates|scratch)\((.*?)\)", run["rest"]):
            line += f" {name}({', '.join(forms[memory] for memory in memories.split(', '))})"
        return line

    return re.sub(r'launch.kernel (?P<name>@\w\S*|@".*?") .*', kernel, text)


def drawn(rows):
    return [[round(random.uniform(-1, 1), 3) for _ in range(16)] for _ in range(rows)]


def main(cpu, gpu):
    texts = {"cpu": open(cpu).read(), "gpu": open(gpu).read()}
    random.seed(1)
    inputs = {"x": drawn(3), "y": drawn(3), "a.weight": drawn(16), "b.weight": drawn(16), "seed.penalty": 1}
    arguments = ["--length", "T=3", "--copies", "2"]
    for name, value in inputs.items():
        arguments += ["--input", f"{name}={value}"]

    def evaluated(text):
        path = cpu + ".fault.mlir"
        with open(path, "w") as file:
            file.write(text)
        return subprocess.run(["fovea-eval", path, "--entry", "grad", "--launches", *arguments],
                              capture_output=True, text=True, check=False)

    for text in texts.values():
        assert evaluated(text).returncode == 0
    for group, faults in FAULTS.items():
        for target, what, edits in faults:
            text = edited(texts[target], edits)
            done = evaluated(text if group == "kernel" else with_kernels(text))
            first = done.stderr.splitlines()[0] if done.stderr else "nobody notices"
            print(f"{group} {what}: {re.sub('.*error: |[^ ]*mlir:[0-9:]* ', '', first)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
