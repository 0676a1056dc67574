"""Leaves out random subsets of the passes that may be left out: the results keep their bits.

    leave_out.py WORK_DIRECTORY SUBSETS WHAT[,WHAT..] [MODEL..]

WHAT is what `fovea run --get` takes, or `decode`: hypotheses of a beam and draws, with all digits
of their log p. With SUBSETS = each, every pass is left out alone. Models and sizes are those of
bits.py, and for `decode` those of test/decode/same_bits.py that generate.
"""

import os
import random
import re
import subprocess
import sys

from bits import HERE, count, end, every, prepared, read

sys.path.append(os.path.join(HERE, "..", "decode"))
import same_bits  # noqa: E402

FOLDER = os.path.join(HERE, "..", "..", "models")


def subsets_of(passes, subsets, model):
    draw = random.Random(model)
    if subsets == "each":
        return [[name] for name in passes]
    return [[name for name in passes if draw.random() < 0.5] for _ in range(int(subsets))]


def passes_of(said):
    """What may be left out is listed where it is not known."""
    return re.search(r"help: leave out (.*) \[E", said)[1].split(", ")


def decode(work, subsets, *models):
    differing = compared = 0
    os.makedirs(work, exist_ok=True)
    for name in models or [name for name in every() if same_bits.REASONS.get(name) != same_bits.NOTHING]:
        model = same_bits.Model(FOLDER, work, name, isAlike=False)
        ways = same_bits.WAYS[:2] if name in same_bits.REAL else same_bits.WAYS[1:]

        def made(*names):
            more = ["--leave-out", *names] if names else []
            return [model.decode(*way, *more) for way in ways]

        asked = ["fovea", "decode", model.spec, "--weights", model.files["w"], "--leave-out", "none"]
        passes = passes_of(subprocess.run(asked, capture_output=True, text=True, check=False).stderr)
        expected = made()
        for names in subsets_of(passes, subsets, name):
            wrong = made(*names) != expected
            compared += 1
            differing += wrong
            without = " ".join(names) if wrong or subsets == "each" else f"{len(names)} of {len(passes)} passes"
            print(f"{name}: {'other' if wrong else 'the same'} hypotheses without {without}", flush=True)
    end(differing, compared)


def main(work, subsets, gets, *models):
    if gets == "decode":
        return decode(work, subsets, *models)
    differing = compared = 0
    for model in models or every():
        model, arguments, out = prepared(model, work)

        def run(*names):
            command = ["fovea", "run", *arguments, "--get", *gets.split(","), *(["--leave-out", *names] if names else [])]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        passes = passes_of(run("none").stderr)
        tried = subsets_of(passes, subsets, model)
        assert run().returncode == 0
        expected = read(out)
        total = sum(len(tensor.values) for tensor in expected.values())
        for names in tried:
            done = run(*names)
            assert done.returncode == 0, (model, names, done.stderr)
            found = read(out)
            assert set(found) == set(expected)
            wrong = sum(count(expected[name], found[name]) for name in expected)
            compared += 1
            differing += bool(wrong)
            without = " ".join(names) if wrong or subsets == "each" else f"{len(names)} of {len(passes)} passes"
            print(f"{model}: {wrong} of {total} numbers differ without {without}", flush=True)
    end(differing, compared)


if __name__ == "__main__":
    main(*sys.argv[1:])
