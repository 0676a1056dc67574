"""Writes what pictures of weights lie over: picture.png, tone.wav and film.npy."""

import math
import struct
import wave
import zlib


def png(path, rows):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))
    raw = b"".join(b"\0" + bytes(v for pixel in row for v in pixel) for row in rows)
    head = struct.pack(">IIBBBBB", len(rows[0]), len(rows), 8, 2, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(raw)) +
                   chunk(b"IEND", b""))


# Red, green, blue and white above; black below.
png("picture.png", [[(255, 0, 0), (0, 255, 0), (0, 0, 255), (255, 255, 255)]] * 2 + [[(0, 0, 0)] * 4] * 2)

# 0.5 seconds at 8000 samples per second: 1 + (4000 - 200) // 80 = 48 frames of 0.01 seconds.
with wave.open("tone.wav", "wb") as sound:
    sound.setparams((1, 2, 8000, 0, "NONE", ""))
    sound.writeframes(b"".join(struct.pack("<h", int(9000 * math.sin(i / 3))) for i in range(4000)))

# Three frames of two by two bytes: black, grey, white.
body = bytes([0] * 4 + [102] * 4 + [255] * 4)
head = "{'descr': '|u1', 'fortran_order': False, 'shape': (1, 3, 2, 2, 1), }"
head += " " * (-(10 + len(head) + 1) % 64) + "\n"
with open("film.npy", "wb") as file:
    file.write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + body)
