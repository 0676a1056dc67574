"""log p of each line that `fovea decode --scores` has printed, beside the sum over
all ways to choose what nobody sees.

    marginal.py once|each|chain < LINES
"""

import itertools
import math
import sys

V = [0.3, -0.4]  # of the values of z
W = [[0.0, 1.0, 2.0, 3.0], [3.0, 1.0, 0.0, -1.0]]  # of the symbols, for each value
N = [[0.5, -1.0], [0.2, 0.9]]  # of the next value
END, LONGEST = 1, 3


def log_softmax(x):
    whole = math.log(sum(map(math.exp, x)))
    return [e - whole for e in x]


def logp(kind, symbols):
    total = 0.0
    places = 1 if kind == "once" else len(symbols)
    for way in itertools.product(range(2), repeat=places):
        p = log_softmax(V)[way[0]]
        for t in range(1, places):
            p += log_softmax(N[way[t - 1]] if kind == "chain" else V)[way[t]]
        for t, symbol in enumerate(symbols):
            z = way[0] if kind == "once" else way[t]
            # The one before is read as well where there is a chain.
            x = [e * (1 + (way[t - 1] if kind == "chain" and t else 0)) for e in W[z]]
            p += log_softmax(x)[symbol]
        total += math.exp(p)
    return math.log(total)


count = 0
for line in sys.stdin:
    _, given, _, text = line.rstrip("\n").split("\t")
    symbols = [int(word) for word in text.split()]
    wanted = symbols + [END] * (len(symbols) < LONGEST)
    assert abs(logp(sys.argv[1], wanted) - float(given)) < 1e-8, (line, logp(sys.argv[1], wanted))
    count += 1
print(count, "lines agree")
