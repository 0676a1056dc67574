"""tokeniser_lines.py FOLDER: 10,000 lines of text in 20 languages become the same ids in Fovea and in the library of
Hugging Face, with each tokeniser of tokenisers.json.

A line is a random row of words, or of characters where words have no spaces, from the first article of the Declaration
of Human Rights, in random case, between numbers, signs and pictures.
"""

import json
import os
import pathlib
import random
import struct
import subprocess
import sys

from tokenizers import Tokenizer

GOLDEN = json.loads(pathlib.Path(__file__).resolve().parents[2].joinpath("unit/Inputs/tokenisers.json").read_text(
    encoding="utf-8"))
LANGUAGES, COUNT = 20, 500
SIGNS = ["12", "3.5", "1,000", "(", ")", "?", "!", "...", "--", "\"", "'s", "½", "😀", "👨‍👩‍👧", "<tag>", "@x", "#", "é", "%", "/"]
SPEC = """model ids
vocab pieces : tokeniser("tokenizer.json")
data x[S] : token of pieces
id[i] = int(x[i])
"""

draw = random.Random(4)
lines = []
for article in GOLDEN["lines"][:LANGUAGES]:
    words = article.split() if article.count(" ") > 3 else list(article)
    space = " " if article.count(" ") > 3 else ""
    for _ in range(COUNT):
        line = [draw.choice([str, str, str.upper, str.title])(draw.choice(words)) for _ in range(draw.randint(1, 12))]
        for _ in range(draw.randint(0, 3)):
            line.insert(draw.randint(0, len(line)), draw.choice(SIGNS) + draw.choice(["", " "]))
        lines.append(space.join(line))
os.chdir(sys.argv[1])
pathlib.Path("x.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
pathlib.Path("ids.fov").write_text(SPEC)
for name, one in GOLDEN["tokenisers"].items():
    text = json.dumps(one["file"])
    pathlib.Path("tokenizer.json").write_text(text)
    subprocess.run(["fovea", "run", "ids.fov", "--data", "x=x.txt", "--get", "id", "-o", "ids.safetensors", "--quiet"],
                   check=True)
    content = pathlib.Path("ids.safetensors").read_bytes()
    size = struct.unpack("<Q", content[:8])[0]
    entry = json.loads(content[8:8 + size])["id"]
    begin, end = entry["data_offsets"]
    kind = {"F32": "f", "F64": "d", "I64": "q"}[entry["dtype"]]
    ids = struct.unpack(f"<{(end - begin) // struct.calcsize(kind)}{kind}", content[8 + size + begin:8 + size + end])
    room, wrong = entry["shape"][1], 0
    for row, expected in enumerate(Tokenizer.from_str(text).encode_batch(lines)):
        found = ids[row * room:(row + 1) * room]
        wrong += list(found) != expected.ids + [0] * (room - len(expected.ids))
    print(f"{name}: {len(lines)} lines in {LANGUAGES} languages, {wrong} differ")
