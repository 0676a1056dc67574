"""Captions, digits and films: what literature-results measures of pictures."""

import json
import math
import random
import re
import struct
import zipfile
import zlib

from literature.training import ADAM, ROOT, all_minutes, chosen, lines, rates, run, spread, table, trials, wrong


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
    """A picture of 24 x 24 with shapes in some of nine fields, what is in it, and the fields."""
    rows, said = [[(255, 255, 255)] * 24 for _ in range(24)], []
    fields = sorted(draw.sample(range(9), draw.randint(2, 4)))
    for field in fields:
        shape, colour = draw.choice(sorted(SHAPES)), draw.choice(sorted(COLOURS))
        top, left = field // 3 * 8 + draw.randint(1, 3), field % 3 * 8 + draw.randint(1, 3)
        for y, row in enumerate(SHAPES[shape]):
            for x, mark in enumerate(row):
                if mark == "#":
                    rows[top + y][left + x] = COLOURS[colour]
        said += [colour, shape]
    return rows, " ".join(said), fields


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


def archived(path, member, first, end):
    """Examples first .. end-1 of an array of bytes in an npz, and the shape of one."""
    with zipfile.ZipFile(path) as archive:
        raw = archive.read(member + ".npy")
    size = 10 + struct.unpack("<H", raw[8:10])[0]
    shape = [int(word) for word in re.findall(r"\d+", raw[10:size].decode().split("shape")[1])]
    each = math.prod(shape[1:])
    return [raw[size + at * each:size + (at + 1) * each] for at in range(first, end)], tuple(shape[1:])


def stored(path, shape, examples):
    """Writes an array of bytes as an npy file."""
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {(len(examples), *shape)!r}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + b"".join(examples))
    return path


def digits(folder, data):
    """7,000 to train, 500 to choose by, and 500 that are kept back."""
    images, shape = archived(data / "mnist/mnist_train8k.npz", "images", 0, 8000)
    return {part: {"image": stored(folder / f"{part}.npy", shape, images[first:end])}
            for part, first, end in (("train", 0, 7000), ("valid", 7000, 7500), ("test", 7500, 8000))}


def draw(folder, data, updates, only):
    sets = digits(folder, data)
    rows = []
    steps = {"N": 16, "R": 8, "W": 10, "H": 96, "Z": 6, "train.rate": "step(3000, 0.5, 0.002)"}
    for name, spec, options, count in chosen((("draw", "model drawing\nuse draw\n", steps, 5250),
                                              ("plain", PLAIN, {}, 9000)), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or count,
                       {**ADAM, **options, "train.batch": 32, "train.average": "example"})
        bounds = []
        for one in found:
            scored = one.score(sets["test"])
            bounds.append(-sum(row["logp"] for row in scored) / len(scored))
        label = "`draw`" if name == "draw" else "one latent of 16, without steps or attention"
        rows.append([label, all_minutes(found), spread(bounds)])
    table(["model", "CPU time, three seeds", "bound of -log p, nats"], rows)


# Digits as grids of codes.

CODES = {
    "vq_vae": ("`vq_vae`", ""),
    "trained": ("the code book has a loss of its own",
                "param table : matrix(N, D)\nbook[n] = table[n]\n"
                "penalty sum[i](sum[d]((stop(z[i,d]) - book[near[i],d])^2))\n"),
    "alike": ("no prior: all codes alike", "code[i < S*S] ~ categorical(zeros(N))\n")}


def used(training):
    """How many codes more than one place in 10,000 has chosen lately."""
    raw = (training.out / "model.safetensors").read_bytes()
    size = 8 + struct.unpack("<Q", raw[:8])[0]
    first, end = json.loads(raw[8:size])["count"]["data_offsets"]
    counts = struct.unpack(f"<{(end - first) // 4}f", raw[size + first:size + end])
    return sum(count > 1e-4 * sum(counts) for count in counts)


def codes(folder, data, updates, only):
    sets = digits(folder, data)
    rows = []
    for name in chosen(CODES, only):
        label, changes = CODES[name]
        found = trials(folder, name, f"model coded\nuse vq_vae\n{changes}", sets["train"], sets["valid"],
                       updates or 6000, {"train.rate": "step(2000, 0.4, 0.002)"}, validations=6)
        bounds = []
        for one in found:
            scored = one.score(sets["test"])
            bounds.append(-sum(row["logp"] for row in scored) / len(scored))
        rows.append([label, all_minutes(found), spread(bounds), spread([used(one) for one in found], 0)])
    table(["model", "CPU time, three seeds", "bound of -log p, nats", "codes in use, of 64"], rows)


# Digits that are made from noise.

