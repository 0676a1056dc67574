"""Digits that are spoken, to phones: what literature-results measures of speech."""

import csv
import pathlib
import random
import re
import tarfile
import wave

from literature.alignments import forward, shown
from literature.training import ADAM, all_minutes, chosen, lines, rates, spread, table, trials

# Takes of all speakers: for training, for choices, and for tests.
TAKES = {"train": range(8, 17), "valid": (7,), "test": (5, 6), "longer": (5, 6), "ten": (5, 6)}
# The alignment begins at the first frame. With the window, it looks for each phone around where the last one was.
SIZES = {"L": 1, "H": 64, "E": 16, "A": 32, "K": 4, "R": 41, "M": 32}
WINDOW = {"back": 10, "ahead": 30}
FIRST = "align[-1, i < S] = if i == 0 then 1 else 0\n"
CONTENT = "energy[t,i] = dot(w, tanh(query(s[t-1]) + key(top[i])))\nnear[t < T, i < S, k < K] = 0\n"
SOUND = "data x[S] : real(I) from sound(rate = 8000)\n"
OPEN = ("--set", "back=inf", "--set", "ahead=inf")
WIDE = ("--set", "back=5", "--set", "ahead=35", "--set", "sharp=2")
# The end is the symbol 1. It does not come while more than 1.4 s of the sound are left.
END = "decode { valid[t] = tgt[t] != 1 or centre[t] >= S - 140 }\n"


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
    for part, count, low, high in (("train", 5000, 1, 3), ("valid", 150, 1, 3), ("test", 150, 1, 3),
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
    near = {**SIZES, **WINDOW}
    # Trainings: the row of the table, equations, settings, and for each way of decoding its options and equations.
    plain, sharp = ("as trained", (), ""), ("`sharp = 2`", ("--set", "sharp=2"), "")
    wide, late = ("the same, `back = 5`, `ahead = 35`", WIDE, ""), ("the same, a late end", WIDE, END)
    kinds = {
        "location": ("`speech`, with a window", "use speech\n" + FIRST, near,
                     (plain, sharp, wide, late, ("without the window", OPEN, ""))),
        "smoothed": ("the same with `smoothing = 1`", "use speech\n" + FIRST, {**near, "smoothing": 1}, (plain, sharp)),
        "content": ("the same without its previous alignment", "use speech\n" + FIRST + CONTENT, near,
                    (plain, sharp, wide, late)),
        "anywhere": ("`speech`, without a window", "use speech\n" + FIRST, SIZES, (plain, sharp)),
        "pyramid": ("`pyramid`", "use pyramid\n", {"L": 2, "H": 64, "E": 16, "A": 64}, (plain,))}
    rows = []
    for name, (label, spec, options, ways) in chosen(kinds.items(), only):
        spec = f"model {name}\n{spec}{SOUND}"
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 3600,
                       {**ADAM, "train.batch": 8, "train.rate": "step(1500, 0.5, 0.003)", **options})
        for way, more, equations in ways:
            decoder = lines(folder / f"specs/{name}-decoded.fov", [spec + equations])
            cells, path = [], folder / "align.safetensors"
            for part in ("test", "longer", "ten"):
                right = sets[part]["tgt"].read_text().splitlines()
                given = "--set", "sharp=1", *more, "--max-length", 100
                made, ahead = [], []
                for one in found:
                    made.append(one.decode_by(decoder, {"x": sets[part]["x"]}, "--beam", 3, "--show", f"align={path}",
                                              *(given if name != "pyramid" else given[-2:])))
                    ahead.append(forward(shown(path, "align"), made[-1]))
                cells.append(spread([rates(one, right, folder, "per") for one in made]))
            rows.append([label, way, all_minutes(found) if way == plain[0] else "", *cells, spread(ahead)])
    table(["trained", "decoded", "CPU time, three seeds", "PER, 1 to 3 digits, %", "5 to 7 digits", "10 digits",
           "forward, 10 digits, %"], rows)
