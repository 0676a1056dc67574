"""Simulates colour blindness, and prints how far colours stay apart.

  colour_blind.py SVG..

For the curves of a chart: the least distance of two of them, for usual vision and
for each kind of colour blindness (Machado, Oliveira and Fernandes 2009, severity
1), in CIELAB (76). Fails below 10, about four times what people can just see.
"""

import itertools
import re
import sys

KINDS = {
    "usual": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
    "protanopia": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                   (-0.003882, -0.048116, 1.051998)),
    "deuteranopia": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                     (-0.011820, 0.042940, 0.968881)),
    "tritanopia": ((1.255528, -0.076749, -0.178779), (-0.078411, 0.930809, 0.147602),
                   (0.004733, 0.691367, 0.303900)),
    "grey": ((0.2126, 0.7152, 0.0722),) * 3,
}
TO_XYZ = ((0.4124564, 0.3575761, 0.1804375), (0.2126729, 0.7151522, 0.0721750),
          (0.0193339, 0.1191920, 0.9503041))
WHITE = (0.95047, 1, 1.08883)


def times(matrix, vector):
    return [sum(a * b for a, b in zip(row, vector)) for row in matrix]


def linear(colour):
    values = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [v / 12.92 if v <= 0.04045 else ((v + 0.055) / 1.055) ** 2.4 for v in values]


def lab(rgb):
    def root(t):
        return t ** (1 / 3) if t > (6 / 29) ** 3 else t / (3 * (6 / 29) ** 2) + 4 / 29
    x, y, z = (root(v / w) for v, w in zip(times(TO_XYZ, rgb), WHITE))
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


def seen(colour, kind):
    return lab([min(1, max(0, v)) for v in times(KINDS[kind], linear(colour))])


def distance(one, other):
    return sum((a - b) ** 2 for a, b in zip(one, other)) ** 0.5


def main():
    good = True
    for path in sys.argv[1:]:
        text = open(path, encoding="utf-8").read()
        curves = sorted(set(re.findall(r'<polyline[^>]*stroke="(#\w{6})"', text)))
        cells = sorted(set(re.findall(r'<rect[^>]*fill="(#\w{6})"', text)))
        for kind in KINDS:
            if curves and kind != "grey":
                least = min(distance(seen(a, kind), seen(b, kind))
                            for a, b in itertools.combinations(curves, 2))
                print(f"{len(curves)} curves, {kind}: {least:.1f}")
                good &= least >= 10
            elif not curves:
                # In one hue, the larger value is darker for everybody.
                lights = [seen(colour, kind)[0] for colour in cells]
                print(f"{len(cells)} cells, {kind}: lightness {min(lights):.0f} to {max(lights):.0f}")
                order = sorted(cells, key=lambda colour: seen(colour, "usual")[0])
                good &= order == sorted(cells, key=lambda colour: seen(colour, kind)[0])
    return 0 if good else 1


sys.exit(main())
