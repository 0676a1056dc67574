"""previous.py FOLDER: writes what a version leaves for the tests of later ones.

FOLDER has a spec and its data: reverse.fov, pairs.tsv and letters.txt. Run this with
the `fovea` of the release on the PATH, in a short folder such as /data: paths are
part of the files.
"""

import os
import pathlib
import subprocess
import sys

os.chdir(sys.argv[1])
FIELDS = "src=pairs.tsv:1,tgt=pairs.tsv:2,kind=pairs.tsv:3"


def run(command, output=None):
    text = subprocess.run(["fovea", *command.split()], check=True, stdout=subprocess.PIPE).stdout
    if output:
        pathlib.Path(output).write_bytes(text)


run("init reverse.fov --set letters.vocab=5 --seed 1 -o initial.safetensors")
run(f"train reverse.fov --data {FIELDS} --valid {FIELDS} --steps 60 --report-every 30 "
    "--valid-every 30 --out run --threads 1 --seed 3 --quiet")
run("decode run --data src=pairs.tsv:1 --scores", "decoded.txt")
run(f"score run --data {FIELDS}", "scores.txt")
