"""Captions, digits and films: what literature-results measures of pictures."""

import gzip
import random
import re
import struct
import zipfile
import zlib

from literature.training import ADAM, Training, equal, lines, minutes, percent, rates, table


# Pictures with their descriptions.

SHAPES = {"square": ["####", "####", "####", "####"], "cross": ["#..#", ".##.", ".##.", "#..#"],
          "bar": ["....", "####", "####", "...."], "post": [".##.", ".##.", ".##.", ".##."],
          "ring": ["####", "#..#", "#..#", "####"], "corner": ["#...", "#...", "#...", "####"]}
COLOURS = {"red": (200, 30, 30), "green": (30, 160, 30), "blue": (40, 40, 220)}


def png(path, rows):
    """Rows of (red, green, blue)."""
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) +
                     chunk(b"IEND", b""))


def scene(draw):
    """A picture of 24 x 24 with shapes in some of nine fields, and what is in it."""
    rows, said = [[(255, 255, 255)] * 24 for _ in range(24)], []
    for field in sorted(draw.sample(range(9), draw.randint(2, 4))):
        shape, colour = draw.choice(sorted(SHAPES)), draw.choice(sorted(COLOURS))
        top, left = field // 3 * 8 + draw.randint(1, 3), field % 3 * 8 + draw.randint(1, 3)
        for y, row in enumerate(SHAPES[shape]):
            for x, mark in enumerate(row):
                if mark == "#":
                    rows[top + y][left + x] = COLOURS[colour]
        said += [colour, shape]
    return rows, " ".join(said)


LOOK = """model MODEL
dim C = 16, E = 32, H = 64, A = 32
data image[24, 24] : real(3) from pixels(mean = 0.5, deviation = 0.5)
data tgt[T] : sentence
param conv1 : conv2d(C, 3, pad = 1), conv2 : conv2d(C, 3, pad = 1), conv3 : conv2d(2*C, 3, pad = 1)
param embed : embedding(E), decoder : lstm(H), init_h, init_c : linear(H)
param key : linear(A), query : linear(A, bias = false), v : vector(A), out : linear(tgt.vocab)
b1 = max_pool2d(relu(conv1(image)), 2)
b2 = max_pool2d(relu(conv2(b1)), 2)
a  = relu(conv3(b2))
cell[p < 36] = a[p // 6, p mod 6]
middle       = mean[p](cell[p])
h[-1] = tanh(init_h(middle));  c[-1] = tanh(init_c(middle))
energy[t,p] = dot(v, tanh(key(cell[p]) + query(h[t-1])))
align[t]    = softmax[p](energy[t,p])
h[t], c[t]  = decoder(h[t-1], c[t-1], embed(tgt[t-1]) ++ z[t])
tgt[t]      ~ categorical(out(h[t] ++ z[t]))
"""
SEEN = {"soft": "z[t] = sum[p](align[t,p] * cell[p])\n",
        "none": "z[t] = middle\n",
        "hard": "place[t] ~ categorical[p](energy[t,p])\nz[t] = cell[place[t]]\n"
                "train { place ~ reinforce(baseline = moving_average(0.9), entropy = 0.01, expected = 0.5, credit = later) }\n",
        "eight": "place[t] ~ categorical[p](energy[t,p])\nz[t] = cell[place[t]]\n"
                 "train { place ~ reinforce(baseline = moving_average(0.9), entropy = 0.01, expected = 0.5, credit = later, samples = 8) }\n",
        "through": "place[t] ~ categorical[p](energy[t,p])\nz[t] = cell[place[t]]\n"
                   "train { place ~ straight_through }\n",
        "gumbel": "place[t] ~ categorical[p](energy[t,p])\nz[t] = cell[place[t]]\n"
                  "train { place ~ gumbel(temperature = max(0.5, 0.999^train.step)) }\n"}


