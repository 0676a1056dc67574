"""Mistakes in templates, each with its message.

  wrong_templates.py FOLDER FILE     lines `TEMPLATE ==> MESSAGE`
"""

import os
import subprocess
import sys


def main(folder, cases):
    count = 0
    template = os.path.join(folder, "wrong.jinja")
    for line in open(cases):
        text, message = line.rstrip("\n").split(" ==> ")
        with open(template, "w") as file:
            file.write(text)
        command = ["fovea", "chat", os.path.join(folder, "m.fov"), "--template", template, "--print-prompt"]
        done = subprocess.run(command, input="hello\n", capture_output=True, text=True)
        assert done.returncode == 1 and "line 1: " + message in done.stderr, f"{text}:\n{done.stderr}"
        count += 1
    print(count, "mistakes")


main(*sys.argv[1:])
