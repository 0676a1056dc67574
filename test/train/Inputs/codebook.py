"""codebook.py DATA BEGIN END UPDATES: checks the codebook of
Inputs/codebook.fov in END, which began with BEGIN."""

import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read

share, D = 0.8, 2
data, begin, end = map(read, sys.argv[1:4])
values = list(data["x"].values)
examples = [values[i : i + D] for i in range(0, len(values), D)]
count, total = list(begin["count"].values), list(begin["total"].values)
K = len(count)
chosen = set()
for _ in range(int(sys.argv[4])):
    counts, totals = [0.0] * K, [0.0] * (K * D)
    for x in examples:
        far = [sum((x[d] - total[k * D + d] / count[k]) ** 2 for d in range(D)) for k in range(K)]
        k = far.index(min(far))
        chosen.add(k)
        counts[k] += 1 / len(examples)
        for d in range(D):
            totals[k * D + d] += x[d] / len(examples)
    count = [share * old + (1 - share) * new for old, new in zip(count, counts, strict=True)]
    total = [share * old + (1 - share) * new for old, new in zip(total, totals, strict=True)]
for name, wanted in {"count": count, "total": total}.items():
    worst = max(abs(a - b) for a, b in zip(wanted, end[name].values, strict=True))
    if worst > 1e-12:
        sys.exit(f"'{name}' differs by {worst}")
if len(chosen) < 2:
    sys.exit("all examples have one code")
