"""Compares the gradient of a policy with its exact value: the sum over all
outputs of a tiny model. Each row of the table is a model of its own, with the
same weights, so that one update draws as many independent gradients."""

import itertools
import json
import math
import os
import struct
import subprocess
import sys

ROWS, SYMBOLS, END, LONGEST = 1500, 3, 1, 3
START = [[0.3, -0.4, 0.5], [0.0, 0.0, 0.0], [-0.2, 0.1, 0.6]]
REFERENCE = (2, 0, END)

SPEC = """model tiny
vocab row : ids(%d), symbol : ids(%d)
data k[N] : token of row
data tgt[T] : sentence of symbol
param table : tensor(%d, %d, %d)
logits[t] = table[k[0], tgt[t-1]]
tgt[t] ~ categorical(logits[t])
gain = sum[t](if tgt[t] == 2 then 1 else -0.5)
train { optimiser = sgd, rate = 1, average = example, batch = %d, tgt ~ policy(%s) }
decode { longest = %d }
"""


def outputs():
    for length in range(1, LONGEST + 1):
        for symbols in itertools.product(range(SYMBOLS), repeat=length):
            isEnded = symbols[-1] == END
            if END not in symbols[:-1] and (isEnded or length == LONGEST):
                yield symbols


def score(symbols):
    """log p, and its gradient."""
    logp, gradient, before = 0, [[0] * SYMBOLS for _ in range(SYMBOLS)], 0
    for symbol in symbols:
        total = math.log(sum(math.exp(x) for x in START[before]))
        logp += START[before][symbol] - total
        for other in range(SYMBOLS):
            gradient[before][other] += (other == symbol) - math.exp(
                START[before][other] - total)
        before = symbol
    return logp, gradient


def gain(symbols):
    return sum(1 if symbol == 2 else -0.5 for symbol in symbols)


def accuracy(symbols):
    words = [w for w in symbols if w != END or symbols[-1] != END]
    wanted = REFERENCE[:-1]
    return sum(a == b for a, b in zip(words, wanted)) / max(
        len(words), len(wanted))


def exact(reward, likelihood):
    """What training minimises is -reward, mixed with -log p."""
    result = [[0] * SYMBOLS for _ in range(SYMBOLS)]
    observed = score(REFERENCE)[1]
    for symbols in outputs():
        logp, gradient = score(symbols)
        for i, j in itertools.product(range(SYMBOLS), repeat=2):
            result[i][j] -= ((1 - likelihood) * math.exp(logp) *
                             reward(symbols) * gradient[i][j])
    for i, j in itertools.product(range(SYMBOLS), repeat=2):
        result[i][j] -= likelihood * observed[i][j]
    return result


def writeWeights(path, values):
    data = struct.pack("<%dd" % len(values), *values)
    header = json.dumps({"table": {"dtype": "F64",
                                   "shape": [ROWS, SYMBOLS, SYMBOLS],
                                   "data_offsets": [0, len(data)]}}).encode()
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(header)) + header + data)


def readWeights(path):
    with open(path, "rb") as file:
        size, = struct.unpack("<Q", file.read(8))
        begin, end = json.loads(file.read(size))["table"]["data_offsets"]
        file.seek(8 + size + begin)
        return struct.unpack("<%dd" % ((end - begin) // 8),
                             file.read(end - begin))


def check(folder, name, arguments, reward, likelihood=0):
    path = os.path.join(folder, name)
    with open(path + ".fov", "w") as file:
        file.write(SPEC % (ROWS, SYMBOLS, ROWS, SYMBOLS, SYMBOLS, ROWS,
                           arguments, LONGEST))
    with open(path + ".tsv", "w") as file:
        for row in range(ROWS):
            words = " ".join(map(str, REFERENCE[:-1]))
            file.write("%d\t%s\n" % (row, words))
    before = [x for _ in range(ROWS) for row in START for x in row]
    writeWeights(path + ".safetensors", before)
    subprocess.run(
        ["fovea", "train", path + ".fov", "--quiet", "--dtype", "f64",
         "--weights", path + ".safetensors", "--steps", "1", "--out", path,
         "--data", "k=%s.tsv:1,tgt=%s.tsv:2" % (path, path)], check=True)
    after = readWeights(path + "/model.safetensors")
    wanted = exact(reward, likelihood)
    worst = 0
    for place in range(SYMBOLS * SYMBOLS):
        if place // SYMBOLS == END:
            continue
        drawn = [ROWS * (before[k] - after[k])
                 for k in range(place, len(after), SYMBOLS * SYMBOLS)]
        mean = sum(drawn) / ROWS
        variance = sum((x - mean)**2 for x in drawn) / (ROWS - 1)
        error = mean - wanted[place // SYMBOLS][place % SYMBOLS]
        worst = max(worst, abs(error) / math.sqrt(variance / ROWS))
    if not worst < 4:
        sys.exit("%s: the gradient is %.1f standard errors off" % (name, worst))
    print("%s: %d gradients have the exact mean within %.1f standard errors"
          % (name, ROWS, worst))


folder = sys.argv[1]
check(folder, "none", "reward = gain", gain)
check(folder, "others", "reward = gain, samples = 4, baseline = others", gain)
check(folder, "greedy", "reward = accuracy, samples = 2, baseline = greedy",
      accuracy)
check(folder, "mixed", "reward = accuracy, samples = 3, baseline = others, "
      "likelihood = 0.25", accuracy, 0.25)
