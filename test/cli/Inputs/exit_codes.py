"""exit_codes.py DOCS SPEC: runs the commands of the table of docs/COMMANDS.md in
the present folder; each has to end with the code that the table says, and with
an error where that is not 0."""

import os
import re
import shlex
import shutil
import subprocess
import sys

docs, spec = sys.argv[1:]
text = open(spec).read()
open("spec.fov", "w").write(text.replace("src[S] : token", "src[S] : token of five").replace("sentence", "sentence of five")
                            .replace("data src", "vocab five : ids(5)\ndata src"))
open("wrong.fov", "w").write("model m\nx = y\n")
for name in ("src", "y"):
    open(f"{name}.txt", "w").write("3 4\n2\n")
open("trains.fov", "w").write("model m\ndata y[T] : sentence of v\nvocab v : ids(5)\nparam w : vector(5)\n"
                              "y[t] ~ categorical(w * T)\n")
os.mkfifo("pipe")
subprocess.run(["fovea", "init", "spec.fov", "-o", "w.safetensors"], check=True)
rows = re.findall(r"^\| `(fovea [^`]*)` \| (\d+) \|$", open(docs).read(), re.M)
wrong = 0
for command, code in rows:
    done = subprocess.run(shlex.split(command), stdin=open("spec.fov"), capture_output=True, text=True, timeout=60)
    says = "error: " in done.stderr
    if done.returncode != int(code) or says != (code != "0"):
        wrong += 1
        print(f"WRONG {command}: {done.returncode}, not {code}: {done.stderr}")
print(f"{len(rows)} commands, {wrong} wrong")