def captions(folder, data, updates, only):
    draw, sets = random.Random(1), {}
    for part, count in (("train", 6000), ("valid", 300)):
        (folder / part).mkdir(exist_ok=True)
        names, said = [], []
        for number in range(count):
            rows, text = scene(draw)
            png(folder / part / f"{number:05}.png", rows)
            names.append(f"{part}/{number:05}.png")
            said.append(text)
        sets[part] = {"image": lines(folder / f"{part}.list", names), "tgt": lines(folder / f"{part}.txt", said)}
    rows = []
    for name, seen in SEEN.items():
        spec = LOOK.replace("MODEL", name) + seen
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 6000,
                       {**ADAM, "train.batch": 32})
        made = one.decode({"image": sets["valid"]["image"]}, "--beam", 3)
        right = sets["valid"]["tgt"].read_text().splitlines()
        rows.append([f"`{name}`", minutes(one), f"{one.found['valid_perplexity']:.3f}", equal(made, right),
                     f"{rates(made, right, folder, 'bleu-4'):.1f}"])
    table(["attention", "CPU time", "perplexity", "exact", "BLEU-4"], rows)

def emoji(folder, data, updates, only):
    """Small drawings and what they are called; nothing of the validation was trained."""
    sets = {}
    for part, count in (("train", 2676), ("valid", 154)):
        (folder / f"{part}.npy").write_bytes(npy(data / f"openmoji_captions/{part}.npz", "images", 0, count))
        called = {}
        with gzip.open(data / f"openmoji_captions/{part}.tsv.gz", "rt", encoding="utf-8") as rows:
            for row in rows:
                number, phrase = row.split("\t")[:2]
                called.setdefault(int(number), " ".join(re.findall(r"\w+|[^\w\s]", phrase.lower())))
        sets[part] = {"image": folder / f"{part}.npy",
                      "tgt": lines(folder / f"{part}.txt", [called[number] for number in range(count)])}
    look = LOOK.replace("24, 24", "32, 32").replace("p < 36", "p < 64").replace("p // 6, p mod 6", "p // 8, p mod 8")
    rows = []
    for name in ("soft", "through", "none"):
        if only and name not in only:
            continue
        one = Training(folder, name, look.replace("MODEL", name) + SEEN[name], sets["train"], sets["valid"],
                       updates or 3000, {**ADAM, "train.batch": 32, "train.rate": "step(1000, 0.5, 0.002)"}, "exact",
                       ["--best-by", "exact"])
        made = one.decode({"image": sets["valid"]["image"]}, "--beam", 3)
        right = sets["valid"]["tgt"].read_text().splitlines()
        rows.append([f"`{name}`", minutes(one), f"{one.found['valid_perplexity']:.2f}", equal(made, right),
                     *(f"{rates(made, right, folder, metric):.1f}" for metric in ("bleu-4", "meteor"))])
    table(["attention", "CPU time", "perplexity", "exact", "BLEU-4", "METEOR"], rows)

# Digits that are drawn.

PLAIN = """model plain
dim H = 128, Z = 16
data image[28, 28] : bit from pixels
param enc : linear(H), dec : linear(H), mean_z, logstd_z : linear(Z), out : linear(784)
e = tanh(enc(concat[y,x](image[y,x] * 1.0)))
guide z ~ normal(mean_z(e), exp(logstd_z(e)))
z       ~ normal(zeros(Z), 1)
canvas = fold(out(tanh(dec(z))), 28)
image[y,x] ~ bernoulli(logit = canvas[y,x])
train  { z ~ reparameterised, optimiser = adam }
"""


def npy(path, member, first, end):
    """Examples first .. end-1 of an array of bytes in an npz, as a file of their own."""
    with zipfile.ZipFile(path) as archive:
        raw = archive.read(member + ".npy")
    size = 10 + struct.unpack("<H", raw[8:10])[0]
    shape = [int(word) for word in re.findall(r"\d+", raw[10:size].decode().split("shape")[1])]
    each = 1
    for extent in shape[1:]:
        each *= extent
    shape[0] = end - first
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {tuple(shape)!r}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    return b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + raw[size + first * each:size + end * each]


def digits(folder, data):
    """7,000 to train, 500 to choose by, and 500 that are kept back."""
    return {part: {"image": stored(folder / f"{part}.npy", npy(data / "mnist/mnist_train8k.npz", "images", first, end))}
            for part, first, end in (("train", 0, 7000), ("valid", 7000, 7500), ("test", 7500, 8000))}


def stored(path, content):
    path.write_bytes(content)
    return path


