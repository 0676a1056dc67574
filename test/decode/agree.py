"""Decodes with compiled code and with the interpreter.

    agree.py MODEL MODELS_DIRECTORY WORK_DIRECTORY [NAME | members=N | prefix=LINE]..

NAMEs are shown. With `members` an ensemble decodes; with `prefix` the first
example begins with this line, and the second with nothing.

The sizes and data are those of test/models/tiny.py. In f64, words are the same
and log p and what is shown agree to 1e-10: greedily, with beams, with several
hypotheses, and with draws, for this CPU and with AVX2. What comes of an example
does not depend on its batch nor on the number of threads. In f32, words are the
same wherever the search never stood between two values that are closer than its
errors.
"""

import math
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "models"), os.path.join(HERE, "..", "golden")]
import tiny  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402

WAYS = [
    [],
    ["--max-length", "1"],
    ["--beam", "3", "--nbest", "3"],
    ["--beam", "12", "--nbest", "12", "--length-norm", "per_symbol", "--max-length", "6"],
    ["--beam", "4", "--length-norm", "gnmt(0.8)", "--min-length", "3", "--max-length", "7"],
    ["--sample", "--seed", "3", "--nbest", "4", "--max-length", "8"],
    ["--sample", "--seed", "4", "--nbest", "2", "--temperature", "0.7", "--top-k", "3", "--min-length", "2"],
    ["--sample", "--seed", "5", "--nbest", "2", "--top-p", "0.6", "--max-length", "9"],
]
NARROW = ["--cpu", "x86-64-v3"]  # vectors of half the length
REAL = {"graves"}  # choices of real numbers: no beam


def lines(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stderr}"
    return [line.split("\t") for line in done.stdout.splitlines()]


def compare(ours, wanted, where, tolerance, exact=True):
    assert len(ours) == len(wanted), f"{where}: {len(ours)} lines, not {len(wanted)}"
    for one, other in zip(ours, wanted):
        assert len(one) == len(other), (where, one, other)
        for a, b in zip(one, other):
            try:
                numbers = [float(x) for x in a.replace(",", " ").split()], [float(x) for x in b.replace(",", " ").split()]
            except ValueError:
                numbers = None
            close = numbers and len(numbers[0]) == len(numbers[1]) and all(
                abs(x - y) <= tolerance * max(1, abs(y)) for x, y in zip(*numbers))
            assert a == b or close, f"{where}: {one}, not {other}"


def compare_shown(ours, wanted, where):
    assert set(ours) == set(wanted), where
    for name in wanted:
        assert ours[name].shape == wanted[name].shape, (where, name, ours[name].shape, wanted[name].shape)
        for a, b in zip(ours[name].values, wanted[name].values):
            assert abs(a - b) <= 1e-10 * max(1, abs(b)), f"{where}: {name} {a}, not {b}"


def main(model, models, work, *shows):
    options, data = tiny.MODELS[model]
    spec = os.path.join(models, model + ".fov")
    sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
    os.makedirs(work, exist_ok=True)
    listed = subprocess.run(["fovea", "params", spec, *sets], check=True, capture_output=True, text=True).stdout
    draw, parameters = random.Random(1), {}
    settings = dict(word.split("=", 1) for word in shows if "=" in word)
    shows = [word for word in shows if "=" not in word]
    files, inputs = [], os.path.join(work, "b.safetensors")
    for member in range(int(settings.get("members", 1))):
        for line in listed.splitlines():
            name, _, extents = line.split("\t")
            shape = [int(x) for x in extents.strip("[]").split(",") if x.strip()]
            parameters[name] = Tensor("F64", shape, [draw.uniform(-0.9, 0.9) for _ in range(math.prod(shape))])
        files.append(os.path.join(work, f"w{member}.safetensors"))
        write(files[-1], parameters)
    weights = [word for file in files for word in ("--weights", file)]
    prefixes = {}
    if "prefix" in settings:
        for name, text in {inputs: settings["prefix"] + "\n\n", "b0": settings["prefix"] + "\n", "b1": "\n"}.items():
            prefixes[name] = os.path.join(work, os.path.basename(name) + ".prefix")
            with open(prefixes[name], "w") as out:
                out.write(text)
    tensors = tiny.batch(data, 2, 0)
    tensors["example"] = Tensor("I64", [tiny.BATCH], [7, 3])
    write(inputs, tensors)
    alone = []
    for example in range(tiny.BATCH):
        one = {}
        for name, tensor in tensors.items():
            size = len(tensor.values) // tiny.BATCH
            one[name] = Tensor(tensor.dtype, [1, *tensor.shape[1:]], tensor.values[example * size:(example + 1) * size])
        alone.append(os.path.join(work, f"b{example}.safetensors"))
        write(alone[-1], one)

    given = any(kind.split()[0] != "sentence" for kind, *_ in data.values())  # what is not generated
    if not given:
        alone = []

    def command(way, how, file=inputs):
        prefix = prefixes.get(file) or prefixes.get(os.path.basename(file).split(".")[0])
        return ["fovea", "decode", spec, *sets, *weights, *(["--data", file] if given else []), "--scores",
                *(["--prefix", prefix] if prefix else []), *way, *how]

    count = 0
    for way in WAYS:
        if model in REAL and "--beam" in way:
            continue
        nbest = [] if "--nbest" in way else ["--nbest", "1"]
        way = [*way, *nbest]
        shown = [os.path.join(work, f"{who}.safetensors") for who in ("ours", "wanted")]
        show = [[w for name in shows for w in ("--show", f"{name}={file}")] for file in shown]
        wanted = lines(command([*way, *show[1]], ["--reference"]))
        where = f"{model} {' '.join(way)}"
        by_cpu = []
        for cpu in [], NARROW:
            own = lines(command([*way, *show[0]], ["--dtype", "f64", "--threads", "2", *cpu]))
            compare(own, wanted, f"{where} {' '.join(cpu)}", 1e-9)
            by_cpu.append(own)
            if shows:
                compare_shown(read(shown[0]), read(shown[1]), f"{where} {' '.join(cpu)}")
        ours = by_cpu[0]
        for threads in "1", "3":
            other = lines(command(way, ["--dtype", "f64", "--threads", threads]))
            assert other == ours, f"{where}: {threads} threads give {other}, not {ours}"
        for example, file in enumerate(alone):
            own = [[str(example + 1), *line[1:]] for line in lines(command(way, ["--dtype", "f64"], file))]
            together = [line for line in ours if line[0] == str(example + 1)]
            assert own == together, f"{where}: example {example} alone gives {own}, not {together}"
        # f32 may choose another way only where the two are as good.
        for how in [], NARROW:
            single = lines(command(way, how))
            if "--sample" in way or model in REAL:
                continue
            best = {}
            for line in ours:
                best.setdefault(line[0], float(line[1]))
            for line in single:
                if line[0] in best:
                    assert abs(float(line[1]) - best.pop(line[0])) < 1e-3, f"{where}: f32 {how} {single}, not {ours}"
        count += len(ours)
    print(f"{model}: {count} hypotheses agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
