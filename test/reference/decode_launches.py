"""Decodes with models of `models/`, and interprets every launch of every program of the search.

    decode_launches.py MODELS_DIRECTORY WORK_DIRECTORY HOW.. -- MODEL..

HOW are options of `fovea decode --launches`. What is decoded is what compiled code gives. The models
and their data are those of test/decode/same_bits.py.
"""

import itertools
import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "decode"))
import same_bits  # noqa: E402

WAYS = [["--beam", "3", "--nbest", "3"], ["--sample", "--seed", "3", "--nbest", "2"]]


def main(models, work, *rest):
    how = list(itertools.takewhile(lambda word: word != "--", rest))
    os.makedirs(work, exist_ok=True)
    failures = 0
    for name in rest[len(how) + 1:]:
        model = same_bits.Model(models, work, name, [])
        for way in WAYS[name in same_bits.REAL:]:
            way = [*way, "--max-length", "4", "--dtype", "f32"]
            decode = ["fovea", "decode", model.spec, *model.sets, "--weights", model.files["w"],
                      *(["--data", model.files["b"]] if model.given else []), "--json", *way]
            done = subprocess.run([*decode, "--launches", *how], capture_output=True, text=True, check=False)
            compiled = subprocess.run(decode, capture_output=True, text=True, check=True).stdout
            good = done.returncode == 0 and done.stdout == compiled
            failures += not good
            says = "agrees" if good else done.stderr.strip() or f"{done.stdout}, not {compiled}"
            print(f"{name} {way[0]}: {says}", flush=True)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main(*sys.argv[1:])
