"""Makes pictures, sounds and arrays for tests.

  files.py FOLDER    writes them there
  files.py damage FILE COUNT COMMAND ..    runs a command that reads FILE, which is cut and changed
                     in COUNT places; it has to end by 0 or 1 each time
  files.py near FILE NAME EXPECTED    whether a tensor has the numbers of an array of numpy, to 1e-4
"""

import base64
import json
import os
import re
import struct
import subprocess
import sys
import wave
import zlib

import numpy as np

# 4 x 3 pixels of (200, 60 y, 40), and 2 x 2 of the grey 90, as libjpeg packs them.
COLOUR = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO"
    "UlNSMj5aYVpQYEpRUk//2wBDAQ4ODhMREyYVFSZPNS01T09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09PT09P"
    "T09PT09PT0//wAARCAADAAQDASIAAhEBAxEB/8QAFQABAQAAAAAAAAAAAAAAAAAAAAP/xAAYEAEAAwEAAAAAAAAAAAAAAAAAAgQU"
    "U//EABQBAQAAAAAAAAAAAAAAAAAAAAX/xAAYEQADAQEAAAAAAAAAAAAAAAAAAlESE//aAAwDAQACEQMRAD8Anhq8IAA9tR7o9P/Z")
GREY = (
    "/9j/4AAQSkZJRgABAQAAAQABAAD/2wBDAA0JCgsKCA0LCgsODg0PEyAVExISEyccHhcgLikxMC4pLSwzOko+MzZGNywtQFdBRkxO"
    "UlNSMj5aYVpQYEpRUk//wAALCAACAAIBAREA/8QAFAABAAAAAAAAAAAAAAAAAAAABf/EABQQAQAAAAAAAAAAAAAAAAAAAAD/2gAI"
    "AQEAAD8AIf/Z")


def png(path, pixels):
    """Pixels: rows of columns of 1, 3 or 4 channels."""
    kind = {1: 0, 3: 2, 4: 6}[len(pixels[0][0])]
    raw = b"".join(b"\0" + b"".join(bytes(pixel) for pixel in row) for row in pixels)

    def chunk(name, data):
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    header = struct.pack(">IIBBBBB", len(pixels[0]), len(pixels), 8, kind, 0, 0, 0)
    with open(path, "wb") as file:
        file.write(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", zlib.compress(raw)) +
                   chunk(b"IEND", b""))


def wav(path, samples, rate, channels=1):
    with wave.open(path, "wb") as file:
        file.setnchannels(channels)
        file.setsampwidth(2)
        file.setframerate(rate)
        file.writeframes(np.asarray(samples, "<i2").tobytes())


def crc(data, bits, polynomial):
    value, top = 0, 1 << (bits - 1)
    for byte in data:
        value ^= byte << (bits - 8)
        for _ in range(8):
            value = (value << 1 ^ (polynomial if value & top else 0)) & ((1 << bits) - 1)
    return value


def flac(path, samples, rate):
    """One channel of 16 bits, one block that is not packed."""
    count = len(samples)
    info = struct.pack(">HH", count, count) + bytes(6)
    info += (rate << 44 | 0 << 41 | 15 << 36 | count).to_bytes(8, "big") + bytes(16)
    frame = b"\xff\xf8\x70\x08\x00" + struct.pack(">H", count - 1)
    frame += bytes([crc(frame, 8, 0x07), 0x02]) + np.asarray(samples, ">i2").tobytes()
    frame += crc(frame, 16, 0x8005).to_bytes(2, "big")
    with open(path, "wb") as file:
        file.write(b"fLaC\x80" + len(info).to_bytes(3, "big") + info + frame)


def tones(rate, count):
    """Two tones, one of which rises, and a little noise."""
    time = np.arange(count) / rate
    noise = np.random.default_rng(3).standard_normal(count)
    wave = 9000 * np.sin(2 * np.pi * 440 * time) + 5000 * np.sin(2 * np.pi * (300 + 2500 * time) * time)
    return np.round(wave + 60 * noise).astype(np.int16)


