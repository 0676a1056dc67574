"""Boxes with coloured shapes (NLVR): what literature-results measures of scenes."""

import gzip
import itertools
import json
import re
import zipfile

from literature.captions import HEADS, LOOKS, SEEN, captioned, judged, nearest
from literature.pictures import stored
from literature.training import chosen, lines, table

BOXES = (0, 150, 300)  # columns where the three boxes of a scene begin, of 100 x 100 pixels each
PARTS = ("train", "valid", "test")


def scenes(data):
    """The rows of both files, each scene once for a sentence, with `boxes`, its pictures of 50 x 50 x 3 bytes, and
    `part`, which all scenes of a sentence share."""
    for name in ("nlvr_dev", "nlvr_test"):
        with zipfile.ZipFile(data / f"nlvr_captions/{name}.npz") as archive:
            pixels, palette = archive.read("images.npy")[128:], archive.read("palette.npy")[128:]
        tables = [palette[channel::3].ljust(256, b"\0") for channel in range(3)]
        with gzip.open(data / f"nlvr_captions/{name}.jsonl.gz", "rt", encoding="utf-8") as rows:
            for row in map(json.loads, rows):
                row["boxes"] = []
                for left in BOXES:
                    box = b"".join(pixels[first:first + 100:2] for first in (
                        (row["row"] * 100 + y) * 400 + left for y in range(0, 100, 2)))
                    coloured = bytearray(3 * len(box))
                    for channel in range(3):
                        coloured[channel::3] = box.translate(tables[channel])
                    row["boxes"].append(bytes(coloured))
                group = int(row["id"].split("-")[0]) % 10
                row["part"] = PARTS[max(0, group - 7)]
                yield row


def is_near(place, thing):
    """Whether the place, one of 12 x 12 in a box of 100 x 100, lies on the thing or beside it."""
    return all(thing[axis] - 16 < 8 * at < thing[axis] + thing["size"] + 8
               for axis, at in (("x", place % 12), ("y", place // 12)))


def read(box, objects):
    """A box, and what is in it from the left to the right."""
    return box, sorted(objects, key=lambda o: (o["x"], o["y"]))


def mirrored(box, objects):
    rows = (box[first:first + 150] for first in range(0, len(box), 150))
    turned = b"".join(row[x:x + 3] for row in rows for x in range(147, -1, -3))
    return read(turned, [{**o, "x": 100 - o["x"] - o["size"]} for o in objects])


def nlvr(folder, data, updates, only):
    parts, seen = {part: [] for part in PARTS}, set()
    every = list(scenes(data))
    # Boxes of test and validation are not among those of the training.
    for part in PARTS:
        for row in every:
            if row["part"] == part:
                for box, objects in zip(row["boxes"], row["objects"], strict=True):
                    if box not in seen:
                        seen.add(box)
                        parts[part].append(read(box, objects))
                        if part == "train":
                            parts[part].append(mirrored(box, objects))
    sets = {part: {"image": stored(folder / f"{part}.npy", (50, 50, 3), [box for box, _ in own]),
                   "tgt": lines(folder / f"{part}.txt",
                                [" ".join(f"{o['color']} {o['shape']}" for o in objects) for _, objects in own])}
            for part, own in parts.items()}
    regions = [[[place for place in range(144) if is_near(place, thing)] for thing in things]
               for _, things in parts["test"]]
    table([*HEADS, *LOOKS], [row for row, _ in captioned(
        folder, sets, (50, 50), chosen(SEEN, only or ("soft", "switched", "none")), updates or 3000,
        {"train.rate": "step(700, 0.5, 0.004)"}, regions=regions)])


def people(folder, data, updates, only):
    """True sentences of people about whole scenes, of 25 x 75 pixels. No sentence of the test was trained. A training
    has each scene with its boxes in every order."""
    parts = {part: ([], []) for part in PARTS}
    for row in scenes(data):
        if row["label"] == "true":
            small = [[b"".join(box[at:at + 3] for at in range(first, first + 150, 6)) for first in range(0, 7500, 300)]
                     for box in row["boxes"]]
            for order in itertools.permutations(small) if row["part"] == "train" else (small,):
                images, said = parts[row["part"]]
                images.append(b"".join(b"".join(together) for together in zip(*order, strict=True)))
                said.append(" ".join(re.findall(r"\w+", row["sentence"].lower())))
    sets = {part: {"image": stored(folder / f"{part}.npy", (25, 75, 3), images),
                   "tgt": lines(folder / f"{part}.txt", said)} for part, (images, said) in parts.items()}
    right = parts["test"][1]
    rows = [row for row, _ in captioned(folder, sets, (25, 75), chosen(SEEN, only or ("soft", "switched", "none")), updates or 1000,
                                         {"train.rate": "step(400, 0.5, 0.004)"})]
    rows.append(["sentence of the most similar scene", "", *judged(
        [[parts["train"][1][at] for at in nearest(parts["train"][0], parts["test"][0])]], right, folder)])
    table(HEADS, rows)
