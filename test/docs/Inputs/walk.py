"""Follows a page from the first line to the last: writes each block ```LANGUAGE FILE,
and runs the commands of each block ```console, which begin with `$ `.

  walk.py PAGE ROOT [--figures]     in a folder that looks like ROOT, the repository

To save time, `--minutes 1` or `--epochs 8` becomes a few steps. With --figures the
trainings run in full, and the lines of a block without a language must appear, in
this order, in the output of the commands before it.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```$", re.M | re.S)


def prepare(root):
    for name in ("models", "examples", "docs"):
        os.symlink(os.path.join(root, name), name)


def run(command):
    """Prints the command and its output, and returns the output."""
    print("$", command, flush=True)
    done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command],
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          encoding="utf-8")
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"walk: exit code {done.returncode}")
    return done.stdout


def rows_of(text):
    return [" ".join(line.split()) for line in text.splitlines()]


def compare(shown, printed):
    rest = iter(rows_of(printed))
    for row in rows_of(shown):
        if row not in rest:
            sys.exit(f"walk: the commands do not print '{row}'")
    return len(rows_of(shown))


def main():
    page, root = sys.argv[1:3]
    is_short = "--figures" not in sys.argv[3:]
    prepare(root)
    with open(page, encoding="utf-8") as file:
        text = file.read()
    commands, compared, printed = 0, 0, ""
    for language, name, body in BLOCK.findall(text):
        name = name.strip()
        if name:
            with open(name, "w", encoding="utf-8") as file:
                file.write(body)
        if not language and not is_short:
            compared += compare(body, printed)
        if language != "console":
            continue
        printed = ""
        for line in body.splitlines():
            assert line.startswith("$ "), line
            command = line[2:]
            if is_short:
                steps = 12 if "--resume" in line else 8
                command = re.sub(r"--(minutes|epochs) \S+",
                                 f"--steps {steps} --report-every 4", command)
            # The tools are those of the test run.
            if command.startswith("export PATH="):
                continue
            printed += run(command)
            commands += 1
    print(commands, "commands")
    if not is_short:
        print(compared, "lines compared")


main()
