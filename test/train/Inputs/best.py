"""Prints what a key has in the last validation of a log that was the best."""

import json
import sys

best = None
for line in open(sys.argv[1]):
    entry = json.loads(line)
    if entry.get("best"):
        best = entry[sys.argv[2]]
print(f"{best:.4f}")
