"""Sorting, copying and handwriting: what literature-results measures of sequences of numbers."""

import random
import re

from literature.training import ADAM, ROOT, all_minutes, chosen, lines, spread, table, trials, wrong


# Sorting: the outputs are places of the input.

BLIND = """model blind
use pointer
param place : matrix(64, H)
energy[t, i < N+1] = dot(place[min(i, 63)], d[t])
"""


def sorting(folder, data, updates, only):
    draw = random.Random(1)

    def numbers(count, low, high):
        rows = [[draw.random() for _ in range(draw.randint(low, high))] for _ in range(count)]
        given = [" ".join(f"{x:.4f},0" for x in row) for row in rows]
        order = [" ".join(map(str, sorted(range(len(row)), key=row.__getitem__))) for row in rows]
        return given, order

    sets = {}
    for name, count, low, high in (("train", 20000, 5, 10), ("valid", 250, 5, 10), ("test", 500, 5, 10),
                                   ("longer", 500, 12, 15)):
        given, order = numbers(count, low, high)
        sets[name] = {"point": lines(folder / f"{name}.points", given), "out": lines(folder / f"{name}.order", order)}
    rows = []
    for name, spec in chosen((("pointer", "model sorting\nuse pointer\n"), ("blind", BLIND)), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 12000,
                       {"H": 64, **ADAM, "train.batch": 64, "train.rate": "cosine(12000, 0.004)"})
        cells = [f"`{name}`", all_minutes(found)]
        for part in ("test", "longer"):
            right = sets[part]["out"].read_text().splitlines()
            cells.append(spread([100 - wrong(one.decode({"point": sets[part]["point"]}), right) for one in found]))
        rows.append(cells)
    table(["model", "CPU time, three seeds", "5 to 10 numbers, exact, %", "12 to 15 numbers"], rows)

# Copying what was read.

LSTM = """model lstm
dim H = 128, B = 4
data input[S, B]  : bit
data output[S, B] : bit
param control : lstm(H), out : linear(B)
x[t < 2*S+1, b < B+1] = if b < B then (input[t,b] ?? 0) else (if t == S then 1 else 0)
h[t], c[t]  = control(h[t-1], c[t-1], x[t]);  h[-1] = zeros(H);  c[-1] = zeros(H)
o[t]        = out(h[t])
output[i,b] ~ bernoulli(logit = o[S+1+i, b])
"""


# How a memory may begin: with the same number everywhere, or with other random numbers for each example.
EVEN = "mem[-1, n < N] = zeros(W) + 0.000001\n"
RANDOM = """fill[n < N] ~ normal(zeros(W), 0.1)
mem[-1,n] = fill[n]
train { fill ~ reparameterised }
decode { fill ~ sample }
"""
SMALL = {"N": 32, "W": 8, "H": 64, "B": 4}
SLOWER = {**ADAM, "train.rate": "step(5000, 0.5, 0.002)", "train.batch": 16}


def nats(trainings, data, name):
    """Nats per bit of `name`, of each training."""
    bits = sum(row.count("0") + row.count("1") for row in data[name].read_text().splitlines())
    return [-sum(row["logp"] for row in one.score(data)) / bits for one in trainings]


def copy(folder, data, updates, only):
    draw, sets = random.Random(1), {}
    for part, count, low, high in (("train", 40000, 1, 8), ("valid", 200, 1, 8), ("test", 200, 1, 8),
                                   ("16", 100, 16, 16), ("20", 100, 20, 20)):
        rows = []
        for _ in range(count):
            rows.append(" | ".join(" ".join(str(draw.randint(0, 1)) for _ in range(4))
                                   for _ in range(draw.randint(low, high))))
        path = lines(folder / f"{part}.bits", rows)
        sets[part] = {"input": path, "output": path}
    rows = []
    for name, label, spec, options in chosen((
            ("even", "`ntm`, the same number everywhere", f"model copy\nuse ntm\n{EVEN}", SMALL),
            ("random", "`ntm`, random numbers for each example", f"model copy\nuse ntm\n{RANDOM}", SMALL),
            ("learnt", "`ntm`, learnt numbers", "model copy\nuse ntm\n", SMALL),
            ("lstm", "an LSTM of 128", LSTM, {})), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 15000, {**options, **SLOWER})
        cells = [spread(nats(found, sets[part], "output"), 4) for part in ("test", "16", "20")]
        rows.append([label, all_minutes(found), *cells])
    table(["memory begins with", "CPU time, three seeds", "nats per bit, 1 to 8 rows", "16 rows", "20 rows"], rows)


# The same, as often as a number says that is read with the end of the rows.
REPEAT = """data output[T, B] : bit
data times : real
"""
REPEATED = "x[t < S+1+T, b < B+2] = if b < B then (input[t,b] ?? 0) else " \
           "(if t == S then (if b == B then 1 else times) else 0)\n"


