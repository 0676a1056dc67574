"""corpora.py FOLDER: writes small corpora, and the same examples as plain files.

Sounds, features and texts of four utterances: as files and lines, as a folder of
Kaldi, as LibriSpeech has them, in archives of WebDataset, and captions of COCO.
"""

import io
import json
import math
import os
import random
import struct
import sys
import tarfile
import zlib

os.chdir(sys.argv[1])
draw = random.Random(5)
KEYS = ["19-198-0000", "19-198-0001", "26-495-0000", "26-496-0000"]
TEXTS = ["A B", "B A C", "C", "A A B C"]
FRAMES = [4, 2, 3, 5]


def write(path, data):
    os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
    with open(path, "wb") as file:
        file.write(data if isinstance(data, bytes) else data.encode())


def wave(count):
    samples = [int(9000 * math.sin(0.3 * i) + draw.randrange(-500, 500)) for i in range(count)]
    data = struct.pack(f"<{count}h", *samples)
    return (b"RIFF" + struct.pack("<I", 36 + len(data)) + b"WAVEfmt " +
            struct.pack("<IHHIIHH", 16, 1, 1, 8000, 16000, 2, 16) + b"data" + struct.pack("<I", len(data)) + data)


def npy(rows):
    flat = [value for row in rows for value in row]
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({len(rows)}, {len(rows[0])}), }}"
    header += " " * (-(len(header) + 11) % 64) + "\n"
    return (b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header.encode() + struct.pack(f"<{len(flat)}d", *flat))


def png(level):
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    raw = b"".join(b"\0" + bytes([level + 10 * row, level, 7] * 3) for row in range(2))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 3, 2, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


SOUNDS = [wave(900 + 100 * i) for i in range(4)]
# Exact in 32 bits.
FEATURES = [[[draw.randrange(-999, 999) / 8 for _ in range(3)] for _ in range(count)] for count in FRAMES]

# Plain files.
for i in range(4):
    write(f"plain/{i}.wav", SOUNDS[i])
    write(f"plain/{i}.npy", npy(FEATURES[i]))
    write(f"plain/{i}.png", png(40 * i))
write("plain/sounds.txt", "".join(f"{i}.wav\n" for i in range(4)))
write("plain/features.txt", "".join(f"{i}.npy\n" for i in range(4)))
write("plain/texts.txt", "".join(text + "\n" for text in TEXTS))
write("plain/speakers.txt", "19\n19\n26\n26\n")

# Kaldi. Its scripts write names from where they run.
for i, key in enumerate(KEYS):
    write(f"kaldi/wav/{key}.wav", SOUNDS[i])
names = [f"kaldi/wav/{KEYS[0]}.wav", f"wav/{KEYS[1]}.wav", os.path.abspath(f"kaldi/wav/{KEYS[2]}.wav"),
         f"kaldi/wav/{KEYS[3]}.wav"]
write("kaldi/wav.scp", "".join(f"{key} {name}\n" for key, name in zip(KEYS, names)))
write("kaldi/text", "".join(f"{key} {text}\n" for key, text in zip(KEYS, TEXTS)))
write("kaldi/utt2spk", "".join(f"{key} {key[:2]}\n" for key in KEYS))


def matrix(kind, rows):
    size = {"F": "f", "D": "d"}[kind[0]]
    return (b"\0B" + kind.encode() + b" " + struct.pack("<bibi", 4, len(rows), 4, len(rows[0])) +
            b"".join(struct.pack(f"<{len(row)}{size}", *row) for row in rows))


def archive(path, entries):
    data, places = b"", []
    for key, entry in zip(KEYS, entries):
        data += key.encode() + b" "
        places.append(len(data))
        data += entry
    write(path, data)
    return places


