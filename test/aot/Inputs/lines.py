"""lines.py MODEL SPEC WORK [CPU..] [-- EMULATOR..]: a model as a program.

It prints what `fovea decode` prints, to the last digit of every score: with
beams, draws and several hypotheses, for each CPU that is named, or for 64-bit
ARM with an emulator. What it shows, it stores with the same bytes. If a line can
hold all data, it prints what `fovea score` prints, too. The models
are those of test/models/tiny.py. The CPU `cuda` is a GPU, on which
`fovea decode` itself prints the same, a few lines at a time.
"""

import filecmp
import os
import random
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", "..", folder))
from parameters import drawn  # noqa: E402
from tensors import write  # noqa: E402
from tiny import BUILT, MODELS, batch  # noqa: E402

# What a line of each model holds; the others take a file of tensors.
LINES = {
    "rnnsearch": ["src"],
    "transformer": ["src"],
    "seq2seq": ["src"],
    "graves": ["text"],
    "snli_gated": ["premise", "hypothesis"],
    "decoder_lm": [],
    "llama": [],
    "multi_token": [],
    "ttt": [],
    "experts": [],
    "block_sparse": [],
    "rnnlm": [],
    "deep_fusion": ["src"],
    "draw": [],
    "vq_vae": [],
    "sketch_rnn": [],
    "hred": ["said"],
}
# What a model generates besides sentences.
GENERATED = {"pointer": ["out"], "memory_soft": ["answer"], "memory_hard": ["support", "answer"],
             "memory_latent": ["answer"], "memory_start": ["answer"], "match": ["found"], "ntm": ["output"], "ram": ["label"],
             "flow_matching": ["image"]}
SHOWS = {"rnnsearch": "align", "caption_soft": "align", "speech": "align"}
FLAGS = [
    [],
    ["--scores", "--beam", "3", "--nbest", "2", "--length-norm", "none"],
    ["--scores", "--sample", "--nbest", "3", "--seed", "5", "--max-length", "9"],
]

REAL = {"graves", "sketch_rnn", "flow_matching"}  # choices of real numbers: no beam

model, spec, work, *cpus = sys.argv[1:]
emulator = cpus[cpus.index("--") + 1:] if "--" in cpus else []
cpus = ["aarch64"] if emulator else cpus
options, data = MODELS[model]
os.makedirs(work, exist_ok=True)
sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
searches = [flags for flags in FLAGS if model not in REAL or "--beam" not in flags]


def place(name):
    return os.path.join(work, name)


def run(*command, text=None):
    result = subprocess.run(command, input=text, capture_output=True, text=True)
    # A machine may have fewer CPUs than threads are asked for.
    said = [line for line in result.stderr.splitlines() if not line.startswith("note: '--threads")]
    if result.returncode or said:
        sys.exit(f"{result.returncode}: {' '.join(command)}\n{result.stderr}")
    return result.stdout


def lines_of(name):
    """Random lines of data, which a file has as well."""
    limit = int(data[name][0].split()[1])
    rows = 3 if "W" in data[name] else 1
    lines = [" | ".join(" ".join(str(draw.randrange(limit)) for _ in range(draw.randrange(1, 8)))
                        for _ in range(line % rows + 1)) for line in range(5 if "cuda" in cpus else 40)]
    with open(place(name), "w") as file:
        file.write("".join(line + "\n" for line in lines))
    return lines


draw, scored = random.Random(7), None
if model in BUILT:
    write(place("w.safetensors"), drawn(spec, sets, 0.6))
else:
    run("fovea", "init", spec, *sets, "--seed", "3", "-o", place("w.safetensors"))
if model in LINES:
    columns = {name: lines_of(name) for name in LINES[model]}
    given = [word for name in columns for word in ("--data", f"{name}={place(name)}")]
    text = "".join("\t".join(row) + "\n" for row in zip(*columns.values()))
    files = []
    if all(kind.split()[0] in ("token", "sentence") for kind, *_ in data.values()):
        scored = [columns.get(name) or lines_of(name) for name in data]
else:
    tensors = batch(data, 2, 0)
    for name in list(tensors):
        key = name.split(".")[0]
        if key in GENERATED.get(model, []) or data[key][0].startswith("sentence"):
            del tensors[name]
    write(place("b.safetensors"), tensors)
    given, text, files = ["--data", place("b.safetensors")], None, [place("b.safetensors")]


def decode(*more):
    return run("fovea", "decode", spec, *sets, "--weights", place("w.safetensors"), *given, *more)


for cpu in cpus or ["native"]:
    if cpu == "cuda":
        for flags in searches:
            stored = [["--show", f"{SHOWS[model]}={place(file)}"] if model in SHOWS else []
                      for file in ("wanted.safetensors", "got.safetensors")]
            few = [] if "--max-length" in flags else ["--max-length", "9"]
            wanted, got = (decode(*flags, *few, *words) for words in (stored[0], [*stored[1], "--target", "cuda"]))
            if got != wanted:
                sys.exit(f"{flags}: the GPU decodes\n{got}but the CPU\n{wanted}")
            if model in SHOWS and not filecmp.cmp(place("got.safetensors"), place("wanted.safetensors"), shallow=False):
                sys.exit(f"{flags}: the GPU shows another '{SHOWS[model]}' than the CPU")
        continue
    program = place("program-" + cpu)
    machine = ["--target" if emulator else "--cpu", cpu]
    shows = ["--show", SHOWS[model]] if model in SHOWS else []
    entries = ["--entry", "loss,decode"] if scored else []
    run("fovea", "compile", spec, *sets, "--weights", place("w.safetensors"), "--emit", "exe", *entries, *shows,
        *machine, "-o", program)
    for flags in searches:
        here = [] if emulator else machine
        stored = shows and ["--show", f"{SHOWS[model]}={place('wanted.safetensors')}"]
        wanted = decode(*flags, *here, *stored)
        stored = shows and ["--show", f"{SHOWS[model]}={place('got.safetensors')}"]
        for threads in "1", "3":
            got = run(*emulator, program, *flags, *files, "--threads", threads, *stored, text=text)
            if got != wanted:
                sys.exit(f"{cpu} {flags}: the program prints\n{got}but fovea decode\n{wanted}")
            if shows and not filecmp.cmp(place("got.safetensors"), place("wanted.safetensors"), shallow=False):
                sys.exit(f"{cpu} {flags}: the program stores another '{SHOWS[model]}' than fovea decode")
        assert wanted, flags
    if scored:
        whole = [word for name in data for word in ("--data", f"{name}={place(name)}")]
        wanted = run("fovea", "score", spec, *sets, "--weights", place("w.safetensors"), *whole)
        lines = "".join("\t".join(row) + "\n" for row in zip(*scored))
        got = run(*emulator, program, "--score", text=lines)
        if got != wanted:
            sys.exit(f"{cpu}: the program scores\n{got}but fovea score\n{wanted}")
    if text:
        # One line after the other is the same.
        lines = "".join(run(*emulator, program, text=line + "\n") for line in text.splitlines()[:5])
        assert run(*emulator, program, text=text).startswith(lines), lines
    if emulator:
        continue
    libraries = [line.split()[0] for line in run("ldd", program).splitlines()]
    extra = [name for name in libraries if not name.startswith(("linux-vdso", "libm.", "libc.", "/lib64/ld-linux"))]
    assert not extra, extra
print(f"{model}: the same")
