"""Compares the losses of a log with those of a file, one per line: at most
1e-9 apart, relatively.

  compare.py LOG LOSSES
"""

import json
import sys

with open(sys.argv[1]) as file:
    ours = [json.loads(line)["loss"] for line in file]
with open(sys.argv[2]) as file:
    theirs = [float(line) for line in file]
assert len(ours) == len(theirs), (len(ours), len(theirs))
worst = max(abs(a - b) / abs(b) for a, b in zip(ours, theirs))
print(f"{len(ours)} losses, from {ours[0]:.4f} to {ours[-1]:.4f}")
if not worst <= 1e-9:
    sys.exit(f"the largest relative difference is {worst:.3g}")
