"""Does what a page tells its reader to do, from the first line to the last:
writes what is in a block ```LANGUAGE FILE, and types what a block ```console
has after `$ `. Time is short here: `--minutes 1`, or `--epochs 8`, becomes a few
steps.

  walk.py PAGE ROOT     in a folder that looks like ROOT, the repository
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.M | re.S)


def prepare(root):
    for name in ("models", "examples", "docs"):
        os.symlink(os.path.join(root, name), name)


def main():
    page, root = sys.argv[1:]
    prepare(root)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    count = 0
    for language, name, body in BLOCK.findall(text):
        name = name.strip()
        if name:
            with open(name, "w", encoding="utf-8") as file:
                file.write(body)
        if language != "console":
            continue
        for line in body.splitlines():
            assert line.startswith("$ "), line
            command = re.sub(r"--(minutes|epochs) \S+", "--steps 8 --report-every 4", line[2:])
            # The tools are those of the test run.
            if command.startswith("export PATH="):
                continue
            print("$", command, flush=True)
            subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], check=True)
            count += 1
    print(count, "commands")


main()