def repeat(folder, data, updates, only):
    draw, sets = random.Random(1), {}
    for part, count, low, high, most in (("train", 40000, 1, 6, 4), ("valid", 200, 1, 6, 4), ("test", 200, 1, 6, 4),
                                         ("longer", 100, 10, 10, 4), ("often", 100, 4, 4, 7)):
        columns = ([], [], [])
        for _ in range(count):
            rows = [" ".join(str(draw.randint(0, 1)) for _ in range(4)) for _ in range(draw.randint(low, high))]
            times = most if most > 4 else draw.randint(1, most)
            for column, cell in zip(columns, (" | ".join(rows), " | ".join(rows * times), str(times / 4)), strict=True):
                column.append(cell)
        sets[part] = {name: lines(folder / f"{part}.{name}", column)
                      for name, column in zip(("input", "output", "times"), columns, strict=True)}
    (folder / "specs").mkdir(exist_ok=True)
    for base, text in (("ntm", (ROOT / "models/ntm.fov").read_text(encoding="utf-8")), ("lstm", LSTM)):
        text = re.sub(r"data output\[S, B\] : bit\n", REPEAT, text)
        text = re.sub(r"x\[t < 2\*S\+1.*\n", REPEATED, text).replace(f"model {base}", f"model {base}_again")
        (folder / f"specs/{base}_again.fov").write_text(text, encoding="utf-8")
    rows = []
    for name, more, options in chosen((("ntm", EVEN, SMALL), ("lstm", "", {})), only):
        spec = f"model again\nuse {name}_again\n{more}decode {{ set T = S }}\n"
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 15000, {**options, **SLOWER})
        cells = [spread(nats(found, sets[part], "output"), 4) for part in ("test", "longer", "often")]
        rows.append([f"`{name}`", all_minutes(found), *cells])
    table(["model", "CPU time, three seeds", "nats per bit, 1 to 6 rows up to 4 times", "10 rows", "4 rows 7 times"], rows)

# Words that are written by hand.

# The window of a small model begins slowly: it would be past the text after a few points.
HAND = """model hand
use graves
kappa[t] = kappa[t-1] + exp(gk[t] - 3);  kappa[-1] = zeros(K)
"""
BLIND_PEN = """model scribble
use graves
w[t] = zeros(text.vocab);  w[-1] = zeros(text.vocab)
"""


def glyphs(path):
    """The small letters of a Hershey font: lists of (x, y, whether the pen leaves), and widths."""
    rows, text = [], path.read_text(encoding="latin-1").replace("\r", "")
    while text.strip():
        count = int(text[5:8])
        body, taken = "", 8
        while len(body) < 2 * count:
            body += "" if text[taken] == "\n" else text[taken]
            taken += 1
        text = text[taken:].lstrip("\n")
        pairs = [(ord(a) - 82, ord(b) - 82) for a, b in zip(body[::2], body[1::2])]
        strokes, rest = [], body[2:]
        for i in range(0, len(rest), 2):
            if rest[i:i + 2] == " R":
                strokes[-1] = (*strokes[-1][:2], 1)
            else:
                strokes.append((ord(rest[i]) - 82, ord(rest[i + 1]) - 82, 0))
        if strokes:
            strokes[-1] = (*strokes[-1][:2], 1)
        rows.append((pairs[0][0], pairs[0][1], strokes))
    return {chr(32 + number): row for number, row in enumerate(rows)}


def handwriting(folder, data, updates, only):
    letters = glyphs(data / "strokes/hershey/rowmans.jhf")
    draw, sets = random.Random(1), {}
    for part, count in (("train", 4000), ("valid", 200), ("test", 200)):
        columns = {"text": [], "stroke": [], "lift": []}
        for _ in range(count):
            word = [draw.choice("abcdefghijklmnopqrstuvwxyz") for _ in range(draw.randint(2, 5))]
            x0, last, moves, lifts = 0.0, (0.0, 0.0), [], []
            slant, size = draw.uniform(-0.2, 0.3), draw.uniform(0.9, 1.1)
            for letter in word:
                left, right, strokes = letters[letter]
                for x, y, lift in strokes:
                    at = (size * (x0 + x - left - slant * y), size * y)
                    moves.append(f"{(at[0] - last[0]) / 8:.3f},{(at[1] - last[1]) / 8:.3f}")
                    lifts.append(str(lift))
                    last = at
                x0 += right - left
            columns["text"].append(" ".join(word))
            columns["stroke"].append(" ".join(moves))
            columns["lift"].append(" ".join(lifts))
        sets[part] = {name: lines(folder / f"{part}.{name}", column) for name, column in columns.items()}
    points = sum(len(row.split()) for row in sets["test"]["lift"].read_text().splitlines())
    rows = []
    for name, spec in chosen((("graves", HAND), ("blind", BLIND_PEN)), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 2500,
                       {"L": 2, "H": 96, "K": 4, "M": 6, **ADAM, "train.batch": 32})
        totals = [-sum(row["logp"] for row in one.score(sets["test"])) for one in found]
        rows.append([f"`{name}`", all_minutes(found), spread([total / points for total in totals], 3)])
    table(["model", "CPU time, three seeds", "nats per point"], rows)
