"""Interprets the launches of the programs of decoders, each with random inputs.

    decoder_launches.py WORK_DIRECTORY OPTION.. -- MODEL..

OPTION are options of `fovea compile`, such as `--target cuda`. Models have the sizes of tiny.py. The
schedule gives the bits of the interpreter of programs, or it is an error.
"""

import os
import random
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import tiny  # noqa: E402

INPUT = re.compile(r'attn\.(?:data|param) "([^"]+)" \{.*\} : !attn\.array<\[(.*)\], (\w+)>')


def scheduled(model, options, work):
    """The programs of a decoder with their schedules."""
    spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
    sizes = [word for k, v in tiny.MODELS[model][0].items() for word in ("--set", f"{k}={v}")]
    placed, path = (os.path.join(work, model + end) for end in (".placed.mlir", ".mlir"))
    subprocess.run(["fovea", "compile", spec, *sizes, "--entry", "decode", "--emit", "mlir", "--stop-after", "memory",
                    *options, "-o", placed], check=True)
    target = "cuda:sm_80" if "cuda" in options else "x86-64-v3"
    subprocess.run(["fovea-opt", placed, f"--fovea-schedule-launches=target={target}", "--canonicalize", "--cse",
                    "-o", path], check=True)
    return path


def drawn(shape, element):
    if not shape:
        return random.randrange(2) if element != "f64" else round(random.uniform(-1, 1), 3)
    return [drawn(shape[1:], element) for _ in range(shape[0])]


def arguments(program):
    """Random inputs; a length has 3 places."""
    words = []
    for length in re.findall(r'attn\.length "([^"]+)"$', program, re.M):
        words += ["--length", f"{length}=3"]
    for name, axes, element in INPUT.findall(program):
        shape = [int(axis) if axis.strip().isdigit() else 3 for axis in axes.split(",") if axis.strip()]
        words += ["--input", f"{name}={drawn(shape, element)}"]
    return words


def main(work, *rest):
    options = rest[:rest.index("--")]
    os.makedirs(work, exist_ok=True)
    failures = 0
    for model in rest[len(options) + 1:]:
        path = scheduled(model, options, work)
        with open(path) as file:
            parts = re.split(r"^  attn\.program @", file.read().split("  launch.program")[0], flags=re.M)
        random.seed(1)
        for program in parts[1:]:
            entry = re.match(r"[\w.$]+", program).group()
            # The interpreter has no rows of all steps, which @finish reads.
            if entry == "finish":
                continue
            done = subprocess.run(["fovea-eval", path, "--entry", entry, "--launches", "--copies", "2",
                                   *arguments(program)], capture_output=True, text=True, check=False)
            failures += done.returncode != 0
            print(f"{model} @{entry}: {done.stderr.strip() or 'agrees'}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
