"""`enumerate` of a choice at several places, against the sum over all ways.

    places.py WORK_DIRECTORY

Each model stands here once more, as log p of a way to choose in plain numbers.
The loss is minus the log of the sum over all ways, its gradient that of central
differences, and the equation that is shown the way with the largest p.
"""

import itertools
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

K, V, LENGTHS = 3, 4, (4, 1)
Y = [[1, 3, 0, 2], [2]]
X = [[0.5, -1.0, 1.5], [0.3, 0.2, -0.6]]  # a number for each value
U = [[3, 0, 1, 1], [2, 2, 0, 1]]
HEAD = f"""model chain
vocab v : ids({V})
data y[T] : token of v, x[P] : real{{more}}
param start : vector({K}), trans : matrix({K}, {K}), emit : matrix({K}, {V}), pair : matrix({K}, {V})
"""
TAIL = """
train { z ~ enumerate, average = example }
decode { set T = 4 }
"""


def logs(scores):
    top = max(scores)
    total = top + math.log(sum(math.exp(s - top) for s in scores))
    return [s - total for s in scores]


def row(w, name, k, n):
    return w[name][k * n:(k + 1) * n]


def hmm(w, z, y, x):
    logp = logs(w["start"])[z[0]] + sum(logs(row(w, "trans", a, K))[b] for a, b in zip(z, z[1:]))
    return logp + sum(logs(row(w, "emit", k, V))[s] for k, s in zip(z, y))


def from_zero(w, z, y, x):
    logp = sum(logs(row(w, "trans", a, K))[b] for a, b in zip([1, *z], z))
    return logp + sum(logs(row(w, "emit", k, V))[s] for k, s in zip(z, y))


def alone(w, z, y, x):
    logp = sum(logs([w["start"][k] * (1 + t) for k in range(K)])[a] for t, a in enumerate(z))
    return logp + sum(logs(row(w, "emit", k, V))[s] for k, s in zip(z, y))


def both(w, z, y, x):
    """What is emitted depends on the place before, too; smoothed."""
    logp = logs(w["start"])[z[0]] + sum(logs(row(w, "trans", a, K))[b] for a, b in zip(z, z[1:]))
    for t, s in enumerate(y):
        more = row(w, "pair", z[t - 1], V) if t else [0.0] * V
        table = logs([a + b for a, b in zip(row(w, "emit", z[t], V), more)])
        logp += table[s]
    return logp


def aligned(w, z, y, x):
    """The values are the places of other data; a jump has a score."""
    logp = 0.0
    for t, a in enumerate(z):
        before = z[t - 1] if t else 0
        logp += logs([w["start"][0] * x[i] + w["start"][1] * abs(i - before) for i in range(K)])[a]
    return logp + sum(logs([e * x[k] for e in row(w, "emit", 0, V)])[s] for k, s in zip(z, y))


def bits(w, z, y, x):
    logp = 0.0
    for t, a in enumerate(z):
        logit = w["start"][0] + (w["start"][1] if t and z[t - 1] else 0.0)
        logp -= math.log1p(math.exp(-logit if a else logit))
    return logp + sum(logs(row(w, "emit", k, V))[s] for k, s in zip(z, y))


def rows(w, z, y, x):
    """Data of two axes, the second of which is that of the choice."""
    return hmm(w, z, y, x) + sum(logs(row(w, "pair", k, V))[u[t]] for u in U for t, k in enumerate(z))


def inside(w, z, y, x):
    """A state that begins with what is chosen, and does not reach other places."""
    logp = hmm(w, z, y, x)
    for t, k in enumerate(z):
        h = w["start"][k]
        for u in U:
            h = math.tanh(h + 0.5)
            logp += logs([h * p for p in row(w, "pair", 0, V)])[u[t]]
    return logp


def two(w, z, y, x):
    """A second choice, of which other data depend."""
    more = sum(math.log(sum(math.exp(logs(w["start"])[k] + sum(logs(row(w, "pair", k, V))[u[t]] for t in range(len(z))))
                            for k in range(K))) for u in U)
    return hmm(w, z, y, x) + more


def halves(w, z, y, x):
    """Only the first two places count, the second a half."""
    logp = logs(w["start"])[z[0]] + sum(logs(row(w, "trans", a, K))[b] for a, b in zip(z, z[1:]))
    return logp + sum(m * logs(row(w, "emit", k, V))[s] for k, s, m in zip(z, y, [1, 0.5, 0, 0]))


def boundary(w, z, y, x):
    """With a value of its own before the first place."""
    logp = logs(w["start"])[z[0]] + sum(logs(row(w, "trans", a, K))[b] for a, b in zip(z, z[1:]))
    return logp + sum(logs(row(w, "emit", k, V))[s] for k, s in zip(z[1:], y))


