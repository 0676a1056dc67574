"""Estimators of a small model against the exact gradient, by enumeration.

    estimators.py WORK_DIRECTORY NAME

The model chooses a place at each of two steps, and what it finds goes into its
state, so the second choice depends on the first. Here it is once more, in
plain numbers: the sum over all nine ways to choose, and its gradient by central
differences. Of each estimator the mean over many draws agrees with that within
four standard errors.
"""

import functools
import itertools
import math
import os
import random
import statistics
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

SPEC = """model tiny
data x[P] : real
data y[T] : bit
param v : vector(5)
score[t,i] = v[0] * x[i] + v[1] * s[t-1] * x[i]
place[t] ~ categorical[i](score[t,i])
s[t] = tanh(v[2] * s[t-1] + v[3] * x[place[t]])
s[-1] = 0.3
y[t] ~ bernoulli(logit = v[4] * s[t])
{penalty}
decode {{ set T = 2 }}
train {{ average = example, place ~ {estimator} }}
"""
X, Y, V = [0.5, -1.0, 1.5], [1, 0], [0.4, -0.7, 0.6, 0.8, 1.3]
PENALTY = "penalty 0.3 * sum[t](s[t] * s[t])"
RUNS, EXAMPLES = 24, 1024


def softmax(values):
    exps = [math.exp(v) for v in values]
    return [e / sum(exps) for e in exps]


def walk(v, choose):
    """-log p of what is observed, the penalty, log p of the choices and their
    entropy; `choose(t, p)` gives a place, or None for the mean."""
    s, nll, penalty, logp, entropy = 0.3, 0.0, 0.0, 0.0, 0.0
    for t, y in enumerate(Y):
        p = softmax([v[0] * x + v[1] * s * x for x in X])
        k = choose(t, p)
        found = sum(a * b for a, b in zip(p, X)) if k is None else X[k]
        logp += 0.0 if k is None else math.log(p[k])
        entropy -= sum(a * math.log(a) for a in p)
        s = math.tanh(v[2] * s + v[3] * found)
        nll += math.log1p(math.exp(v[4] * s)) - v[4] * s * y
        penalty += 0.3 * s * s
    return nll, penalty, logp, entropy


def expectation(v, penalty=False, entropy=0.0):
    total = 0.0
    for ways in itertools.product(range(len(X)), repeat=len(Y)):
        nll, extra, logp, h = walk(v, lambda t, p: ways[t])
        total += math.exp(logp) * (nll + penalty * extra - entropy * h)
    return total


def mean_field(v, penalty=False, entropy=0.0):
    nll, extra, _, h = walk(v, lambda t, p: None)
    return nll + penalty * extra - entropy * h


def gradient(of, v):
    result = []
    for k in range(len(v)):
        def at(step):
            moved = list(v)
            moved[k] += step
            return of(moved)
        result.append((at(1e-5) - at(-1e-5)) / 2e-5)
    return result


LOSS = expectation(V)
# Name: the estimator, whether there is a penalty, and what it is to estimate.
CASES = {
    "reinforce": ("reinforce", False, expectation),
    "baseline": (f"reinforce(baseline = {-LOSS})", False, expectation),
    "later": ("reinforce(credit = later)", False, expectation),
    "entropy": ("reinforce(entropy = 0.5)", False, lambda v: expectation(v, entropy=0.5)),
    "penalty": ("reinforce", True, lambda v: expectation(v, penalty=True)),
    "half": ("reinforce(expected = 0.5)", False,
             lambda v: 0.5 * expectation(v) + 0.5 * mean_field(v)),
    "samples": (f"reinforce(baseline = {-LOSS}, samples = 4)", False, expectation),
    "expected": ("expected", False, mean_field),
}


# Choices of one step whose exact gradient is a formula: the text, the weights,
# and the expectation.
ONE = """model one
data x[P] : real
param v : vector(3)
{choice}
penalty {term}
train {{ average = example, z ~ {estimator} }}
"""
CATEGORY = ("z ~ categorical[i](v[0] * x[i])", "v[1] * x[z]",
            lambda v: sum(p * v[1] * x for p, x in zip(softmax([v[0] * x for x in X]), X)))
BIT = ("z ~ bernoulli(logit = v[0])", "v[1] * (if z then 2 else 3)",
       lambda v: v[1] * (3 - 1 / (1 + math.exp(-v[0]))))
NORMAL = ("z ~ normal(v[0], exp(v[2]))", "v[1] * z * z", lambda v: v[1] * (v[0] ** 2 + math.exp(2 * v[2])))
UNIFORM = ("z ~ uniform(v[0], v[0] + exp(v[2]))", "v[1] * z",
           lambda v: v[1] * (v[0] + 0.5 * math.exp(v[2])))
