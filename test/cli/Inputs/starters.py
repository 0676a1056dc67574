"""Runs the commands of the README that `fovea new KIND` writes.

  starters.py KIND FOLDER
"""

import pathlib
import re
import subprocess
import sys

kind, folder = sys.argv[1], pathlib.Path(sys.argv[2])
subprocess.run(["fovea", "new", kind, folder], check=True)
text = (folder / "README.md").read_text(encoding="utf-8")
for block in re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S):
    for command in block.splitlines():
        print("$", command, flush=True)
        subprocess.run(["sh", "-ec", command], cwd=folder, check=True)
