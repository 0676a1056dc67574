"""Boxes with coloured shapes (NLVR): what literature-results measures of scenes."""

import gzip
import json
import struct
import zipfile

from literature.pictures import LOOK, SEEN
from literature.training import ADAM, Training, equal, lines, minutes, percent, rates, table

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


def stored(path, shape, examples):
    head = f"{{'descr': '|u1', 'fortran_order': False, 'shape': {(len(examples), *shape)!r}, }}"
    head += " " * (-(10 + len(head) + 1) % 64) + "\n"
    path.write_bytes(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + b"".join(examples))
    return path


def looked(path):
    """Of each example, for each word, the place with the largest weight."""
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    about = json.loads(raw[8:8 + size])["align"]
    examples, words, places = about["shape"]
    first = 8 + size + about["data_offsets"][0]
    values = struct.unpack(f"<{examples * words * places}d", raw[first:first + 8 * examples * words * places])
    rows = [values[at:at + places] for at in range(0, len(values), places)]
    best = [max(range(places), key=row.__getitem__) for row in rows]
    return [best[at:at + words] for at in range(0, len(best), words)]


def is_near(place, thing):
    """Whether the place, one of 12 x 12 in a box of 100 x 100, lies on the thing or beside it."""
    return all(thing[axis] - 16 < 8 * at < thing[axis] + thing["size"] + 8
               for axis, at in (("x", place % 12), ("y", place // 12)))


def pointed(places, examples, made, wanted):
    """How many words of what is right are read where their thing lies, and how many a place drawn by lot would be."""
    near = lot = count = 0
    for own, (_, things), a, b in zip(places, examples, made, wanted, strict=True):
        for number, thing in enumerate(things if a == b else ()):
            for place in own[2 * number:2 * number + 2]:
                near += is_near(place, thing)
                lot += sum(is_near(other, thing) for other in range(144)) / 144
                count += 1
    return percent(near, max(1, count)), percent(lot, max(1, count))


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
    look = LOOK.replace("24, 24", "50, 50").replace("p < 36", "p < 144").replace("p // 6, p mod 6", "p // 12, p mod 12")
    look = look.replace("cell[p < 144] = ", "param spot : matrix(144, 2*C)\ncell[p < 144] = spot[p] + ")
    rows = []
    for name in ("soft", "through", "none"):
        if only and name not in only:
            continue
        one = Training(folder, name, look.replace("MODEL", name) + SEEN[name], sets["train"], sets["valid"],
                       updates or 3000, {**ADAM, "train.batch": 32, "train.rate": "step(1000, 0.5, 0.002)"})
        shown = folder / f"{name}.safetensors"
        made = one.decode({"image": sets["test"]["image"]}, "--beam", 3, "--show", f"align={shown}")
        right = sets["test"]["tgt"].read_text().splitlines()
        near, lot = pointed(looked(shown), parts["test"], made, right) if name != "none" else ("", "")
        rows.append([f"`{name}`", minutes(one), f"{one.found['valid_perplexity']:.3f}", equal(made, right),
                     f"{rates(made, right, folder, 'bleu-4'):.1f}", near, lot])
    table(["attention", "CPU time", "perplexity", "exact", "BLEU-4", "looks at what it names", "by lot"], rows)
