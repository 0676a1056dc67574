"""Attention of many kinds on the emulated GPU, against the CPU.

    attention.py WORK_DIRECTORY [--dtype f64] [--schedules N] [--long] [--head N] [--get NAME..] [--reference | --rounded] [KIND..]

What is read, the loss and all gradients have the CPU's bits, in grids of
different sizes and under different schedules of threads. Examples have more rows
than a strip, one row, and lengths that no tile divides; `--long`: so many keys
that a strip does not fit on the chip.

`--reference`: the interpreter executes the kernels as the passes have formed
them, and gives nearly the same.

`--rounded`: factors are in bf16. Then all of it has the same bits under each
schedule, in each grid, and for an example alone; what is read is as near
what its own queries, keys and values give as rounding says, and the gradients
are near those of f32.
"""

import argparse
import math
import os
import random
import sys

from rounded import Runner, alone, differing
from same_bits import SCHEDULES
from tensors import Tensor

K, N = 20, 12
# The largest error of a gradient in bf16, as a share of its size: products of two
# factors with 8 digits each, and then weights.
NEAR = 2**-5
# What the score of a query `p[t]` and a key `g[u]` is, and which keys there are.
KINDS = {
    "dot": ("dot(p[t], g[u]) / 4", ""),
    "causal": ("dot(p[t], g[u]) / 4", "u <= t"),
    # The first query has no key.
    "earlier": ("dot(p[t], g[u]) / 4", "u < t"),
    "window": ("dot(p[t], g[u]) / 4", "u <= t and t <= u + 9"),
    "additive": ("dot(s, tanh(p[t] + g[u]))", ""),
    "capped": ("3 * tanh(dot(p[t], g[u]) / 3) + bias[t,u]", ""),
}
SPEC = """model attention
dim K = {K}, N = {N}
data q[T] : real(K)
data k[{S}] : real(K)
data c[T] : real(N)
{bias}param wq, wk : matrix(K, K)
param wv : matrix(N, K)
param wo : matrix(N, N)
{s}p[t] = wq @ q[t]
g[u] = wk @ k[u]
v[u] = wv @ k[u]
e[t,u] = {score}
w[t] = softmax[u{where}](e[t,u])
r[t] = sum[u{where}](w[t,u] * v[u])
o[t] = tanh(wo @ r[t])
penalty sum[t,n](o[t,n] * c[t,n])
"""
# The score of a product; all have a slope of 1 at most.
SCORES = {"capped": lambda dot, bias: 3 * math.tanh(dot / 3) + bias}
LENGTHS = {"T": (70, 1, 5), "S": (67, 3, 1)}
LONG = {"T": (3, 66), "S": (300, 2)}


def specOf(kind):
    score, where = KINDS[kind]
    return SPEC.format(K=K, N=N, score=score, where=" where " + where if where else "", S="T" if where else "S",
                       s="param s : vector(K)\n" if "s," in score else "",
                       bias="data bias[T,S] : real\n" if "bias" in score else "")


def inputsOf(kind, lengths):
    draw = random.Random(2)
    keys = lengths["T" if KINDS[kind][1] else "S"]

    def data(*extents):
        largest = [max(each) if isinstance(each, tuple) else each for each in extents]
        count = 1
        for extent in largest:
            count *= extent
        batch = len(lengths["T"])
        return Tensor("F64", [batch, *largest], [draw.uniform(-1, 1) for _ in range(batch * count)])

    def length(values):
        return Tensor("I64", [len(values)], list(values))

    inputs = {"q": data(lengths["T"], K), "k": data(keys, K), "c": data(lengths["T"], N)}
    inputs.update({"q.length": length(lengths["T"]), "k.length": length(keys), "c.length": length(lengths["T"])})
    if "bias" in KINDS[kind][0]:
        inputs["bias"] = data(lengths["T"], keys)
        inputs["bias.length"] = length(lengths["T"])
    return inputs


def sizeOf(values):
    return math.sqrt(sum(v * v for v in values))