def frames(samples, rate, filters=40, deltas=2, normalise=True):
    """What app/data/Sound.h says, as whole arrays."""
    x = samples / 32768.0
    window, shift = round(0.025 * rate), round(0.01 * rate)
    count = max(1, 1 + (len(x) - window) // shift)
    x = np.pad(x, (0, max(0, window - len(x))))
    y = x - 0.97 * np.concatenate([[0], x[:-1]])
    at = shift * np.arange(count)[:, None] + np.arange(window)
    points = 1 << (window - 1).bit_length()
    power = np.abs(np.fft.rfft(y[at] * np.hamming(window), points)) ** 2

    def mel(f):
        return 1127 * np.log(1 + f / 700)

    edges = np.linspace(0, mel(rate / 2), filters + 2)
    place = mel(np.fft.rfftfreq(points, 1 / rate))[:, None]
    rise = (place - edges[:-2]) / (edges[1:-1] - edges[:-2])
    fall = (edges[2:] - place) / (edges[2:] - edges[1:-1])
    bands = power @ np.maximum(0, np.minimum(rise, fall))
    energy = (x[at] ** 2).sum(1, keepdims=True)
    parts = [np.log(np.maximum(1e-10, np.concatenate([bands, energy], 1)))]
    for _ in range(deltas):
        around = np.pad(parts[-1], ((2, 2), (0, 0)), "edge")
        parts.append(sum(n * (around[2 + n:count + 2 + n] - around[2 - n:count + 2 - n]) for n in (1, 2)) / 10)
    values = np.concatenate(parts, 1)
    if normalise:
        values = (values - values.mean(0)) / np.maximum(values.std(0), 1e-5)
    return values


def write(folder):
    os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
    colour = [[(255, 51 * y, 10 * x) for x in range(3)] for y in range(2)]
    png("colour.png", colour)
    png("grey.png", [[(100 * y + x,) for x in range(3)] for y in range(2)])
    png("clear.png", [[(255, 0, 0, 255), (255, 0, 0, 0), (0, 0, 0, 51)]])
    png("wide.png", [[(0, 0, 0)] * 4] * 2)
    for name, text in ("colour.jpg", COLOUR), ("grey.jpeg", GREY):
        with open(name, "wb") as file:
            file.write(base64.b64decode(text))
    for name in "colour.png", "colour.jpg":
        with open(name, "rb") as file, open("cut-" + name, "wb") as cut:
            cut.write(file.read()[:-20])

    sound = tones(8000, 4000)
    wav("tone.wav", sound, 8000)
    wav("both.wav", np.stack([sound, sound], 1), 8000, 2)
    wav("fast.wav", sound, 16000)
    wav("short.wav", sound[:100], 8000)
    flac("tone.flac", sound, 8000)
    np.save("tone-frames", frames(sound, 8000))
    np.save("short-frames", frames(sound[:100], 8000))
    np.save("plain-frames", frames(sound, 8000, 12, 0, False))
    with open("tone.wav", "rb") as file, open("cut.wav", "wb") as cut:
        cut.write(file.read()[:30])
    with open("tone.flac", "rb") as file, open("cut.flac", "wb") as cut:
        cut.write(file.read()[:4000])

    array = np.arange(24, dtype=np.float32).reshape(2, 3, 4)
    np.save("f4", array)
    np.save("f2", array.astype(np.float16) / 4)
    np.save("big", array.astype(">f8"))
    np.save("fortran", np.asfortranarray(array))
    np.save("one", array[0])
    np.save("objects", np.array([{"a": 1}], object), allow_pickle=True)
    np.save("texts", np.array(["a"]))
    np.save("inf", np.full((2, 3, 4), np.inf, np.float32))
    np.savez("all", x=array, **{"x.length": np.array([2, 3])}, other=np.zeros(2))
    np.savez_compressed("packed", x=array)
    np.savez("objects", x=np.array([{"a": 1}], object))
    np.savez("pictures", images=np.array([colour], np.uint8), labels=np.array([1], np.uint8))
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (%s), }"
    for name, shape in ("huge", b"4611686018427387904, 4, 4"), ("minus", b"-1, 3"), ("none", b"2, 3"):
        text = header % shape
        with open(name + ".npy", "wb") as file:
            file.write(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text)
    np.save("nothing", np.zeros((0, 3, 4)))
    with open("f4.npy", "rb") as file:
        whole = file.read()
    for name, content in ("more", whole + b"ab"), ("new", whole[:6] + b"\x09" + whole[7:]), ("false", b"no" + whole):
        with open(name + ".npy", "wb") as file:
            file.write(content)
    os.makedirs("folder", exist_ok=True)
    for name in "b.png", "a.png":
        png(os.path.join("folder", name), colour)
    os.makedirs("mixed", exist_ok=True)
    with open(os.path.join("mixed", "notes.txt"), "w") as file:
        file.write("no picture\n")
    os.makedirs("empty", exist_ok=True)


def damage(path, count, command):
    with open(path, "rb") as file:
        whole = file.read()
    random = np.random.default_rng(len(whole))
    for number in range(count):
        changed = bytearray(whole)
        if number % 2:
            for at in random.integers(0, min(len(whole), 400), 1 + number % 3):
                changed[at] = random.integers(0, 256)
        else:
            changed = changed[:random.integers(0, len(whole))]
        with open(path, "wb") as file:
            file.write(changed)
        done = subprocess.run(command, capture_output=True, timeout=60)
        said = len(re.findall(r"(?m)^(?:\S+: )?error: ", done.stderr.decode()))
        if done.returncode not in (0, 1) or said != done.returncode:
            sys.exit(f"{path}, damage {number}: exit code {done.returncode}, {done.stderr}")
    with open(path, "wb") as file:
        file.write(whole)


def near(path, name, expected):
    with open(path, "rb") as file:
        size = struct.unpack("<Q", file.read(8))[0]
        entry = json.loads(file.read(size))[name]
        begin, end = entry["data_offsets"]
        values = np.frombuffer(file.read()[begin:end], {"F64": "<f8", "F32": "<f4"}[entry["dtype"]])
    values, wanted = values.reshape(entry["shape"])[0], np.load(expected)
    if values.shape != wanted.shape:
        sys.exit(f"{values.shape} instead of {wanted.shape}")
    off = np.abs(values - wanted).max()
    if not off < 1e-4:
        sys.exit(f"off by {off}")
    print(f"{wanted.shape[0]} frames of {wanted.shape[1]} numbers agree")


if sys.argv[1] == "damage":
    damage(sys.argv[2], int(sys.argv[3]), sys.argv[4:])
elif sys.argv[1] == "near":
    near(*sys.argv[2:])
else:
    write(sys.argv[1])
