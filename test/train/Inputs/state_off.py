"""state_off.py DATA OFF WEIGHTS: checks that `off` of Inputs/state.fov is the
distance from the state in WEIGHTS."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read

data, off, weights = map(read, sys.argv[1:])
x, lengths, centre = list(data["x"].values), list(data["x.length"].values), list(weights["centre"].values)
S, D = max(lengths), len(centre)
wanted = [sum(x[(n * S + i) * D + d] for i in range(S)) / length - centre[d] for n, length in enumerate(lengths) for d in range(D)]
worst = max(abs(a - b) for a, b in zip(wanted, off["off"].values, strict=True))
if worst > 1e-14:
    sys.exit(f"'off' differs by {worst}")