def compareRounded(kind, run, weights, inputs, schedules):
    """Returns what is wrong."""
    first = run.rounding(weights, inputs)
    for schedule in SCHEDULES[1:schedules]:
        if names := differing(run.rounding(weights, inputs, schedule), first, first):
            return f"{names} differ ({schedule})"
    rows = inputs["q"].shape[1]
    lengths = inputs["q.length"].values
    grads = [name for name in first if name.startswith("grad/")]
    # Two examples, and only one is part of the loss: half of its gradients.
    pair = {name: Tensor(t.dtype, [2, *t.shape[1:]], t.values[:2 * math.prod(t.shape[1:])]) for name, t in inputs.items()}
    pair["c"].values[rows * N:] = [0.0] * (rows * N)
    halves = run.rounding(weights, pair) if grads else {}
    for example, length in enumerate(lengths):
        found = run.rounding(weights, alone(inputs, example))
        wanted = first["r"].values[example * rows * N:][:rows * N]
        if found["r"].values[:length * N] != wanted[:length * N]:
            return f"example {example} alone has other bits"
        for name in grads if example == 0 else ():
            if found[name].values != [2 * value for value in halves[name].values]:
                return f"{name} of an example alone has other bits"
    exact = run(weights, inputs)
    for name in grads:
        off = sizeOf([a - b for a, b in zip(first[name].values, exact[name].values)])
        if not off <= NEAR * sizeOf(exact[name].values):
            return f"{name} is off by {off / sizeOf(exact[name].values)}"
    # Of its own queries, keys and values, in double precision.
    keys = inputs["k"].shape[1]
    holds = KINDS[kind][1] or "True"
    score = SCORES.get(kind, lambda dot, bias: dot / 4)
    worst = 0
    for example, length in enumerate(lengths):
        def row(name, size, at, places):
            return first[name].values[(example * places + at) * size:][:size]

        for t in range(length):
            p = row("p", K, t, rows)
            there = [u for u in range(inputs["k.length"].values[example]) if eval(holds, {"u": u, "t": t})]
            bias = [inputs["bias"].values[(example * rows + t) * keys + u] if "bias" in inputs else 0 for u in there]
            products = [[a * b for a, b in zip(p, row("g", K, u, keys))] for u in there]
            off = max((sum(map(abs, each)) for each in products), default=0) * (2**-7 + 2**-16 + K * 2**-24)
            off *= score(1, 0) - score(0, 0) if kind not in SCORES else 1
            powers = [math.exp(score(sum(each), b)) for each, b in zip(products, bias)]
            for n in range(N):
                parts = [a * row("v", N, u, keys)[n] / sum(powers) for a, u in zip(powers, there)]
                found = first["r"].values[(example * rows + t) * N + n]
                bound = (math.exp(2 * off) * (1 + 2**-8)**2 * (1 + 2**-16) - 1) * sum(map(abs, parts))
                if abs(found - sum(parts)) > bound:
                    return f"r[{t},{n}] of example {example} is {found} and not {sum(parts)}, by more than {bound}"
                worst = max(worst, abs(found - sum(parts)) / bound if bound else 0)
    return "" if worst > 0.01 else "nothing is rounded"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--dtype", default="f32")
    parser.add_argument("--schedules", type=int, default=len(SCHEDULES))
    parser.add_argument("--long", action="store_true")
    parser.add_argument("--reference", action="store_true")
    parser.add_argument("--rounded", action="store_true")
    parser.add_argument("--head", type=int, help="numbers of a query, and of what it reads")
    parser.add_argument("--get", nargs="*", default=["r", "loss", "grads"])
    parser.add_argument("kinds", nargs="*")
    given = parser.parse_intermixed_args()
    os.makedirs(given.work, exist_ok=True)
    if given.head:
        global K, N
        K = N = given.head
    draw = random.Random(1)
    weights = {name: Tensor("F64", shape, [draw.uniform(-0.4, 0.4) for _ in range(shape[0] * (shape + [1])[1])])
               for name, shape in (("wq", [K, K]), ("wk", [K, K]), ("wv", [N, K]), ("wo", [N, N]), ("s", [K]))}
    hasFailed = False
    for kind in given.kinds or KINDS:
        spec = os.path.join(given.work, kind + ".fov")
        with open(spec, "w") as file:
            file.write(specOf(kind))
        inputs = inputsOf(kind, LONG if given.long else LENGTHS)
        run = Runner(os.path.join(given.work, kind), spec, ["--dtype", given.dtype], given.get)
        own = dict(weights) if kind == "additive" else {name: each for name, each in weights.items() if name != "s"}
        if given.rounded and not given.reference:
            wrong = compareRounded(kind, run, own, inputs, given.schedules)
            hasFailed |= bool(wrong)
            print(f"{kind} bf16: {wrong or 'the same bits, within the bound of rounding'}", flush=True)
            continue
        expected = run(own, inputs)
        if given.reference:
            kernels = run(own, inputs, "--target", "cuda", "--precision", "bf16" if given.rounded else "f32",
                          "--reference", "--stop-after", "kernels")
            # Rounded as well, but for what it reads of weights that are put together.
            near = NEAR / 2 if given.rounded else 1e-5
            if given.rounded:
                expected = run.rounding(own, inputs)
            for name, tensor in expected.items():
                off = max(abs(a - b) for a, b in zip(tensor.values, kernels[name].values))
                assert off <= near * max(1, *map(abs, tensor.values)), (name, off)
            print(f"{kind}: the interpreter gives nearly the same")
            continue
        wrong = ""
        for schedule, processors in SCHEDULES[:given.schedules]:
            found = run(own, inputs, "--target", "cuda", FOVEA_EMULATOR_SCHEDULE=schedule,
                        FOVEA_EMULATOR_PROCESSORS=processors)
            if names := differing(found, expected, expected):
                wrong = f"{len(names)} of {len(expected)} results differ ({schedule}): {', '.join(names[:6])}"
                break
        hasFailed |= bool(wrong)
        print(f"{kind} {given.dtype}: {wrong or f'{len(expected)} results with the same bits'}", flush=True)
    sys.exit(1 if hasFailed else 0)


if __name__ == "__main__":
    main()
