"""Plants wrong rewrites into programs, and shows that a proof refuses those that change a result.

    mutants.py WORK_DIRECTORY NUMBER [--seed SEED] [--verbose]

Each rewrite changes one place of the IR of a model after a phase. `fovea-eval --same-as` compares the
trees of both, and numbers: f64 for several inputs, and the bits of f32.
"""

import argparse
import collections
import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import tiny  # noqa: E402

# Models, the entry, and the phase after which they are changed.
PLACES = [
    ("rnnsearch", "grad", "fuse"),
    ("rnnsearch", "loss", "derive"),
    ("transformer", "grad", "kernels"),
    ("experts", "grad", "fuse"),
    ("luong_local_m", "loss", "schedule"),
    ("ntm", "grad", "memory"),
]


def once(replacement):
    """Replaces a match in a line."""
    return lambda line, match, draw, text: line[: match.start()] + match.expand(replacement) + line[match.end():]


def moved(line, match, draw, text):
    """Reads one place before or after, with an op ahead of the read."""
    indices = match.group(2).split(", ")
    number = draw.randrange(len(indices))
    indent = line[: len(line) - len(line.lstrip())]
    op = draw.choice(("addi", "subi"))
    ahead = (f"{indent}%one_m = arith.constant 1 : index\n"
             f"{indent}%moved_m = arith.{op} {indices[number]}, %one_m : index\n")
    indices[number] = "%moved_m"
    return ahead + line[: match.start(2)] + ", ".join(indices) + line[match.end(2):]


def swapped(line, match, draw, text):
    indices = match.group(2).split(", ")
    if len(indices) < 2:
        return line
    a, b = draw.sample(range(len(indices)), 2)
    indices[a], indices[b] = indices[b], indices[a]
    return line[: match.start(2)] + ", ".join(indices) + line[match.end(2):]


def other_array(line, match, draw, text):
    """Reads another array of the same type, which the whole program knows."""
    kind = line[line.rindex(":"):].strip()
    ahead = text[: text.index(line)]
    known = [name for name, own in re.findall(r"^  (%[\w.]+) = attn\.(?:param|data) .*(: !attn\.array<.*>)$", ahead, re.M)
             if own == kind and name != match.group(1)]
    return line[: match.start(1)] + draw.choice(known) + line[match.end(1):] if known else line


def other_constant(line, match, draw, text):
    value = match.group(1)
    if "." in value:
        return line[: match.start(1)] + repr(float(value) + draw.choice((1.0, -0.5, 1e-5))) + line[match.end(1):]
    return line[: match.start(1)] + str(int(value) + draw.choice((1, -1))) + line[match.end(1):]


def other_value(line, match, draw, text):
    """Yields an earlier number of the block."""
    ahead = text[: text.index(line)].splitlines()
    found = []
    for earlier in reversed(ahead):
        if earlier.rstrip().endswith("{"):
            break
        own = re.match(r"\s+(%[\w.]+) = .*: f64$|\s+(%[\w.]+) = attn\.read .*, f64>$", earlier)
        if own:
            found.append(own.group(1) or own.group(2))
    found = [name for name in found if name != match.group(1)]
    return line[: match.start(1)] + draw.choice(found) + line[match.end(1):] if found else line


READ = r"attn\.read (%[\w.#]+)\[([^\]]+)\]"
KINDS = {
    "another operator": [
        (r"arith\.addf ", once("arith.subf ")), (r"arith\.subf ", once("arith.addf ")),
        (r"arith\.mulf ", once("arith.addf ")), (r"arith\.divf ", once("arith.mulf ")),
        (r"arith\.maximumf ", once("arith.minimumf ")),
    ],
    "swapped operands": [(r"(arith\.(?:subf|divf)) (%[\w.]+), (%[\w.]+)", once(r"\1 \3, \2")),
                         (r"(arith\.select %[\w.]+), (%[\w.]+), (%[\w.]+)", once(r"\1, \3, \2"))],
    "another function": [(r"math\.tanh ", once("math.exp ")), (r"attn\.sigmoid ", once("math.tanh ")),
                         (r"math\.exp ", once("math.tanh ")), (r"math\.(log|sqrt|rsqrt) ", once("math.sin "))],
    "another constant": [(r"arith\.constant (-?[\d.]+(?:e[-+]\d+)?) : (?:f64|index|i64)", other_constant)],
    "a moved read": [(READ, moved)],
    "swapped indices": [(READ, swapped)],
    "another array": [(READ, other_array)],
    "a dropped guard": [(r"arith\.cmpi \w+, (%[\w.]+), %[\w.]+", once(r"arith.cmpi eq, \1, \1"))],
    "another comparison": [(r"arith\.cmpi slt,", once("arith.cmpi sle,")),
                           (r"arith\.cmpi sge,", once("arith.cmpi sgt,")),
                           (r"arith\.cmpi eq,", once("arith.cmpi ne,"))],
    "another order": [(r"order\(chain, fused\)", once("order(chain)")),
                      (r"order\(lanes %[\w.]+", once("order(chain")),
                      (r"order\(chain\)", once("order(chain, fused)"))],
    "another reducer": [(r"\) sum \(", once(") max (")), (r"\) softmax \(", once(") log_softmax (")),
                        (r"\) max \(", once(") min ("))],
    "another result": [(r"attn\.yield (%[\w.]+) : f64", other_value)],
}