MIXTURE = ("z ~ mixture[k < 2](logit = v[0] * k, normal(v[2] * (k + 1), 0.5 + k))", "v[1] * z * z",
           lambda v: v[1] * sum(p * ((v[2] * (k + 1)) ** 2 + (0.5 + k) ** 2)
                                for k, p in enumerate(softmax([0, v[0]]))))
# Pairs: the mean of z0^2 + z0 z1 is a^2 + c^2 + a b + r c d. Means are a, b, deviations c, d, the correlation is r.
PAIR = ("z ~ mixture[k < 2](logit = v[0] * k, bivariate(v[2] * (k + 1) ++ 0.3, 0.5 + k ++ 0.8, 0.6 - k))",
        "v[1] * (z[0] * z[0] + z[0] * z[1])",
        lambda v: v[1] * sum(p * ((v[2] * (k + 1)) ** 2 + (0.5 + k) ** 2 + v[2] * (k + 1) * 0.3
                                  + (0.6 - k) * (0.5 + k) * 0.8) for k, p in enumerate(softmax([0, v[0]]))))


def divergence(q, p):
    return sum(a * math.log(a / b) for a, b in zip(q, p))


def guided(v, w):
    """Drawn from softmax(w x); what that knows more than softmax(v0 x) is a part of the objective."""
    q = softmax([w * x for x in X])
    return sum(a * v[1] * x for a, x in zip(q, X)) + divergence(q, softmax([v[0] * x for x in X]))


def guided_bit(v):
    p, q = (1 / (1 + math.exp(-a)) for a in (v[0], v[2]))
    return v[1] * (3 - q) + divergence([q, 1 - q], [p, 1 - p])


# Two normals: the guide has the mean v2 and the deviation exp(v0 / 2).
def guided_normal(v):
    mean, sd = v[2], math.exp(v[0] / 2)
    return v[1] * (mean ** 2 + sd ** 2) + 0.5 * ((mean - v[0]) ** 2 + sd ** 2 - 1) - math.log(sd)


GUIDED = (CATEGORY[0] + "\nguide z ~ categorical[i](v[2] * x[i])", CATEGORY[1], lambda v: guided(v, v[2]))
GUIDED_STOPPED = (*GUIDED[:2], lambda v: guided(v, V[2]))
GUIDED_BIT = (BIT[0] + "\nguide z ~ bernoulli(logit = v[2])", BIT[1], guided_bit)
GUIDED_NORMAL = ("z ~ normal(v[0], 1)\nguide z ~ normal(v[2], exp(0.5 * v[0]))", NORMAL[1], guided_normal)
SINGLES = {
    "pair": ("reinforce(baseline = -1)", PAIR),
    "guide": ("reinforce(baseline = -0.5)", GUIDED),
    "guide through": ("straight_through", GUIDED),
    "guide mean": ("expected", GUIDED),
    "guide alone": ("no_gradient", GUIDED_STOPPED),
    "guide bit": ("reinforce(samples = 2)", GUIDED_BIT),
    "guide normal": ("reinforce(baseline = -1)", GUIDED_NORMAL),
    "guide relaxed": ("gumbel(0.5)", GUIDED),
    "mixture": ("reinforce(baseline = -1)", MIXTURE),
    "straight through": ("straight_through", CATEGORY),
    "category": ("reinforce(samples = 3)", CATEGORY),
    "bit": ("reinforce(baseline = -1)", BIT),
    "normal": ("reinforce", NORMAL),
    "reparameterised": ("reparameterised", NORMAL),
    "uniform": ("reparameterised(samples = 2)", UNIFORM),
    "pathwise": ("gumbel(0.5)", CATEGORY),
}


# The sum over all values, without draws.
SUM = """model sum
data x[P] : real
data y[T] : bit
param v : vector(3)
z ~ categorical[i](v[0] * x[i])
y[t] ~ bernoulli(logit = v[1] * x[z])
penalty v[2] * x[z]
decode {{ set T = 2 }}
train {{ average = example, z ~ {estimator} }}
"""


def marginal(v):
    probs = softmax([v[0] * x for x in X])
    like = [math.prod(1 / (1 + math.exp((-1 if y else 1) * v[1] * x)) for y in Y) for x in X]
    return -math.log(sum(p * q for p, q in zip(probs, like))) + sum(p * v[2] * x for p, x in zip(probs, X))