text_matrix = (" [\n" + "\n".join("  " + " ".join(map(repr, row)) for row in FEATURES[2]) + " ]\n").encode()
entries = [matrix("FM", FEATURES[0]), matrix("DM", FEATURES[1]), text_matrix, matrix("FM", FEATURES[3])]
places = archive("kaldi/feats.ark", entries)
write("kaldi/feats.scp", "".join(f"{key} kaldi/feats.ark:{place}\n" for key, place in zip(KEYS, places)))
vector = [1.5, -2.0, 0.25]
archive("vectors.ark", [b"\0BFV " + struct.pack("<bi3f", 4, 3, *vector), b" [ 1.5 -2.0 0.25 ]\n"])
write("vectors.txt", "1.5 -2.0 0.25\n" * 2)


# The compressed kinds, by their definition in Kaldi's compressed-matrix.h.
def compressed(kind, rows):
    flat = [value for row in rows for value in row]
    least, span = min(flat), max(flat) - min(flat)
    head = f"\0B{kind} ".encode() + struct.pack("<ffii", least, span, len(rows), len(rows[0]))
    least, span = struct.unpack("<ff", struct.pack("<ff", least, span))
    if kind != "CM":
        most, form = (65535, "H") if kind == "CM2" else (255, "B")
        numbers = [round((value - least) / span * most) for value in flat]
        result = [least + span / most * number for number in numbers]
        data = struct.pack(f"<{len(flat)}{form}", *numbers)
    else:
        data, columns = b"", []
        for column in zip(*rows):
            ordered = sorted(column)
            points = [round((ordered[int(part * (len(ordered) - 1))] - least) / span * 65535) for part in (0, .3, .7, 1)]
            data += struct.pack("<4H", *points)
            columns.append([least + span * (point / 65535) for point in points])
        result = [0.0] * len(flat)
        for c, (p0, p25, p75, p100) in enumerate(columns):
            for r in range(len(rows)):
                byte = draw.randrange(256)
                data += bytes([byte])
                result[r * len(columns) + c] = (
                    p0 + (p25 - p0) * byte / 64 if byte <= 64 else p25 + (p75 - p25) * (byte - 64) / 128
                    if byte <= 192 else p75 + (p100 - p75) * (byte - 192) / 63)
    width = len(rows[0])
    return head + data, [result[i:i + width] for i in range(0, len(result), width)]


packed = [compressed(kind, [[draw.uniform(-3, 3) for _ in range(3)] for _ in range(6)])
          for kind in ("CM", "CM2", "CM3")]
archive("packed.ark", [data for data, _ in packed])
for i, (_, rows) in enumerate(packed):
    write(f"packed/{i}.npy", npy(rows))

# LibriSpeech: speakers and chapters.
for i, key in enumerate(KEYS):
    speaker, chapter, _ = key.split("-")
    write(f"libri/part/{speaker}/{chapter}/{key}.wav", SOUNDS[i])
    place = f"libri/part/{speaker}/{chapter}/{speaker}-{chapter}.trans.txt"
    before = open(place).read() if os.path.exists(place) else ""
    write(place, before + f"{key} {TEXTS[i]}\n")

# WebDataset: an example is what follows each other with one name.


def tar(path, numbers, mode="w", form=tarfile.USTAR_FORMAT, folder="d/"):
    with tarfile.open(path, mode, format=form) as file:
        for i in numbers:
            for ending, data in (("wav", SOUNDS[i]), ("npy", npy(FEATURES[i])), ("PNG", png(40 * i)),
                                 ("txt", (TEXTS[i] + "\n").encode()), ("seg.txt", b"other"),
                                 ("json", json.dumps({"text": TEXTS[i], "n": i}, indent=1).encode())):
                info = tarfile.TarInfo(f"{folder}{KEYS[i]}.{ending}")
                info.size = len(data)
                file.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo("d/link")
        info.type, info.linkname = tarfile.SYMTYPE, "/etc/passwd"
        file.addfile(info)


tar("all.tar", range(4))
tar("all.tar.gz", range(4), "w:gz", tarfile.GNU_FORMAT, "long/" * 40)
tar("all.tar.xz", range(4), "w:xz", tarfile.PAX_FORMAT, "long/" * 40)
tar("part-00.tar", range(2))
tar("part-01.tar", range(2, 4))
data = open("all.tar", "rb").read()
write("cut.tar", data[:2000])
write("headless.tar", data[600:])
write("damaged.tar", data[:3] + b"X" + data[4:])
with tarfile.open("lacks.tar", "w") as file:
    for name in ("a.txt", "a.jpg", "b.jpg"):
        file.addfile(tarfile.TarInfo(name), io.BytesIO())

