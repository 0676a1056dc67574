"""polyak.py SHARE AVERAGE BEGIN WEIGHTS ..: checks that AVERAGE is the moving
average of WEIGHTS, one file for each update, which begins with BEGIN."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read

share = float(sys.argv[1])
given, average, *weights = map(read, sys.argv[2:])
average = {name: list(tensor.values) for name, tensor in average.items()}
for file in weights:
    for name, values in average.items():
        average[name] = [a + (1 - share) * (w - a) for a, w in zip(values, file[name].values, strict=True)]
for name, values in average.items():
    worst = max(abs(a - b) for a, b in zip(values, given[name].values, strict=True))
    if worst > 1e-12:
        sys.exit(f"'{name}' differs by {worst}")
if all(average[name] == list(file[name].values) for name in average):
    sys.exit("the average is the last weights")
