"""Pictures and what people call them, by the published specs of Xu et al. (2015): what literature-results measures
of captions."""

import functools
import gzip
import random
import re

from literature.alignments import shown
from literature.pictures import archived, png, scene, stored
from literature.training import ADAM, SEEDS, Training, all_minutes, chosen, lines, rates, spread, table, wrong

# The specs read annotation vectors. Here three convolutions compute them, and each place has a vector of its own.
FRONT = """dim K = 16
data image[{height}, {width}] : real(3) from pixels(mean = 0.5, deviation = 0.5)
param conv1 : conv2d(K, 3, pad = 1), conv2 : conv2d(K, 3, pad = 1), conv3 : conv2d(D, 3, pad = 1)
param spot : matrix({places}, D)
grid = relu(conv3(max_pool2d(relu(conv2(max_pool2d(relu(conv1(image)), 2))), 2)))
a[p < {places}] = spot[p] + grid[p // {across}, p mod {across}]
"""
SIZES = {"D": 32, "E": 32, "H": 96, "A": 32, "lambda": 0, **ADAM, "train.batch": 32}
# This spec has convolutions of its own, and reads its pictures itself.
OWN_FRONT = {"C": 32, "E": 32, "H": 96, "A": 32, **ADAM, "train.batch": 32}
HARD = "use caption_hard\n"
EIGHT = HARD + "train { place ~ reinforce(baseline = moving_average(0.9), entropy = 0.002, expected = 0.5, " \
    "credit = later, samples = 8) }\n"
# For each kind of attention: the row of the table, equations, and settings.
SEEN = {"soft": ("`caption_soft`, `lambda = 0`", "use caption_soft\n", {}),
        "even": ("the same with its penalty, `lambda = 1`", "use caption_soft\n", {"lambda": 1}),
        "hard": ("`caption_hard`, `lambda = 0`", HARD, {}),
        "eight": ("the same, eight draws, `credit = later`", EIGHT, {}),
        "switched": ("`caption_hard`, started from the weights of the first row", HARD, {"train.rate": 0.0005}),
        "through": ("hard, `straight_through`", HARD + "train { place ~ straight_through }\n", {}),
        "gumbel": ("hard, `gumbel(temperature = max(0.5, 0.999^train.step))`",
                   HARD + "train { place ~ gumbel(temperature = max(0.5, 0.999^train.step)) }\n", {}),
        "pixels": ("`caption_pixels`", "use caption_pixels\n", {}),
        "none": ("none: the mean of all places", "use caption_soft\nz[t] = gate[t] * middle\n", {})}


