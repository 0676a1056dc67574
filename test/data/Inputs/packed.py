"""Packs lines as gzip, xz and zstd do, whole and damaged: packed.py FOLDER

The frames of Zstandard are written here, as Python has no module for them: blocks of bytes as they are,
or of one byte that is repeated."""

import gzip
import lzma
import os
import sys

os.chdir(sys.argv[1])
lines = "".join(f"{i} line {'x' * (i % 50)}\n" for i in range(20000)).encode()


def block(kind, size, body, is_last):
    return (size << 3 | kind << 1 | is_last).to_bytes(3, "little") + body


def zstd(text, size=1 << 17):
    parts = [text[i:i + size] for i in range(0, len(text), size)] or [b""]
    header = b"\x28\xb5\x2f\xfd\xa0" + len(text).to_bytes(4, "little")  # one segment of this size
    return header + b"".join(block(0, len(part), part, part is parts[-1]) for part in parts)


def repeated(letter, count):
    """A frame of a window of 128 KB, with 128 KB of one letter in 4 bytes."""
    return b"\x28\xb5\x2f\xfd\x00\x38" + b"".join(
        block(1, 1 << 17, letter, i == count - 1) for i in range(count))


half = len(lines) // 2
files = {
    "plain": lines,
    "one.gz": gzip.compress(lines),
    "one.xz": lzma.compress(lines),
    "one.zst": zstd(lines),
    # Several, and what may stand between and after them.
    "two.gz": gzip.compress(lines[:half]) + gzip.compress(lines[half:]) + bytes(512),
    "two.xz": lzma.compress(lines[:half]) + lzma.compress(lines[half:]) + bytes(8),
    "two.zst": zstd(lines[:half]) + b"\x50\x2a\x4d\x18\x03\0\0\0abc" + zstd(lines[half:]),
    "check.xz": lzma.compress(lines, check=lzma.CHECK_SHA256),
    # Their content decides, and not their names.
    "misnamed.gz": zstd(lines),
    "misnamed": lzma.compress(lines),
}
for kind in "gz", "xz", "zst":
    whole = files["one." + kind]
    middle = len(whole) // 2
    files |= {
        "head." + kind: whole[:7],
        "cut." + kind: whole[:middle],
        "short." + kind: whole[:-1],
        "more." + kind: whole + b"more than that",
        "flip." + kind: whole[:12] + bytes([whole[12] ^ 255]) + whole[13:],
    }
# A frame without a checksum can only be damaged in its structure.
files["flip.zst"] = files["one.zst"][:9] + b"\xff\xff\xff" + files["one.zst"][12:]
files["window.zst"] = b"\x28\xb5\x2f\xfd\x00\xff" + block(1, 1, b"x", True)
bomb = repeated(b"x", 7) + zstd(b"\n")
files["bomb.zst"] = bomb * 100
for name, content in files.items():
    with open(name, "wb") as file:
        file.write(content)