CASES = {
    "hmm": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\ny[t] ~ categorical(emit[z[t]])", hmm, K),
    "boundary": ("z[-1] ~ categorical(start)\nz[t] ~ categorical(trans[z[t-1]])\n"
                 "y[t] ~ categorical(emit[z[t]])", boundary, K),
    "given": ("z[t] ~ categorical(trans[z[t-1] ?? 1])\nrow[t] = emit[z[t]]\ny[t] ~ categorical(row[t])", from_zero, K),
    "alone": ("z[t] ~ categorical(start * (1 + t))\ny[t] ~ categorical(emit[z[t]])", alone, K),
    "both": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\n"
             "y[t] ~ categorical(emit[z[t]] + (if t == 0 then zeros(4) else pair[z[t-1]]))", both, K),
    "aligned": ("z[t] ~ categorical[i](start[0] * x[i] + start[1] * abs(i - (z[t-1] ?? 0)))\n"
                "y[t] ~ categorical(emit[0] * x[z[t]])", aligned, K),
    "bits": ("z[t] ~ bernoulli(logit = start[0] + (if t == 0 then 0 else start[1] * (if z[t-1] then 1 else 0)))\n"
             "y[t] ~ categorical(if z[t] then emit[1] else emit[0])", bits, 2),
    "halves": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\ny[t] ~ categorical(emit[z[t]])\n"
               "m[t < T] = if t == 0 then 1 else if t == 1 then 0.5 else 0", halves, K),
    "rows": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\ny[t] ~ categorical(emit[z[t]])\n"
             "u[n,t] ~ categorical(pair[z[t]])", rows, K),
    "inside": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\ny[t] ~ categorical(emit[z[t]])\n"
               "h[n < 2,t] = tanh(h[n-1,t] + 0.5);  h[-1,t] = start[z[t]]\n"
               "u[n,t] ~ categorical(h[n,t] * pair[0])", inside, K),
    "two": ("z[t] ~ categorical(if t == 0 then start else trans[z[t-1]])\ny[t] ~ categorical(emit[z[t]])\n"
            "other[n] ~ categorical(start)\nu[n,t] ~ categorical(pair[other[n]])", two, K),
}


def loss(name, w):
    _, logp, values = CASES[name]
    return -sum(math.log(sum(math.exp(logp(w, z, y, x)) for z in
                             itertools.product(range(values), repeat=len(y) + (name == "boundary"))))
                for y, x in zip(Y, X)) / len(Y)


def main(folder):
    draw = random.Random(3)
    shapes = {"start": [K], "trans": [K, K], "emit": [K, V], "pair": [K, V]}
    weights = {k: [draw.gauss(0, 1) for _ in range(math.prod(s))] for k, s in shapes.items()}
    path = [os.path.join(folder, n) for n in ("w.safetensors", "b.safetensors", "r.safetensors")]
    write(path[0], {k: Tensor("F64", shapes[k], v) for k, v in weights.items()})
    write(path[1], {
        "y": Tensor("I64", [2, 4], [s for y in Y for s in (y + [0] * 4)[:4]]),
        "y.length": Tensor("I64", [2], list(LENGTHS)),
        "u": Tensor("I64", [2, 2, 4], [s for _ in Y for u in U for s in u]), "u.length": Tensor("I64", [2], list(LENGTHS)),
        "x": Tensor("F64", [2, K], [v for x in X for v in x]), "x.length": Tensor("I64", [2], [K, K])})
    for name, (text, logp, values) in CASES.items():
        spec = os.path.join(folder, name + ".fov")
        with open(spec, "w") as file:
            tail = TAIL.replace("enumerate,", "enumerate, y ~ weight(m),") if name == "halves" else TAIL
            if name == "two":
                tail = tail.replace("z ~ enumerate", "z ~ enumerate, other ~ enumerate")
            more = ", u[2, T] : token of v" if "u[n,t]" in text else ""
            file.write(HEAD.replace("{more}", more) + text + tail)
        results = []
        for how in (["--dtype", "f64"], ["--reference"]):
            subprocess.run(["fovea", "run", spec, "--weights", path[0], "--data", path[1], *how, "--get", "loss", "grads", "z",
                            "-o", path[2]], check=True)
            results.append(read(path[2]))
            assert abs(results[-1]["loss"].values[0] - loss(name, weights)) <= 1e-10, \
                (name, how, results[-1]["loss"].values[0], loss(name, weights))
        for key in weights:
            if "grad/" + key not in results[0]:
                continue
            for number in range(len(weights[key])):
                def at(step):
                    moved = {k: list(v) for k, v in weights.items()}
                    moved[key][number] += step
                    return loss(name, moved)
                wanted = (at(1e-5) - at(-1e-5)) / 2e-5
                for result in results:
                    ours = result["grad/" + key].values[number]
                    assert abs(ours - wanted) <= 1e-7, (name, key, number, ours, wanted)
        for example, (y, x) in enumerate(zip(Y, X)):
            ways = itertools.product(range(values), repeat=len(y) + (name == "boundary"))
            best = max(ways, key=lambda z: logp(weights, z, y, x))[-len(y):]
            for result in results:
                shown = result["z"].values[example * 4:example * 4 + len(y)]
                assert tuple(map(int, shown)) == best, (name, shown, best)
        print(f"{name}: the loss, its gradient and the best way are those of all {values}^4 ways")


if __name__ == "__main__":
    main(*sys.argv[1:])
