"""Sorting, speech, copying and handwriting: what literature-results measures of sequences of numbers."""

import csv
import pathlib
import random
import re
import tarfile
import wave

from literature.training import ADAM, ROOT, Training, equal, lines, minutes, rates, table


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
    for name, count, low, high in (("train", 20000, 5, 10), ("valid", 500, 5, 10), ("longer", 500, 12, 15)):
        given, order = numbers(count, low, high)
        sets[name] = {"point": lines(folder / f"{name}.points", given), "out": lines(folder / f"{name}.order", order)}
    rows = []
    for name, spec in (("pointer", "model sorting\nuse pointer\n"), ("blind", BLIND)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 6000,
                       {"H": 64, **ADAM, "train.batch": 64})
        cells = [f"`{name}`", minutes(one)]
        for part in ("valid", "longer"):
            made = one.decode({"point": sets[part]["point"]})
            cells.append(equal(made, sets[part]["out"].read_text().splitlines()))
        rows.append(cells)
    table(["model", "CPU time", "5 to 10 numbers", "12 to 15 numbers"], rows)

# Digits that are spoken.

# Takes of all speakers: those that are kept back, those to choose by, and those of the training.
TAKES = {"train": range(8, 17), "valid": (7,), "tried": (7,), "test": (5, 6), "longer": (5, 6), "ten": (5, 6)}
# From the first frame on, each phone is looked for in a window around where the last one was.
WINDOW = "align[-1, i < S] = if i == 0 then 1 else 0\n"
CONTENT = "energy[t,i] = dot(w, tanh(query(s[t-1]) + key(top[i])))\nnear[t < T, i < S, k < K] = 0\n"


def spoken(folder, data):
    """Strings of digits, each by one speaker, and their phones."""
    with tarfile.open(data / "fsdd/fsdd_takes_05_16.tar.xz") as archive:
        takes = {}
        for member in archive:
            if member.name.endswith(".wav"):
                digit, speaker, number = pathlib.Path(member.name).stem.split("_")
                with wave.open(archive.extractfile(member)) as sound:
                    takes.setdefault((speaker, int(number)), {})[int(digit)] = sound.readframes(sound.getnframes())
    with open(data / "fsdd/digit_phones.tsv", encoding="utf-8") as rows:
        phones = {int(row[0]): re.sub(r"\d", "", row[2]) for row in csv.reader(rows, delimiter="\t")}
    draw, sets = random.Random(1), {}
    for part, count, low, high in (("train", 5000, 1, 3), ("valid", 150, 1, 3), ("tried", 60, 5, 7), ("test", 150, 1, 3),
                                   ("longer", 60, 5, 7), ("ten", 40, 10, 10)):
        (folder / part).mkdir(exist_ok=True)
        names, said = [], []
        own = sorted(key for key in takes if key[1] in TAKES[part])
        for number in range(count):
            take = takes[draw.choice(own)]
            digits = [draw.choice(sorted(take)) for _ in range(draw.randint(low, high))]
            with wave.open(str(folder / part / f"{number:05}.wav"), "wb") as sound:
                sound.setparams((1, 2, 8000, 0, "NONE", ""))
                sound.writeframes(b"".join(take[digit] for digit in digits))
            names.append(f"{part}/{number:05}.wav")
            said.append(" ".join(phones[digit] for digit in digits))
        sets[part] = {"x": lines(folder / f"{part}.list", names), "tgt": lines(folder / f"{part}.txt", said)}
    return sets


def speech(folder, data, updates, only):
    sets = spoken(folder, data)
    heard = (ROOT / "models/speech.fov").read_text(encoding="utf-8")
    heard = re.sub(r"(data x\[S\] : real\(I\))", r"\1 from sound(rate = 8000)", heard)
    (folder / "specs").mkdir(exist_ok=True)
    (folder / "specs/heard.fov").write_text(heard.replace("model speech", "model heard"), encoding="utf-8")
    near = {"back": 20, "ahead": 60, "train.rate": "step(1000, 0.5, 0.002)"}
    rows = []
    for name, more, options, count in (("window", WINDOW, near, 2500), ("location", "", {}, 4000), ("content", CONTENT, {}, 4000)):
        if only and name not in only:
            continue
        one = Training(folder, name, f"model {name}\nuse heard\n{more}", sets["train"], sets["valid"], updates or count,
                       {"L": 1, "H": 64, "E": 16, "A": 32, "K": 4, "R": 41, "M": 32, **ADAM, **options,
                        "train.noise": "weight(0.05)", "train.batch": 16})
        cells = [f"`{name}`", minutes(one)]
        for part in ("test", "longer", "ten"):
            right = sets[part]["tgt"].read_text().splitlines()
            made = one.decode({"x": sets[part]["x"]}, "--beam", 3, "--set", "sharp=1")
            cells.append(f"{rates(made, right, folder, 'per'):.1f} %")
        rows.append(cells)
    table(["model", "CPU time", "PER, 1 to 3 digits", "5 to 7 digits", "10 digits"], rows)

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