def mutant(text, entry, draw):
    """A kind and a changed text; nothing where this kind has no place."""
    kind = draw.choice(sorted(KINDS))
    begin = text.index(f" @{entry}")
    places = []
    for pattern, change in KINDS[kind]:
        places += [(match, change) for match in re.finditer(pattern, text[begin:])]
    if not places:
        return kind, None
    match, change = draw.choice(places)
    start = text.rfind("\n", 0, begin + match.start()) + 1
    end = text.index("\n", begin + match.end())
    line = text[start:end]
    offset = begin + match.start() - start
    again = re.compile(match.re.pattern).match(line, offset)
    changed = change(line, again, draw, text[:end])
    return kind, None if changed == line else text[:start] + changed + text[end:]


def compiled(model, entry, phase, path):
    sets = [word for k, v in tiny.MODELS[model][0].items() for word in ("--set", f"{k}={v}")]
    spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
    subprocess.run(["fovea", "compile", spec, *sets, "--entry", entry, "--emit", "mlir", "--stop-after", phase,
                    "-o", path], check=True)
    with open(path, encoding="utf-8") as file:
        return file.read()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("number", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verbose", action="store_true")
    given = parser.parse_args()
    os.makedirs(given.work, exist_ok=True)
    draw = random.Random(given.seed)
    bases = []
    for number, (model, entry, phase) in enumerate(PLACES):
        path = os.path.join(given.work, f"{number}.mlir")
        bases.append((model, entry, phase, path, compiled(model, entry, phase, path)))
    changed = os.path.join(given.work, "changed.mlir")
    table = collections.defaultdict(collections.Counter)
    seen = set()
    count = 0
    while count < given.number:
        model, entry, phase, path, text = draw.choice(bases)
        kind, rewritten = mutant(text, entry, draw)
        if rewritten is None or rewritten in seen:
            continue
        seen.add(rewritten)
        with open(changed, "w", encoding="utf-8") as file:
            file.write(rewritten)
        done = subprocess.run(["fovea-eval", path, "--entry", entry, "--same-as", changed, "--phase", phase],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            assert done.returncode == 1, done.stderr
            continue  # the verifier refuses it
        count += 1
        trees, numbers = (line.split(": ", 1)[1] for line in done.stdout.splitlines())
        result = ("equal" if trees == "equal" else "refused", numbers)
        table[kind][result] += 1
        if given.verbose or result == ("equal", "differ"):
            before, after = text.splitlines(), rewritten.splitlines()
            place = next(i for i, (a, b) in enumerate(zip(before, after)) if a != b)
            print(f"{model} {phase}: {kind}: {before[place].strip()} -> {after[place].strip()}\n  {trees}; {numbers}")
    total = collections.Counter()
    for kind in sorted(table):
        own = table[kind]
        total.update(own)
        print(f"{kind}: {sum(own.values())} planted, {own['refused', 'differ']} change a result and are refused, "
              f"{own['refused', 'equal']} more are refused, {own['equal', 'equal']} change nothing, "
              f"{own['equal', 'differ']} are missed")
    print(f"{sum(total.values())} planted: {total['refused', 'differ']} of "
          f"{total['refused', 'differ'] + total['equal', 'differ']} that change a result are refused, "
          f"{total['equal', 'equal']} change nothing, {total['refused', 'equal']} are refused though numbers are equal")
    sys.exit(total["equal", "differ"] != 0)


if __name__ == "__main__":
    main()
