"""state_modules.py DATA BEFORE AFTER ROWS: checks the states of Inputs/state_modules.fov
after an update, and the rows that BEFORE gives outside training."""

import math
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read

data, before, after, rows = map(read, sys.argv[1:])
w = {name: list(tensor.values) for name, tensor in before.items()}
lengths, S, FEATURES = list(data["x.length"].values), data["x"].shape[1], range(2)
x = list(data["x"].values)
examples = [[[x[(n * S + i) * 2 + k] for k in FEATURES] for i in range(length)] for n, length in enumerate(lengths)]


def mean(values):
    return sum(values) / len(values)


def track(name, u):
    return [(u[k] - w[name + ".centre"][k]) * w[name + ".weight"][k] for k in FEATURES]


def next_centre(name, calls):
    """Of one example: the mean over the calls of the mean over the places of each."""
    return [mean([0.5 * w[name + ".centre"][k] + 0.5 * mean([u[k] for u in places]) for places in calls]) for k in FEATURES]


wanted = {name: [] for name in ("norm.0.centre", "norm.1.centre", "rows.running_mean", "rows.running_var")}
for places in examples:
    a = [track("norm.0", u) for u in places]
    given = [sum(w["back.weight"][2 * r + k] * mean([u[k] for u in a]) for k in FEATURES) + w["back.bias"][r] for r in FEATURES]
    wanted["norm.0.centre"].append(next_centre("norm.0", [places, [given]]))
    wanted["norm.1.centre"].append(next_centre("norm.1", [[track("norm.0", given)]]))
    centre = [mean([u[k] for u in places]) for k in FEATURES]
    spread = [sum((u[k] - centre[k]) ** 2 for u in places) / max(len(places) - 1, 1) for k in FEATURES]
    wanted["rows.running_mean"].append([0.75 * w["rows.running_mean"][k] + 0.25 * centre[k] for k in FEATURES])
    wanted["rows.running_var"].append([0.75 * w["rows.running_var"][k] + 0.25 * spread[k] for k in FEATURES])
wanted = {name: [mean([one[k] for one in values]) for k in FEATURES] for name, values in wanted.items()}
for name in "norm.0.calls", "norm.1.calls":
    wanted[name] = [w[name][0] + 1]
for part in "weight", "centre", "calls":
    wanted["teacher." + part] = [0.5 * a + 0.5 * b for a, b in zip(w["teacher." + part], w["norm.0." + part], strict=True)]
wanted["d"] = [
    (places[i][k] - w["rows.running_mean"][k]) / math.sqrt(w["rows.running_var"][k] + 1e-5) * w["rows.weight"][k] + w["rows.bias"][k]
    if i < len(places) else 0 for places in examples for i in range(S) for k in FEATURES]
for name, values in wanted.items():
    worst = max(abs(a - b) for a, b in zip(values, (rows if name == "d" else after)[name].values, strict=True))
    if worst > 1e-14:
        sys.exit(f"'{name}' differs by {worst}")
print(f"{len(wanted)} right")