# A memory that begins alike everywhere: what a place begins with would be learnt at the places alone that trainings reach.
EVEN = "mem[-1, n < N] = zeros(W) + 0.000001\n"
SMALL = {"N": 32, "W": 8, "H": 64, "B": 4}
SLOWER = {**ADAM, "train.rate": "step(5000, 0.5, 0.002)", "train.batch": 16}


def copy(folder, data, updates, only):
    draw, sets = random.Random(1), {}
    for part, count, low, high in (("train", 40000, 1, 8), ("valid", 200, 1, 8), ("12", 100, 12, 12),
                                   ("20", 100, 20, 20)):
        rows = []
        for _ in range(count):
            rows.append(" | ".join(" ".join(str(draw.randint(0, 1)) for _ in range(4))
                                   for _ in range(draw.randint(low, high))))
        path = lines(folder / f"{part}.bits", rows)
        sets[part] = {"input": path, "output": path}
    rows = []
    for name, spec, options in (("ntm", f"model copy\nuse ntm\n{EVEN}", SMALL), ("lstm", LSTM, {})):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 15000, {**options, **SLOWER})
        cells = [f"`{name}`", minutes(one)]
        for part in ("valid", "12", "20"):
            bits = sum(row.count("0") + row.count("1") for row in sets[part]["input"].read_text().splitlines())
            cells.append(f"{-sum(row['logp'] for row in one.score(sets[part])) / bits:.4f}")
        rows.append(cells)
    table(["model", "CPU time", "nats per bit, 1 to 8 rows", "12 rows", "20 rows"], rows)


# The same, as often as a number says that is read with the end of the rows.
REPEAT = """data output[T, B] : bit
data times : real
"""
REPEATED = "x[t < S+1+T, b < B+2] = if b < B then (input[t,b] ?? 0) else " \
           "(if t == S then (if b == B then 1 else times) else 0)\n"


def repeat(folder, data, updates, only):
    draw, sets = random.Random(1), {}
    for part, count, low, high, most in (("train", 40000, 1, 6, 4), ("valid", 200, 1, 6, 4), ("longer", 100, 10, 10, 4),
                                         ("often", 100, 4, 4, 7)):
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
    for name, more, options in (("ntm", EVEN, SMALL), ("lstm", "", {})):
        if only and name not in only:
            continue
        spec = f"model again\nuse {name}_again\n{more}decode {{ set T = S }}\n"
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 15000, {**options, **SLOWER})
        cells = [f"`{name}`", minutes(one)]
        for part in ("valid", "longer", "often"):
            bits = sum(row.count("0") + row.count("1") for row in sets[part]["output"].read_text().splitlines())
            cells.append(f"{-sum(row['logp'] for row in one.score(sets[part])) / bits:.4f}")
        rows.append(cells)
    table(["model", "CPU time", "nats per bit, 1 to 6 rows up to 4 times", "10 rows", "4 rows 7 times"], rows)

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
    for part, count in (("train", 4000), ("valid", 200)):
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
    points = sum(len(row.split()) for row in sets["valid"]["lift"].read_text().splitlines())
    rows = []
    for name, spec in (("graves", HAND), ("blind", BLIND_PEN)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 2500,
                       {"L": 2, "H": 96, "K": 4, "M": 6, **ADAM, "train.batch": 32})
        total = -sum(row["logp"] for row in one.score(sets["valid"]))
        rows.append([f"`{name}`", minutes(one), f"{total / points:.3f}"])
    table(["model", "CPU time", "nats per point"], rows)
