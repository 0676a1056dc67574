"""Trains copy.fov with a treatment that is refused, and prints why.

refused-policy.py SPEC [--unobserved] TREATMENTS [STATEMENT]"""

import subprocess
import sys

arguments = [a for a in sys.argv[2:] if a != "--unobserved"]
with open(sys.argv[1]) as file:
    spec = file.read()
with open("policy.fov", "w") as file:
    file.write("%s\n%s\ntrain { %s }\n" % (spec, " ".join(arguments[1:]),
                                           arguments[0]))
data = "src=train.tsv:1"
if "--unobserved" not in sys.argv:
    data += ",tgt=train.tsv:2"
run = subprocess.run(
    ["fovea", "train", "policy.fov", "--quiet", "--steps", "2", "--data", data,
     "--out", "refused"], stderr=subprocess.PIPE, text=True)
print(run.stderr, end="")
if run.returncode != 1 or run.stderr.count("error:") != 1:
    sys.exit("refused with %d, not by one error" % run.returncode)
