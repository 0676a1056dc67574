"""Writes FLAC files with every way to store a block (RFC 9639)."""

import random


class Bits:
    def __init__(self):
        self.text = ""

    def put(self, value, count):
        self.text += f"{value & ((1 << count) - 1):0{count}b}" if count else ""

    def bytes(self):
        text = self.text + "0" * (-len(self.text) % 8)
        return bytes(int(text[i:i + 8], 2) for i in range(0, len(text), 8))


def check(data, divisor, width):
    value = 0
    for byte in data:
        value ^= byte << (width - 8)
        for _ in range(8):
            value = (value << 1 ^ (divisor if value >> (width - 1) else 0)) & ((1 << width) - 1)
    return value


def residual(bits, errors, order, partitions, parameter, method=0):
    """`parameter` None: the errors as they are."""
    width = 4 + method
    bits.put(method, 2)
    bits.put(partitions, 4)
    size = (len(errors) + order) >> partitions
    for part in range(1 << partitions):
        own = errors[max(0, part * size - order):(part + 1) * size - order]
        bits.put(-1 if parameter is None else parameter, width)
        if parameter is None:
            bits.put(20, 5)
        for error in own:
            if parameter is None:
                bits.put(error, 20)
                continue
            folded = error * 2 if error >= 0 else -error * 2 - 1
            bits.text += "0" * (folded >> parameter) + "1"
            bits.put(folded, parameter)


def subframe(bits, samples, depth, kind, wasted=0, **how):
    bits.put({"constant": 0, "verbatim": 1}.get(kind, kind), 7)
    bits.put(wasted > 0, 1)
    if wasted:
        bits.put(1, wasted)
    samples, depth = [s >> wasted for s in samples], depth - wasted
    if kind == "constant":
        bits.put(samples[0], depth)
    elif kind == "verbatim":
        for sample in samples:
            bits.put(sample, depth)
    else:
        fixed = kind < 32
        order = kind - 8 if fixed else kind - 31
        factors = [[], [1], [2, -1], [3, -3, 1], [4, -6, 4, -1]][order] if fixed else [90, -40, 17, -5, 3][:order]
        shift = 0 if fixed else 6
        for sample in samples[:order]:
            bits.put(sample, depth)
        if not fixed:
            bits.put(8, 4)
            bits.put(shift, 5)
            for factor in factors:
                bits.put(factor, 9)
        errors = [samples[i] - (sum(f * samples[i - 1 - k] for k, f in enumerate(factors)) >> shift)
                  for i in range(order, len(samples))]
        residual(bits, errors, order, **how)


def frame(number, channels, depth, kind, assignment=None, **how):
    bits = Bits()
    bits.put(0x3ffe, 14)
    bits.put(0, 2)
    bits.put(7, 4)
    bits.put(0, 4)
    bits.put(len(channels) - 1 if assignment is None else assignment, 4)
    bits.put(0, 4)
    bits.put(number, 8)
    bits.put(len(channels[0]) - 1, 16)
    bits.put(check(bits.bytes(), 0x07, 8), 8)
    if assignment is not None:
        left, right = channels
        side, middle = [a - b for a, b in zip(left, right)], [(a + b) >> 1 for a, b in zip(left, right)]
        channels = {8: (left, side), 9: (side, right), 10: (middle, side)}[assignment]
    for index, samples in enumerate(channels):
        subframe(bits, samples, depth + (assignment is not None and index == (assignment != 9)), kind, **how)
    data = bits.bytes()
    return data + check(data, 0x8005, 16).to_bytes(2, "big")


def file(name, channels, depth, frames, total=None, rate=1000):
    size = len(channels[0]) // len(frames)
    bits = Bits()
    for value, count in ((size, 16), (size, 16), (0, 24), (0, 24), (rate, 20), (len(channels) - 1, 3), (depth - 1, 5),
                         (len(channels[0]) if total is None else total, 36), (0, 128)):
        bits.put(value, count)
    text = b"fLaC" + b"\x00\x00\x00\x22" + bits.bytes() + b"\x84\x00\x00\x08" + bytes(8)
    for number, how in enumerate(frames):
        own = [samples[number * size:(number + 1) * size] for samples in channels]
        text += frame(number, own, depth, **how)
    with open(name, "wb") as out:
        out.write(text)
    return name


def sound(depth, seed):
    draw, value, samples = random.Random(seed), 0, []
    for _ in range(600):
        value = max(-(1 << depth - 2), min((1 << depth - 2) - 1, value + draw.randrange(-60, 61)))
        samples.append(value)
    return samples


def examples():
    """The names of the files, and writes four that cannot be read."""
    rice = {"partitions": 1, "parameter": 5}
    names, left, right = [], sound(16, 1), sound(16, 2)
    for order in range(5):
        names.append(file(f"fixed{order}.flac", [left], 16, [{"kind": 8 + order, **rice}] * 3))
    for assignment in (None, 8, 9, 10):
        names.append(file(f"pair{assignment}.flac", [left, right], 16, [{"kind": 10, "assignment": assignment, **rice}] * 3))
    names.append(file("own.flac", [left], 16, [{"kind": 33, **rice}, {"kind": 35, "partitions": 3, "parameter": 6},
                                               {"kind": 32, "partitions": 0, "parameter": 7, "method": 1}]))
    names.append(file("plain.flac", [left], 16, [{"kind": "verbatim"}, {"kind": 9, "partitions": 2, "parameter": None},
                                                 {"kind": "verbatim"}]))
    names.append(file("wide.flac", [[s << 8 for s in left]], 24, [{"kind": 10, "wasted": 8, **rice}] * 3))
    names.append(file("small.flac", [sound(8, 3)[:1] * 200 + sound(8, 4)[:400]], 8,
                      [{"kind": "constant"}, {"kind": "verbatim"}, {"kind": 9, **rice}]))
    file("lost.flac", [left[:200]], 16, [{"kind": 9, **rice}], total=600)
    file("deep.flac", [left], 20, [{"kind": "verbatim"}])
    for name, place in (("bad.flac", 150), ("head.flac", 7)):
        with open("fixed1.flac", "rb") as good, open(name, "wb") as out:
            data = bytearray(good.read())
            data[place] ^= 4
            out.write(data)
    return names