def small(picture):
    """14 x 14 means of four pixels each."""
    return bytes(sum(picture[56 * y + 2 * x + at] for at in (0, 1, 28, 29)) // 4 for y in range(14) for x in range(14))


def normals(np, pictures, names, asked, seed):
    """Draws from one normal distribution for each digit, of all its pixels."""
    draw, drawn = np.random.default_rng(seed), np.zeros((len(asked), pictures.shape[1]))
    for digit in range(10):
        own = pictures[names == digit]
        drawn[asked == digit] = draw.multivariate_normal(own.mean(0), np.cov(own.T), (asked == digit).sum())
    return drawn.clip(0, 1)


def distances(np, a, b):
    return np.sqrt(np.maximum((a ** 2).sum(1)[:, None] + (b ** 2).sum(1) - 2 * a @ b.T, 0))


def flows(folder, data, updates, only):
    """What is drawn is judged by 500 pictures of the test: by the energy distance (Szekely and Rizzo, 2013), and by
    the digit that the nearest of 1,000 others shows."""
    import numpy as np
    images, _ = archived(data / "mnist/mnist_train8k.npz", "images", 0, 8000)
    labels = [label[0] for label in archived(data / "mnist/mnist_train8k.npz", "labels", 0, 8000)[0]]
    images = [small(image) for image in images]
    pictures, names = np.array([list(image) for image in images]) / 255, np.array(labels)
    sets = {part: {"image": stored(folder / f"{part}.npy", (14, 14), images[first:end]),
                   "digit": lines(folder / f"{part}.digit", map(str, labels[first:end]))}
            for part, first, end in (("train", 0, 6000), ("valid", 6000, 6500), ("test", 7500, 8000))}
    test, asked, known = pictures[7500:], names[7500:], pictures[6500:7500]
    rows = []

    def judge(label, spent, drawn):
        far = [1000 * (2 * distances(np, one, test).mean() - distances(np, one, one).mean()
                       - distances(np, test, test).mean()) for one in drawn]
        right = [100 * (names[6500:7500][distances(np, one, known).argmin(1)] == asked).mean() for one in drawn]
        rows.append([label, spent, spread(far, 0), spread(right)])

    wanted = chosen(("flow_matching", "normals", "others"), only)
    if "flow_matching" in wanted:
        found = trials(folder, "flow", "model flow\nuse flow_matching\n", sets["train"], sets["valid"], updates or 8000,
                       {"train.rate": f"cosine({updates or 8000}, 0.001, 0)"})
        for steps in 40, 5, 1:
            drawn = [one.decode({"digit": sets["test"]["digit"]}, "--seed", 7, "--set", f"N={steps}") for one in found]
            judge(f"`flow_matching`, steps: {steps}", all_minutes(found),
                  [np.array([re.split("[ ,]", line) for line in said], float).clip(0, 1) for said in drawn])
    if "normals" in wanted:
        judge("a normal distribution for each digit", "", [normals(np, pictures[:6000], names[:6000], asked, seed)
                                                           for seed in (1, 2, 3)])
    if "others" in wanted:
        judge("other pictures of the data, of any digit", "", [pictures[6000:6500]])
    table(["drawn by", "CPU time, three seeds", "energy distance, thousandths", "the digit that was asked for, %"], rows)


# Digits in two views, without labels.

def views(np, pictures, draw):
    """Each picture turned by up to 20 degrees, scaled by up to 20 % and moved by up to 1.5 of its 14 pixels."""
    count, side = len(pictures), 14
    turn, scale = draw.uniform(-0.35, 0.35, count), draw.uniform(0.8, 1.2, count)
    y, x = (at.reshape(1, -1) - 6.5 for at in np.mgrid[:side, :side])
    cos, sin = (scale * np.cos(turn))[:, None], (scale * np.sin(turn))[:, None]
    shift = draw.uniform(-1.5, 1.5, (2, count, 1))
    down, right = cos * y - sin * x + shift[0] + 6.5, sin * y + cos * x + shift[1] + 6.5
    result, rows = np.zeros((count, side * side)), np.arange(count)[:, None]
    for dy in 0, 1:  # bilinear: four pixels
        for dx in 0, 1:
            i, j = np.floor(down).astype(int) + dy, np.floor(right).astype(int) + dx
            inside = (i >= 0) & (i < side) & (j >= 0) & (j < side)
            share = (1 - abs(down - i)) * (1 - abs(right - j)) * inside
            result += share * pictures[rows, i.clip(0, 13) * side + j.clip(0, 13)]
    return result.astype("f4")


def hidden(np, path, pictures):
    """The hidden units of the student, for each picture."""
    raw = path.read_bytes()
    size = 8 + struct.unpack("<Q", raw[:8])[0]
    head = json.loads(raw[8:size])

    def weight(name):
        first, end = head[name]["data_offsets"]
        return np.frombuffer(raw[size + first:size + end], "<f4").reshape(head[name]["shape"])

    return np.maximum(pictures @ weight("student.up.weight").T + weight("student.up.bias"), 0)


def probed(features, names, labelled):
    """A linear classifier by ridge regression: wrong digits of the test, in per cent. Validation chooses its decay."""
    from sklearn.linear_model import RidgeClassifier
    scaled = features / features[:6000].std()
    found = [RidgeClassifier(alpha=decay).fit(scaled[labelled], names[labelled]) for decay in (1, 10, 100, 1000)]
    best = max(found, key=lambda one: one.score(scaled[6000:6500], names[6000:6500]))
    return 100 - 100 * best.score(scaled[6500:], names[6500:])


def contrast(folder, data, updates, only):
    """Groups of 32 digits in two views each. Then a linear classifier learns from 200 labels, or from 6,000."""
    import numpy as np
    images, _ = archived(data / "mnist/mnist_train8k.npz", "images", 0, 8000)
    names = np.array([label[0] for label in archived(data / "mnist/mnist_train8k.npz", "labels", 0, 8000)[0]])
    pictures = np.array([list(small(image)) for image in images]) / 255
    draw, sets, group, updates = np.random.default_rng(1), {}, 32, updates or 4000
    for part, first, end, groups in (("train", 0, 6000, updates), ("valid", 6000, 6500, 60)):
        seen = pictures[np.concatenate([draw.permutation(np.arange(first, end))[:group] for _ in range(groups)])]
        sets[part] = {name: folder / f"{part}.{name}.npy" for name in ("seen", "other")}
        for path in sets[part].values():
            np.save(path, views(np, seen, draw).reshape(groups, group, -1))
    labels = [np.concatenate([np.random.default_rng(seed).permutation(np.flatnonzero(names[:6000] == digit))[:20]
                              for digit in range(10)]) for seed in (1, 2, 3)]
    rows = []

    def judge(label, spent, features):
        few = [probed(one, names, own) for one, own in zip(features, labels, strict=False)]
        every = [probed(one, names, np.arange(6000)) for one in features]
        rows.append([label, spent, spread(few), spread(every)])

    wanted = chosen(("moco", "untrained", "pixels"), only)
    if "moco" in wanted:
        found = trials(folder, "moco", "model contrast\nuse moco\n", sets["train"], sets["valid"], updates,
                       {"X": 196, "N": 2048, "share": 0.99, "heat": 0.1, "train.rate": f"cosine({updates}, 0.05, 0)"})
        judge("`moco`", all_minutes(found), [hidden(np, one.out / "model.safetensors", pictures) for one in found])
    if "untrained" in wanted:
        first = [folder / f"untrained-{seed}.safetensors" for seed in (1, 2, 3)]
        for seed, path in enumerate(first, 1):
            run("init", ROOT / "models/moco.fov", "--seed", seed, "--set", "X=196", "--output", path)
        judge("the same, untrained", "", [hidden(np, path, pictures) for path in first])
    if "pixels" in wanted:
        judge("the pixels", "", [pictures] * 3)
    table(["classifier of", "CPU time, three seeds", "wrong digits, 200 labels, %", "6,000 labels, %"], rows)


# Digits, a few glimpses at a time.

WHOLE = """model whole
dim H = 128
data image[28, 28] : real from pixels
data label : class(10)
param hidden : linear(H), out : linear(label.classes)
label ~ categorical(out(relu(hidden(concat[y,x](image[y,x])))))
train  { optimiser = adam }
"""


# Fewer draws than in the spec: an update takes less time.
GLIMPSES = "model glimpses\nuse ram\ntrain { place ~ reinforce(reward = hit, baseline = base, samples = 4) }\n"
WIDE = 60  # places of a row where a digit of 28 may be anywhere


def moved(draw, picture):
    """A digit at a random place of a larger picture."""
    top, left = draw.randint(0, WIDE - 28), draw.randint(0, WIDE - 28)
    rows = [bytes(left) + picture[first:first + 28] + bytes(WIDE - 28 - left) for first in range(0, 784, 28)]
    return bytes(WIDE * top) + b"".join(rows) + bytes(WIDE * (WIDE - 28 - top))


def glimpses(folder, data, updates, only):
    """Moved digits are trained at four places each."""
    images, _ = archived(data / "mnist/mnist_train8k.npz", "images", 0, 8000)
    labels = [str(row[0]) for row in archived(data / "mnist/mnist_train8k.npz", "labels", 0, 8000)[0]]
    draw = random.Random(1)
    wanted = chosen(("moved-ram", "moved-whole", "centred-ram", "centred-whole"), only)
    rows = []
    for place, width, copies in (("moved", WIDE, 4), ("centred", 28, 1)):
        sets = {}
        for part, first, end in (("train", 0, 7000), ("valid", 7000, 7500), ("test", 7500, 8000)):
            count = copies if part == "train" else 1
            pictures = [moved(draw, image) if place == "moved" else image for image in images[first:end] * count]
            sets[part] = {"image": stored(folder / f"{place}.{part}.npy", (width, width), pictures),
                          "label": lines(folder / f"{place}.{part}.label", labels[first:end] * count)}
        right = sets["test"]["label"].read_text().splitlines()
        look = {"N": 4, "H": 128, "train.rate": "step(3000, 0.4, 0.002)", "train.clip": 5}
        for name, spec, options in (
                ("ram", GLIMPSES, {**look, "W": 12 if place == "moved" else 8}),
                ("whole", WHOLE.replace("28", str(width)), {"train.rate": 0.001})):
            if f"{place}-{name}" not in wanted:
                continue
            found = trials(folder, f"{place}-{name}", spec, sets["train"], sets["valid"], updates or 9000,
                           {**ADAM, "train.batch": 32, **options}, metric="exact", more=["--best-by", "exact"],
                           validations=6)
            missed = [wrong(one.decode({"image": sets["test"]["image"]}), right) for one in found]
            label = "`ram`" if name == "ram" else "a perceptron with 128 hidden units"
            rows.append([f"{label}, {place}", all_minutes(found), spread(missed)])
    table(["model, digits", "CPU time, three seeds", "wrong digits, %"], rows)


# Films with sentences.

NUMBERS = "zero one two three four five six seven eight nine".split()
WAYS = {"left": (0, -1), "right": (0, 1), "up": (-1, 0), "down": (1, 0)}
# The four systems of Yao et al. (2015): local is motion, from convolutions over time, and global attention over time.
FILMS = {
    "none": "z[t] = mean[n](frame[n])\nc[-1] = tanh(init_c(mean[n](frame[n])))\n",
    "global": "z[t] = sum[n](look[t,n] * frame[n])\nc[-1] = tanh(init_c(mean[n](frame[n])))\n",
    "local": "z[t] = mean[n](frame[n]) ++ mean[j](motion[j])\n",
    "both": ""}


def films(folder, data, updates, only):
    images, _ = archived(data / "mnist/mnist_train8k.npz", "images", 0, 8000)
    labels = [row[0] for row in archived(data / "mnist/mnist_train8k.npz", "labels", 0, 8000)[0]]
    draw, sets = random.Random(1), {}
    for part, first, end in (("train", 0, 3000), ("valid", 7000, 7250), ("test", 7500, 7800)):
        films, said = [], []
        for digit in range(first, end):
            small = [images[digit][28 * y:28 * y + 28:2] for y in range(0, 28, 2)]
            way = draw.choice(sorted(WAYS))
            dy, dx = WAYS[way]
            top, left = (draw.randint(1, 5) if d == 0 else (6 if d < 0 else 0) for d in (dy, dx))
            film = b""
            for frame in range(6):
                rows = [bytearray(20) for _ in range(20)]
                for y in range(14):
                    start = left + dx * frame
                    rows[top + dy * frame + y][start:start + 14] = small[y]
                film += b"".join(rows)
            films.append(film)
            said.append(f"{NUMBERS[labels[digit]]} moves {way}")
        sets[part] = {"clip": stored(folder / f"{part}.npy", (6, 20, 20, 1), films),
                      "tgt": lines(folder / f"{part}.txt", said)}
    rows, right = [], sets["test"]["tgt"].read_text().splitlines()
    for name, seen in chosen(FILMS.items(), only):
        found = trials(folder, name, f"model film\nuse video\n{seen}", sets["train"], sets["valid"], updates or 400,
                       {"C": 12, "D": 32, "E": 16, "H": 48, "A": 32, **ADAM, "train.rate": "step(200, 0.5, 0.004)",
                        "train.batch": 16})
        made = [one.decode({"clip": sets["test"]["clip"]}) for one in found]
        symbols = sum(len(text.split()) + 1 for text in right)
        perplexity = [math.exp(-sum(row["logp"] for row in one.score(sets["test"])) / symbols) for one in found]
        cells = [spread([rates(one, right, folder, metric) for one in made]) for metric in ("meteor", "bleu-4")]
        for place in (0, 2):
            words = [[" ".join(text.split()[place:place + 1]) for text in side] for side in (right, *made)]
            cells.append(spread([100 - wrong(own, words[0]) for own in words[1:]]))
        rows.append([name if name != "both" else "both: `video`", all_minutes(found), *cells[:2], spread(perplexity, 3), *cells[2:]])
    table(["attention and motion", "CPU time, three seeds", "METEOR", "BLEU-4", "perplexity", "digit, %", "direction, %"],
          rows)