# COCO: pictures in a folder of their own, and two captions of one of them.
images = [{"id": 90 + i, "file_name": f"{i}.png", "license": {"id": 3}} for i in range(4)]
captions = [(92, "a cat"), (90, "a dog"), (92, "two\ncats"), (91, "no dog")]
write("annotations/captions_val2.json",
      json.dumps({"info": {}, "images": images, "annotations": [
          {"image_id": image, "id": i, "caption": text} for i, (image, text) in enumerate(captions)]}))
for i in range(4):
    write(f"val2/{i}.png", png(40 * i))
write("coco.txt", "val2/2.png\nval2/0.png\nval2/2.png\nval2/1.png\n")
write("captions.txt", "a cat\na dog\ntwo cats\nno dog\n")
write("list.json", json.dumps([{"text": "a cat", "n": 1}, {"text": "a dog", "n": 2}], indent=2))
write("lost.json", json.dumps({"images": images, "annotations": [{"image_id": 7, "caption": "a"}]}))
write("other.json", json.dumps({"a": 1}))

# Mistakes.
for folder in ("segments", "piped", "differ", "far"):
    write(f"{folder}/wav.scp", f"{KEYS[0]} wav/0.wav\n{KEYS[1]} wav/1.wav\n")
    write(f"{folder}/text", f"{KEYS[0]} A\n{KEYS[1]} B\n")
write("segments/segments", "")
write("piped/wav.scp", f"{KEYS[0]} sph2pipe 0.sph |\n{KEYS[1]} wav/1.wav\n")
write("differ/text", f"{KEYS[0]} A\n{KEYS[2]} B\n")
write("far/wav.scp", f"{KEYS[0]} /else/0.wav\n")
write("far/text", f"{KEYS[0]} A\n")
write("bare/text", f"{KEYS[0]} A\n")
write("silent/1/2/1-2.trans.txt", "1-2-0 A\n")
write("short.ark", b"key \0BFM \4\2\0\0\0\4\2\0\0\0abc")
write("kind.ark", b"key \0BXX \4\2\0\0\0")
write("big.ark", b"key \0BFM \4\xff\xff\xff\x7f\4\xff\xff\xff\x7fabc")
for name, content in (("a.scp", " a.wav\n"), ("b.scp", "a f.ark:7[0:3]\n"), ("c.scp", "a a.txt\n"), ("d.scp", "a \0\n"),
                      ("numbers.json", "[1]"), ("text.json", "a b\n"), ("none.json", "[]"),
                      ("deep.json", "[" * 40 + "]" * 40), ("key.ark", b"\0BFM "), ("row.ark", "a [\n 1 2\n 3 ]\n"),
                      ("nan.ark", "a [ nan ]\n"), ("mark.ark", b"a \0C")):
    write("broken/" + name, content)
with tarfile.open("twice.tar", "w") as file:
    for name, content in (("a.txt", b"a"), ("a.bin", b"a\0"), ("a.txt", b"b"), ("b.bin", b"\0")):
        info = tarfile.TarInfo(name)
        info.size = len(content)
        file.addfile(info, io.BytesIO(content))
for name, first in (("x.parquet", b"PAR1\x15\0"), ("x.arrow", b"ARROW1\0\0"), ("x.h5", b"\x89HDF\r\n\x1a\n\0"),
                    ("x.zip", b"PK\3\4\0"), ("x.bz2", b"BZh91AY\0"), ("x.db", b"SQLite format 3\0"),
                    ("picture.txt", png(3)), ("archive.txt", data), ("x.txt", b"a\0\n")):
    write("wrong/" + name, first)
write("stored/data-00000-of-00001.arrow", b"\xff\xff\xff\xff\0")
