"""Leaves out random subsets of the passes that may be left out: the results keep their bits.

    leave_out.py WORK_DIRECTORY SUBSETS WHAT[,WHAT..] [MODEL..]

WHAT is what `fovea run --get` takes; with SUBSETS = each, every pass is left out alone. Models and
sizes are those of bits.py.
"""

import random
import re
import subprocess
import sys

from bits import count, end, every, prepared, read


def main(work, subsets, gets, *models):
    differing = compared = 0
    for model in models or every():
        model, arguments, out = prepared(model, work)

        def run(*names):
            command = ["fovea", "run", *arguments, "--get", *gets.split(","), *(["--leave-out", *names] if names else [])]
            return subprocess.run(command, capture_output=True, text=True, check=False)

        # What may be left out is listed where it is not known.
        passes = re.search(r"help: leave out (.*) \[E", run("none").stderr)[1].split(", ")
        draw = random.Random(model)
        tried = [[name] for name in passes]
        if subsets != "each":
            tried = [[name for name in passes if draw.random() < 0.5] for _ in range(int(subsets))]
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
