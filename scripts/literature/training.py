"""Trainings that are run once, and tables of what they give."""

import json
import os
import pathlib
import re
import resource
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
FOVEA = os.environ.get("FOVEA", str(ROOT / "build/bin/fovea"))
ADAM = {"train.optimiser": "adam", "train.rate": 0.002, "train.clip": 1}
OVERRIDES = {}  # settings that replace those of every training
TABLES = []  # what was printed: heads and rows
DONE = []  # functions of a training, called when it is finished


def run(*command):
    process = subprocess.Popen([FOVEA, *map(str, command)], stdout=subprocess.PIPE, text=True)
    try:
        said, _ = process.communicate()
    except BaseException:
        process.wait()  # what ends this program ends that one too, which saves first
        raise
    if process.returncode:
        raise subprocess.CalledProcessError(process.returncode, process.args)
    return said.splitlines()


def seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def files(data):
    return ",".join(f"{name}={path}" for name, path in data.items())


class Training:
    """A model that is trained, or was before. What was cut off goes on."""

    def __init__(self, folder, name, spec, data, valid, updates, sets, metric="none", more=(), validations=4):
        self.out, self.sets = folder / name, sets | OVERRIDES
        shutil.copytree(ROOT / "models", folder / "specs", dirs_exist_ok=True)
        self.spec = folder / "specs" / f"{name}-own.fov"
        self.spec.write_text(spec, encoding="utf-8")
        result = self.out / "result.json"
        self.found = json.loads(result.read_text()) if result.exists() else {}
        if self.found.get("updates") != updates:
            self.train(result, data, valid, updates, metric, more, validations)
        for function in DONE:
            function(self)

    def train(self, result, data, valid, updates, metric, more, validations):
        if self.found:
            shutil.rmtree(self.out)
        self.out.mkdir(exist_ok=True)
        spent = self.out / "cpu"  # seconds
        earlier = float(spent.read_text()) if spent.exists() else 0
        words = [word for key, value in self.sets.items() for word in ("--set", f"{key}={value}")]
        every = str(max(1, updates // validations))
        before = seconds()
        try:
            run("train", self.spec, "--data", files(data), "--valid", files(valid), "--metric", metric,
                "--steps", updates, "--valid-every", every, "--report-every", every, "--threads", 1,
                "--out", self.out, "--resume", *words, *more)
        finally:
            spent.write_text(str(earlier + seconds() - before))
        log = [json.loads(line) for line in (self.out / "log.jsonl").read_text().splitlines()]
        best = [line for line in log if line.get("best")][-1]
        self.found = {"updates": updates, "cpu": float(spent.read_text()), **best}
        result.write_text(json.dumps(self.found))

    def decode(self, data, *more):
        return run("decode", self.out, "--data", files(data), "--threads", 1, *more)

    def decode_by(self, spec, data, *more):
        """With the weights of the training, by another spec."""
        sets = [word for key, value in self.sets.items() if not key.startswith("train.")
                for word in ("--set", f"{key}={value}")]
        return run("decode", spec, "--weights", self.out / "model.safetensors", "--data", files(data), "--threads", 1,
                   *sets, *more)

    def score(self, data):
        rows = run("score", self.out, "--data", files(data), "--threads", 1, "--json")
        return [json.loads(row) for row in rows]


def chosen(kinds, only):
    """Of the kinds, each a name or a row that begins with one, those that `--only` names; all without it."""
    names = [kind if isinstance(kind, str) else kind[0] for kind in kinds]
    unknown = [name for name in only if name not in names]
    if unknown:
        sys.exit(f"--only {unknown[0]}: the task has no such row; help: one of {', '.join(names)}")
    return [kind for name, kind in zip(names, kinds, strict=True) if not only or name in only]


SEEDS = [1, 2, 3]


def trials(folder, name, *given, more=(), seeds=SEEDS, **named):
    """The same training with each seed."""
    return [Training(folder, f"{name}-{seed}", *given, more=[*more, "--seed", seed], **named) for seed in seeds]


def spread(values, digits=1):
    """The mean of all seeds, and their range; one value alone."""
    low, high = min(values), max(values)
    return f"{values[0]:.{digits}f}" if len(values) == 1 else f"{sum(values) / len(values):.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def all_minutes(trainings):
    return f"{sum(one.found['cpu'] for one in trainings) / 60:.1f} min"


def table_lines(heads, rows):
    def line(row):
        return "| " + " | ".join(map(str, row)) + " |"
    return [line(heads), "|" + "---|" * len(heads), *map(line, rows)]


def table(heads, rows):
    TABLES.append((heads, rows))
    print(*table_lines(heads, rows), sep="\n", flush=True)


def wrong(made, wanted):
    """Per cent of the lines."""
    return 100 * sum(a.split() != b.split() for a, b in zip(made, wanted, strict=True)) / len(wanted)


def percent(part, whole):
    return f"{100 * part / whole:.1f} %"


def equality(made, wanted):
    return 100 * sum(a.split() == b.split() for a, b in zip(made, wanted, strict=True)) / len(wanted)


def equal(made, wanted):
    return f"{equality(made, wanted):.1f} %"


def lines(path, rows):
    path.write_text("".join(row + "\n" for row in rows), encoding="utf-8")
    return path


def rates(made, wanted, folder, metric, *more):
    hyp, ref = lines(folder / "hyp", made), lines(folder / "ref", wanted)
    text = run("eval", metric, "--hyp", hyp, "--ref", ref, "--digits", 2, *more)[0]
    return float(re.search(r"= ([0-9.]+)", text)[1])