def captioned(folder, sets, size, kinds, updates, more, metric="bleu", regions=()):
    """For each kind of attention, its row and what its trainings call the test pictures of this size. `switched` goes on
    from `soft` for a quarter of the updates. Where regions are known, the row tells whether attention looks there."""
    height, width = size
    front = FRONT.format(height=height, width=width, places=height // 4 * (width // 4), across=width // 4)
    given, right = {"image": sets["test"]["image"]}, sets["test"]["tgt"].read_text().splitlines()
    path = folder / "align.safetensors"

    def told(decodings, looks):
        made, cells = [], []
        for decoded in decodings:
            made.append(decoded(given, "--beam", 3, *(("--show", f"align={path}") if looks else ())))
            if looks:
                cells.append(pointed(shown(path, "align"), regions, made[-1], right))
        return [*judged(made, right, folder), *(map(spread, zip(*cells, strict=True)) if looks else [""] * 3 * bool(regions))], made

    for name in kinds:
        label, spec, options = SEEN[name]
        found, own, sizes = [], "" if name == "pixels" else front, OWN_FRONT if name == "pixels" else SIZES
        for seed in SEEDS:
            start = ["--weights", folder / f"soft-{seed}/model.safetensors"] if name == "switched" else []
            found.append(Training(folder, f"{name}-{seed}", f"model {name}\n{spec}{own}", sets["train"], sets["valid"],
                                  updates // 4 if start else updates, {**sizes, **more, **options}, metric,
                                  ["--best-by", metric, "--seed", seed, *start]))
        looks = bool(regions) and name not in ("none", "pixels")
        cells, made = told([one.decode for one in found], looks)
        yield [label, all_minutes(found), *cells], made
        if spec.startswith(HARD):
            places = lines(folder / f"specs/{name}-mode.fov", [f"model {name}\n{spec}{front}decode {{ place ~ mode }}"])
            cells, made = told([functools.partial(one.decode_by, places) for one in found], looks)
            yield ["the same, decoded at the most probable place", "", *cells], made


def pointed(weights, regions, made, wanted):
    """Of the words of correct captions, two for each thing: how often the largest weight is at the named thing, the share
    of weight there, and the same share of even weights. In per cent. A region is the places of one thing."""
    near = share = even = count = 0
    for own, things, a, b in zip(weights, regions, made, wanted, strict=True):
        for number, places in enumerate(things if a == b else ()):
            for row in own[2 * number:2 * number + 2]:
                near += max(range(len(row)), key=row.__getitem__) in places
                share += sum(row[place] for place in places)
                even += len(places) / len(row)
                count += 1
    return [100 * value / max(1, count) for value in (near, share, even)]


def judged(made, right, folder):
    """BLEU-1 to BLEU-4, METEOR and exact captions of all seeds."""
    metrics = ("bleu-1", "bleu-2", "bleu-3", "bleu-4", "meteor")
    cells = [spread([rates(one, right, folder, metric) for one in made]) for metric in metrics]
    return [*cells, spread([100 - wrong(one, right) for one in made])]


HEADS = ["attention", "CPU time, three seeds", "BLEU-1", "BLEU-2", "BLEU-3", "BLEU-4", "METEOR", "exact, %"]
LOOKS = ["looks at what it names, %", "weight there, %", "of an even one, %"]


def captions(folder, data, updates, only):
    draw, sets, regions = random.Random(1), {}, []
    for part, count in (("train", 6000), ("valid", 300), ("test", 300)):
        (folder / part).mkdir(exist_ok=True)
        names, said = [], []
        for number in range(count):
            rows, text, fields = scene(draw)
            png(folder / part / f"{number:05}.png", rows)
            names.append(f"{part}/{number:05}.png")
            said.append(text)
            if part == "test":
                # A field is 2 x 2 of 6 x 6 places.
                regions.append([{12 * (field // 3) + 2 * (field % 3) + at for at in (0, 1, 6, 7)} for field in fields])
        sets[part] = {"image": lines(folder / f"{part}.list", names), "tgt": lines(folder / f"{part}.txt", said)}
    table([*HEADS, *LOOKS], [row for row, _ in captioned(folder, sets, (24, 24), chosen(SEEN, only), updates or 3000,
                                                         {"train.rate": "step(1000, 0.5, 0.004)"}, regions=regions)])


# Drawings and their names.

TONE = re.compile(r"(.*) , ((?:medium - )?(?:dark|medium|light)) skin tone")


def nearest(images, pictures):
    """For each picture, the number of the one most like it, by the squares of all differences."""
    import numpy as np
    known, asked = (np.array(list(map(list, part)), dtype=np.float32) for part in (images, pictures))
    return [int(((known - one)**2).sum(1).argmin()) for one in asked]


def drawings(folder, data):
    """The files of each part, the names and the contents. Of the training file, every 16th drawing chooses weights. The
    other file is the test."""
    named, content = {}, {}
    for part in ("train", "valid"):
        named[part] = {}
        with gzip.open(data / f"openmoji_captions/{part}.tsv.gz", "rt", encoding="utf-8") as rows:
            for row in rows:
                number, phrase = row.split("\t")[:2]
                named[part].setdefault(int(number), " ".join(re.findall(r"\w+|[^\w\s]", phrase.lower())))
        content[part], shape = archived(data / f"openmoji_captions/{part}.npz", "images", 0, len(named[part]))
    numbers = range(len(named["train"]))
    parts = {"train": [("train", number) for number in numbers if number % 16],
             "valid": [("train", number) for number in numbers if not number % 16],
             "test": [("valid", number) for number in range(len(named["valid"]))]}
    called = {part: [named[file][number] for file, number in own] for part, own in parts.items()}
    drawn = {part: [content[file][number] for file, number in own] for part, own in parts.items()}
    sets = {part: {"image": stored(folder / f"{part}.npy", shape, drawn[part]),
                   "tgt": lines(folder / f"{part}.txt", called[part])} for part in parts}
    return sets, called, drawn


def emoji(folder, data, updates, only):
    sets, called, drawn = drawings(folder, data)
    tones = [found for found in map(TONE.fullmatch, called["train"]) if found]
    known = [{found[at] for found in tones} for at in (1, 2)]
    right = called["test"]
    both = [at for at, text in enumerate(right) if (found := TONE.fullmatch(text)) and all(
        found[side] in own for side, own in zip((1, 2), known))]

    def combined(made):
        return spread([100 - wrong([one[at] for at in both], [right[at] for at in both]) for one in made])

    rows = [[*row, combined(made)] for row, made in captioned(
        folder, sets, (32, 32), chosen(SEEN, only or ("soft", "even", "switched", "hard", "eight", "none")), updates or 3000,
        {"train.rate": "step(1000, 0.5, 0.004)"})]
    near = [[called["train"][at] for at in nearest(drawn["train"], drawn["test"])]]
    rows.append(["name of the most similar drawing", "", *judged(near, right, folder), combined(near)])
    table([*HEADS, "exact, new combinations, %"], rows)