# Two choices, the second drawn from what the first says or the other way round.
TWO = """model two
data x[P] : real
data y[T] : bit
param v : vector(3)
{choices}
y[t] ~ bernoulli(logit = v[1] * x[a] + (if b then 1 else -1))
penalty v[2] * x[a] * (if b then 2 else 1)
decode {{ set T = 2 }}
train {{ average = example, a ~ {a}, b ~ {b} }}
"""
CHOICES = {"a first": "a ~ categorical[i](v[0] * x[i])\nb ~ bernoulli(logit = v[2] * x[a])",
           "b first": "b ~ bernoulli(logit = v[2])\na ~ categorical[i](v[0] * (if b then x[i] else 1 - x[i]))"}


def two(v, order):
    """p(a, b) by both, p(y | a, b), and the penalty."""
    for a, x in enumerate(X):
        for b in (0, 1):
            if order == "a first":
                p = softmax([v[0] * x for x in X])[a]
                one = 1 / (1 + math.exp(-v[2] * x))
            else:
                p = softmax([v[0] * (x if b else 1 - x) for x in X])[a]
                one = 1 / (1 + math.exp(-v[2]))
            logit = v[1] * x + (1 if b else -1)
            like = math.prod(1 / (1 + math.exp(-logit if y else logit)) for y in Y)
            yield b, p, one if b else 1 - one, like, v[2] * x * (2 if b else 1)


def both(v, order):
    ways = list(two(v, order))
    return (-math.log(sum(p * q * like for _, p, q, like, _ in ways))
            + sum(p * q * extra for _, p, q, _, extra in ways))


def drawn_b(v):
    """b is drawn, and a summed over: the mean of -log of the sum."""
    total = 0.0
    for b in (0, 1):
        ways = [way for way in two(v, "b first") if way[0] == b]
        total += ways[0][2] * (-math.log(sum(p * like for _, p, _, like, _ in ways))
                               + sum(p * extra for _, p, _, _, extra in ways))
    return total


# A chain at each place beside a choice that is drawn once.
CHAIN = """model chain
data x[P] : real
data y[T] : bit
param v : vector(3)
b ~ bernoulli(logit = v[2])
z[t] ~ bernoulli(logit = if t == 0 then v[0] else (if z[t-1] ?? false then v[0] else -v[0]))
y[t] ~ bernoulli(logit = (if z[t] then v[1] else 0) + (if b then 1 else x[0]))
decode {{ set T = 2 }}
train {{ average = example, z ~ enumerate, b ~ {b} }}
"""


def chain(v):
    def p(logit, bit):
        return 1 / (1 + math.exp(-logit if bit else logit))
    total = 0.0
    for b in (0, 1):
        like = 0.0
        for z in itertools.product((0, 1), repeat=2):
            prior = p(v[0], z[0]) * p(v[0] if z[0] else -v[0], z[1])
            like += prior * math.prod(p((v[1] if bit else 0) + (1 if b else X[0]), y) for bit, y in zip(z, Y))
        total -= p(v[2], b) * math.log(like)
    return total


# A choice at each place beside one that is made once and summed over.
LATER = """model later
data y[T] : bit
param v : vector(3)
z ~ bernoulli(logit = v[2])
b[t] ~ bernoulli(logit = v[0])
y[t] ~ bernoulli(logit = (if z then v[1] else -v[1]) * (if b[t] then 2 else 0.5))
decode {{ set T = 2 }}
train {{ average = example, z ~ enumerate, b ~ {b} }}
"""


def later(v):
    def p(logit, bit):
        return 1 / (1 + math.exp(-logit if bit else logit))
    total = 0.0
    for b in itertools.product((0, 1), repeat=2):
        like = sum(p(v[2], z) * math.prod(p((v[1] if z else -v[1]) * (2 if bit else 0.5), y) for bit, y in zip(b, Y))
                   for z in (0, 1))
        total -= math.prod(p(v[0], bit) for bit in b) * math.log(like)
    return total


class Model:
    def __init__(self, folder, text):
        self.folder = folder
        self.text, self.spec = text, os.path.join(folder, "tiny.fov")
        with open(self.spec, "w") as file:
            file.write(text)

    def run(self, v, seed, examples, how=("--dtype", "f64")):
        """Loss and gradient of as many examples, which differ in what is drawn."""
        path = [os.path.join(self.folder, n) for n in ("w.safetensors", "b.safetensors", "r.safetensors")]
        write(path[0], {"v": Tensor("F64", [len(v)], list(v))})
        data = {
            "x": Tensor("F64", [examples, len(X)], X * examples),
            "x.length": Tensor("I64", [examples], [len(X)] * examples),
            "y": Tensor("I64", [examples, len(Y)], Y * examples),
            "y.length": Tensor("I64", [examples], [len(Y)] * examples)}
        write(path[1], {name: t for name, t in data.items() if f"data {name[0]}[" in self.text})
        subprocess.run(["fovea", "run", self.spec, "--weights", path[0], "--data", path[1], "--seed", str(seed),
                        *how, "--get", "loss", "grads", "-o", path[2]], check=True)
        result = read(path[2])
        return result["loss"].values[0], result["grad/v"].values


