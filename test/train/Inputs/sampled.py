"""The estimate of `sampled(n)` in plain numbers, Philox included.

    sampled.py WORK_DIRECTORY PROPOSAL

What Fovea computes for several seeds is compared with it, and so is the mean of
many draws with the exact sum: that over the vocabulary is estimated without
bias, and so is its gradient.
"""

import json
import math
import os
import random
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

SYMBOLS, DRAWN, E = 40, 6, 3
SPEC = f"""model sampled
vocab v : ids({SYMBOLS})
data x[T], y[T] : token of v
param e : embedding({E}), out : linear(v.vocab)
y[t] ~ categorical(out(e(x[t])))
train {{{{ average = example, y ~ sampled({{n}}, proposal = {{proposal}}) }}}}
decode {{{{ set T = 3 }}}}
"""
X, Y = [5, 7, 39], [1, 20, 39]


def philox(counter, key):
    for _ in range(10):
        high = [(m * c) >> 32 for m, c in zip((0xD2511F53, 0xCD9E8D57), counter[::2])]
        low = [(m * c) & 0xFFFFFFFF for m, c in zip((0xD2511F53, 0xCD9E8D57), counter[::2])]
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, (0x9E3779B9, 0xBB67AE85))]
    return counter


def candidates(proposal, seed):
    """The symbols that are drawn, and how often each is in the mean."""
    result = []
    for k in range(DRAWN):
        u = (2 * (philox([k, 0, 0, 0], [seed, 0])[0] >> 9) + 1) / 2**24
        share = (k + u) / DRAWN
        if proposal == "uniform":
            result.append((int(share * SYMBOLS), DRAWN / SYMBOLS))
        else:
            c = min(int(math.exp(share * math.log(SYMBOLS + 1)) - 1), SYMBOLS - 1)
            result.append((c, DRAWN * math.log((c + 2) / (c + 1)) / math.log(SYMBOLS + 1)))
    return result


def logits(weights, symbol):
    embedded = weights["e.weight"][symbol * E:(symbol + 1) * E]
    return [weights["out.bias"][v] + sum(a * b for a, b in zip(embedded, weights["out.weight"][v * E:(v + 1) * E]))
            for v in range(SYMBOLS)]


def estimate(scores, y, drawn):
    """The sum over the vocabulary, and its gradient for each logit."""
    slopes = [0.0] * SYMBOLS
    slopes[y] = math.exp(scores[y])
    for c, often in drawn:
        if c != y:
            slopes[c] += math.exp(scores[c]) / often
    return sum(slopes), slopes


def ours(folder, name, weights, seed, proposal, n, *how):
    path = [os.path.join(folder, n) for n in ("s.fov", "w.safetensors", "b.safetensors", "r.safetensors")]
    with open(path[0], "w") as file:
        file.write(SPEC.format(n=n, proposal=proposal))
    shapes = {"e.weight": [SYMBOLS, E], "out.weight": [SYMBOLS, E], "out.bias": [SYMBOLS]}
    write(path[1], {k: Tensor("F64", shapes[k], v) for k, v in weights.items()})
    examples = 2  # which have the same candidates
    data = {key: Tensor("I64", [examples, 3], v * examples) for key, v in (("x", X), ("y", Y))}
    write(path[2], data | {f"{key}.length": Tensor("I64", [examples], [3] * examples) for key in "xy"})
    subprocess.run(["fovea", "run", path[0], "--weights", path[1], "--data", path[2], "--seed", str(seed), *how,
                    "--get", *name, "-o", path[3]], check=True)
    return {k: t.values for k, t in read(path[3]).items()}


def learnt(folder, proposal, seed):
    """The loss that an update reports."""
    for key, values in (("x", X), ("y", Y)):
        with open(os.path.join(folder, f"{key}.txt"), "w") as file:
            file.write(" ".join(map(str, values)) + "\n")
    subprocess.run(["fovea", "train", "s.fov", "--dtype", "f64", "--quiet", "--seed", str(seed), "--steps", "1", "--out",
                    f"{proposal}-{seed}", "--weights", "w.safetensors", "--data", "x=x.txt,y=y.txt"],
                   check=True, cwd=folder)
    with open(os.path.join(folder, f"{proposal}-{seed}", "log.jsonl")) as file:
        return json.loads(file.readline())["loss"]


def near(a, b, tolerance=1e-10):
    assert abs(a - b) <= tolerance * max(1, abs(b)), (a, b)


def main(folder, proposal):
    draw = random.Random(1)
    weights = {k: [draw.gauss(0, 1) for _ in range(n)]
               for k, n in (("e.weight", SYMBOLS * E), ("out.weight", SYMBOLS * E), ("out.bias", SYMBOLS))}
    scores = [logits(weights, x) for x in X]
    exact = sum(math.log(sum(map(math.exp, s))) - s[y] for s, y in zip(scores, Y))

    # The loss is exact, and its gradient belongs to the estimate.
    for how in (["--dtype", "f64"], ["--reference"]):
        for seed in (0, 1, 77):
            result = ours(folder, ["loss", "grads"], weights, seed, proposal, DRAWN, *how)
            drawn = candidates(proposal, seed)
            loss, bias = 0.0, [0.0] * SYMBOLS
            for s, y in zip(scores, Y):
                total, slopes = estimate(s, y, drawn)
                loss += math.log(total) - s[y]
                for v in range(SYMBOLS):
                    bias[v] += slopes[v] / total - (v == y)
            near(result["loss"][0], exact)
            for a, b in zip(result["grad/out.bias"], bias):
                near(a, b)
            touched = {c for c, _ in drawn} | set(Y)
            for v in range(SYMBOLS):
                row = result["grad/out.weight"][v * E:(v + 1) * E]
                wanted = [0.0] * E
                for s, x, y in zip(scores, X, Y):
                    total, slopes = estimate(s, y, drawn)
                    for k in range(E):
                        wanted[k] += (slopes[v] / total - (v == y)) * weights["e.weight"][x * E + k]
                for a, b in zip(row, wanted):
                    near(a, b)
                assert v in touched or row == [0.0] * E, v
    near(learnt(folder, proposal, seed), loss)
    print(f"{proposal}: the candidates, the loss of an update and its gradient are those of plain numbers")

    # With as many candidates as symbols nothing is drawn.
    near(ours(folder, ["loss", "grads"], weights, 3, proposal, SYMBOLS, "--dtype", "f64")["loss"][0], exact)

    # In the mean the sum, and what flows into each logit, is that over all.
    s, y, runs = scores[1], Y[1], 4000
    sums, squares = [0.0] * (SYMBOLS + 1), [0.0] * (SYMBOLS + 1)
    for seed in range(runs):
        total, slopes = estimate(s, y, candidates(proposal, seed))
        for k, value in enumerate([total, *slopes]):
            sums[k] += value
            squares[k] += value * value
    for k, wanted in enumerate([sum(map(math.exp, s)), *map(math.exp, s)]):
        mean = sums[k] / runs
        error = math.sqrt(max(0, squares[k] / runs - mean * mean) / runs)
        assert abs(mean - wanted) <= 4 * error + 1e-9, (k, mean, error, wanted)
    print(f"{proposal}: the mean of {runs} sums is the exact one, and so are its derivatives")


if __name__ == "__main__":
    main(*sys.argv[1:])