def draw(folder, data, updates, only):
    sets = digits(folder, data)
    rows = []
    steps = {"N": 16, "R": 8, "W": 10, "H": 96, "Z": 6, "train.rate": "step(3000, 0.5, 0.002)"}
    for name, spec, options, count in (("draw", "model drawing\nuse draw\n", steps, 5250), ("plain", PLAIN, {}, 9000)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or count,
                       {**ADAM, **options, "train.batch": 32, "train.average": "example"})
        found = one.score(sets["test"])
        rows.append([f"`{name}`", minutes(one), f"{-sum(row['logp'] for row in found) / len(found):.1f}"])
    table(["model", "CPU time", "bound of -log p, nats"], rows)

# Digits, a few glimpses at a time.

WHOLE = """model whole
dim H = 128
data image[28, 28] : real from pixels
data label : class(10)
param hidden : linear(H), out : linear(label.classes)
label ~ categorical(out(relu(hidden(concat[y,x](image[y,x])))))
train  { optimiser = adam }
"""


def glimpses(folder, data, updates, only):
    sets = digits(folder, data)
    with zipfile.ZipFile(data / "mnist/mnist_train8k.npz") as archive:
        labels = archive.read("labels.npy")[-8000:]
    for part, first, end in (("train", 0, 7000), ("valid", 7000, 7500), ("test", 7500, 8000)):
        sets[part]["label"] = lines(folder / f"{part}.label", [str(label) for label in labels[first:end]])
    look = {"N": 6, "G": 1, "H": 128, "train.rate": "step(2500, 0.4, 0.001)", "train.clip": 5}
    rows = []
    for name, spec, options, count in (("ram", "model glimpses\nuse ram\n", look, 8000), ("whole", WHOLE, {}, 3000)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or count,
                       {**ADAM, "train.rate": 0.001, "train.batch": 32, **options}, "exact", ["--best-by", "exact"])
        made = one.decode({"image": sets["test"]["image"]})
        right = sets["test"]["label"].read_text().splitlines()
        wrong = sum(a != b for a, b in zip(made, right, strict=True))
        rows.append([f"`{name}`", minutes(one), percent(wrong, len(right))])
    table(["model", "CPU time", "wrong digits"], rows)

# Films with sentences.

NUMBERS = "zero one two three four five six seven eight nine".split()
WAYS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
STILL = """model still
use video
z[t] = mean[n](frame[n]) ++ frame[0]
h[-1] = tanh(init_h(mean[n](frame[n])));  c[-1] = tanh(init_c(frame[0]))
"""


def films(folder, data, updates, only):
    with zipfile.ZipFile(data / "mnist/mnist_train8k.npz") as archive:
        labels = archive.read("labels.npy")[-8000:]
        images = archive.read("images.npy")[-8000 * 784:]
    draw, sets = random.Random(1), {}
    for part, count in (("train", 3000), ("valid", 300)):
        body, said = bytearray(), []
        for number in range(count):
            digit = number if part == "train" else 7000 + number
            small = [[images[digit * 784 + 28 * (2 * y) + 2 * x] for x in range(14)] for y in range(14)]
            way = draw.choice(sorted(WAYS))
            dy, dx = WAYS[way]
            top, left = (draw.randint(1, 5) if d == 0 else (6 if d < 0 else 0) for d in (dy, dx))
            for frame in range(6):
                rows = [bytearray(20) for _ in range(20)]
                for y in range(14):
                    for x in range(14):
                        rows[top + dy * frame + y][left + dx * frame + x] = small[y][x]
                body += b"".join(rows)
            said.append(f"{NUMBERS[labels[digit]]} moves {way}")
        head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({count}, 6, 20, 20, 1), }}"
        head += " " * (-(10 + len(head) + 1) % 64) + "\n"
        (folder / f"{part}.npy").write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + body)
        sets[part] = {"clip": folder / f"{part}.npy", "tgt": lines(folder / f"{part}.txt", said)}
    rows = []
    for name, spec in (("video", "model film\nuse video\n"), ("still", STILL)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 600,
                       {"C": 12, "D": 32, "E": 16, "H": 48, "A": 32, **ADAM, "train.batch": 16})
        made = one.decode({"clip": sets["valid"]["clip"]})
        right = sets["valid"]["tgt"].read_text().splitlines()
        cells = [f"`{name}`", minutes(one), equal(made, right)]
        for place in (0, 2):
            words = [[text.split()[place] if len(text.split()) > place else "" for text in side]
                     for side in (made, right)]
            cells.append(equal(*words))
        rows.append(cells)
    table(["model", "CPU time", "whole sentence", "digit", "way"], rows)
