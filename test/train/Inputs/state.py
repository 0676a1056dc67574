"""state.py DATA WEIGHTS ..: checks the states of Inputs/state.fov in WEIGHTS,
one file for each update after the first, against moving averages."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read

data, *files = map(read, sys.argv[1:])
x, lengths, D = list(data["x"].values), list(data["x.length"].values), 2
S = max(lengths)
means = [[sum(x[(n * S + i) * D + d] for i in range(length)) / length for d in range(D)] for n, length in enumerate(lengths)]
mean = [sum(m[d] for m in means) / len(means) for d in range(D)]
for step, (before, after) in enumerate(zip(files, files[1:], strict=False), 1):
    old = {name: list(tensor.values) for name, tensor in before.items()}
    wanted = {
        "centre": [0.75 * c + 0.25 * m for c, m in zip(old["centre"], mean, strict=True)],
        "slow": old["v"]
        if step == 1
        else [0.5 * s + 0.25 * c + 0.25 * v for s, c, v in zip(old["slow"], old["centre"], old["v"], strict=True)],
        "seen": [old["seen"][0] + 1],
    }
    for name, values in wanted.items():
        worst = max(abs(a - b) for a, b in zip(values, after[name].values, strict=True))
        if worst > 1e-14:
            sys.exit(f"'{name}' differs by {worst} after update {step}")
    if old["v"] == list(after["v"].values):
        sys.exit(f"update {step} trains nothing")