# What is summed over entirely.
SUMS = {
    "enumerate": (SUM.format(estimator="enumerate"), marginal),
    **{f"both, {order}": (TWO.format(choices=choices, a="enumerate", b="enumerate"), functools.partial(both, order=order))
       for order, choices in CHOICES.items()}}
# What is drawn beside what is summed over.
BESIDE = {
    "beside a sum": (TWO.format(choices=CHOICES["b first"], a="enumerate", b="reinforce(baseline = -1)"), drawn_b),
    "average beside a sum": (TWO.format(choices=CHOICES["b first"], a="enumerate",
                                        b="reinforce(entropy = 0, samples = 2)"), drawn_b),
    "places beside a sum": (LATER.format(b="reinforce"), later),
    "later beside a sum": (LATER.format(b="reinforce(credit = later)"), later),
    "beside a chain": (CHAIN.format(b="reinforce(baseline = -1)"), chain)}


def check(folder, name):
    if name in SUMS:
        text, exact = SUMS[name]
        model, v = Model(folder, text), V[:3]
        for how in (("--dtype", "f64"), ("--reference",)):
            loss, slopes = model.run(v, 7, 3, how)
            for ours, wanted in zip([loss, *slopes], [exact(v), *gradient(exact, v)], strict=True):
                assert abs(ours - wanted) <= 1e-8, (name, ours, wanted)
        print(f"{name}: the loss and its gradient are those of the sum over all values")
        return 0
    if name in BESIDE:
        text, target = BESIDE[name]
        v = V[:3]
    elif name in SINGLES:
        estimator, (choice, term, target) = SINGLES[name]
        v, text = V[:3], ONE.format(choice=choice, term=term, estimator=estimator)
    else:
        estimator, penalty, target = CASES[name]
        v, text = V, SPEC.format(estimator=estimator, penalty=PENALTY if penalty else "")
    model = Model(folder, text)
    # The interpreter draws the same.
    ours, theirs = (model.run(v, 7, 5, how) for how in (("--dtype", "f64"), ("--reference",)))
    for a, b in zip([ours[0], *ours[1]], [theirs[0], *theirs[1]], strict=True):
        assert abs(a - b) <= 1e-11 * max(1, abs(b)), (a, b)
    if name in ("pathwise", "guide relaxed"):
        # A relaxation has the gradient of its own draw.
        exact = gradient(lambda w: model.run(w, 7, 5)[0], v)
        for a, b in zip(ours[1], exact, strict=True):
            assert abs(a - b) <= 1e-7, (ours[1], exact)
        print(f"{name}: the gradient is that of what was drawn")
        return 0
    runs = [model.run(v, seed, EXAMPLES)[1] for seed in range(RUNS)]
    wanted_of = gradient(target, v)
    variances = []
    for k, wanted in enumerate(wanted_of):
        means = [run[k] for run in runs]
        mean, error = statistics.fmean(means), statistics.stdev(means) / math.sqrt(RUNS)
        variances.append(statistics.variance(means) * EXAMPLES)
        assert abs(mean - wanted) <= 4 * error + 1e-8, f"{name}, v[{k}]: {mean} +- {error}, not {wanted}"
    print(f"{name}: the mean of {RUNS * EXAMPLES} draws is the exact gradient;",
          "variance of one draw", *(f"{value:.4f}" for value in variances))
    return sum(variances)


if __name__ == "__main__":
    folder, *names = sys.argv[1:]
    total = {name: check(folder, name) for name in names or [*CASES, *SINGLES, *SUMS, *BESIDE]}
    if {"reinforce", "baseline"} <= set(total):
        assert total["baseline"] < 0.7 * total["reinforce"], total
        print(f"the baseline leaves {100 * total['baseline'] / total['reinforce']:.0f} % of the variance")
    if {"reinforce", "later"} <= set(total):
        assert total["later"] < total["reinforce"], total
        print(f"credit for what comes later leaves {100 * total['later'] / total['reinforce']:.0f} % of the variance")
    if {"places beside a sum", "later beside a sum"} <= set(total):
        assert total["later beside a sum"] < total["places beside a sum"], total
    if {"samples", "baseline"} <= set(total):
        # A quarter; so few runs tell a variance within a factor of two.
        assert total["samples"] < 0.7 * total["baseline"], total
        print(f"four samples leave {100 * total['samples'] / total['baseline']:.0f} % of the variance")
