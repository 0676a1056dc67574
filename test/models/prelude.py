"""Compares what the prelude defines with formulas of its papers.

    prelude.py SPEC WORK_DIRECTORY

The interpreter and compiled code, in f64, to 1e-12. The formulas are plain loops,
written without the prelude.
"""

import math
import os
import random
import subprocess
import sys

from parameters import drawn
from tensors import Tensor, read, write  # `parameters` says where it is

D, K = 8, 12
LENGTHS = {"x": [5], "y": [3], "image": [4, 3]}
TOLERANCE = 1e-12


def nested(values, shape):
    if not shape:
        return values[0]
    step = len(values) // shape[0]
    return [nested(values[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]


def flat(value):
    return [x for part in value for x in flat(part)] if isinstance(value, list) else [value]


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def times(matrix, x):
    return [dot(row, x) for row in matrix]


def softmax(scores):
    top = max(scores.values())
    weights = {u: math.exp(s - top) for u, s in scores.items()}
    return {u: w / sum(weights.values()) for u, w in weights.items()}


def sigmoid(x):
    return 1 / (1 + math.exp(-x))


def gelu(x):
    return 0.5 * x * (1 + math.erf(x / math.sqrt(2)))


def rms(x, weight, eps):
    scale = math.sqrt(sum(v * v for v in x) / len(x) + eps)
    return [v / scale * w for v, w in zip(x, weight, strict=True)]


def layer(x, weight, bias, eps):
    mean = sum(x) / len(x)
    scale = math.sqrt(sum((v - mean) ** 2 for v in x) / len(x) + eps)
    return [(v - mean) / scale * w + b for v, w, b in zip(x, weight, bias, strict=True)]


def group(image, weight, bias, groups, eps):
    size, result = len(weight) // groups, [[list(pixel) for pixel in row] for row in image]
    for g in range(groups):
        channels = range(g * size, (g + 1) * size)
        values = [pixel[c] for row in image for pixel in row for c in channels]
        mean = sum(values) / len(values)
        scale = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values) + eps)
        for row in result:
            for pixel in row:
                for c in channels:
                    pixel[c] = (pixel[c] - mean) / scale * weight[c] + bias[c]
    return result


def feed(x, w, name, act):
    gate, up = (times(w[f"{name}.{part}.weight"], x) for part in ("gate", "up"))
    return times(w[f"{name}.down.weight"], [act(a) * b for a, b in zip(gate, up, strict=True)])


def turned(x, t, base, pairs):
    """Each pair as a complex number, times e to its angle."""
    result, half = list(x), len(x) // 2
    for k in range(half):
        i, j = (2 * k, 2 * k + 1) if pairs else (k, k + half)
        value = complex(x[i], x[j]) * complex(math.cos(t * base ** (-k / half)), math.sin(t * base ** (-k / half)))
        result[i], result[j] = value.real, value.imag
    return result


def sinusoid(n, t):
    return [(math.cos if k % 2 else math.sin)(t * 10000 ** (-(k - k % 2) / n)) for k in range(n)]


def slopes(heads):
    """As the authors' code has it."""
    def of_power(n):
        start = 2 ** (-(2 ** -(math.log2(n) - 3)))
        return [start * start**i for i in range(n)]
    if math.log2(heads).is_integer():
        return of_power(heads)
    near = 2 ** math.floor(math.log2(heads))
    return of_power(near) + slopes(2 * near)[0::2][: heads - near]


def attend(w, name, x, y, heads, groups, visible, base=0, biased=False):
    size, result = len(x[0]) // heads, []
    def part(which, row, at, t):
        values = times(w[f"{name}.{which}.weight"], row)[at * size : (at + 1) * size]
        return turned(values, t, base, pairs=False) if base and which != "value" else values
    for t, row in enumerate(x):
        mixed = []
        for head in range(heads):
            own = head * groups // heads
            query = part("query", row, head, t)
            align = softmax({
                u: dot(query, part("key", other, own, u)) / math.sqrt(size)
                - (slopes(heads)[head] * (t - u) if biased else 0)
                for u, other in enumerate(y) if visible(t, u)})
            values = {u: part("value", y[u], own, u) for u in align}
            mixed += [sum(a * values[u][k] for u, a in align.items()) for k in range(size)]
        result.append(times(w[f"{name}.out.weight"], mixed))
    return result


def conv1d(x, weight, bias, pad=0, stride=1, dilation=1, groups=1):
    """Over rows of zeros on both sides."""
    channels, outputs, width = len(x[0]), len(bias), len(weight[0])
    empty = [[0.0] * channels for _ in range(pad)]
    rows, result = empty + x + empty, []
    for begin in range(0, len(rows) - dilation * (width - 1), stride):
        place = []
        for o in range(outputs):
            first = o // (outputs // groups) * (channels // groups)
            place.append(bias[o] + sum(
                dot(weight[o][j], rows[begin + j * dilation][first : first + channels // groups])
                for j in range(width)))
        result.append(place)
    return result


def conv2d(x, weight, bias, pad, dilation, groups):
    """The sum over the rows of a filter of its 1-D convolutions."""
    width, none = len(weight[0]), [0.0] * len(bias)
    empty = [[[0.0] * len(x[0][0])] * len(x[0]) for _ in range(pad)]
    rows, result = empty + x + empty, []
    for begin in range(len(rows) - dilation * (width - 1)):
        parts = [conv1d(rows[begin + j * dilation], [filters[j] for filters in weight], none, pad, 1, dilation, groups)
                 for j in range(width)]
        result.append([[bias[o] + sum(part[k][o] for part in parts) for o in range(len(bias))]
                       for k in range(len(parts[0]))])
    return result


def wanted(w, x, y, image):
    everywhere, past = (lambda t, u: True), (lambda t, u: u <= t)
    return {
        "a": [rms(row, w["norm.weight"], 1e-6) for row in x],
        "a_loose": [rms(row, w["loose.weight"], 0.5) for row in x],
        "a_layer": [layer(row, w["layer.weight"], w["layer.bias"], 0.25) for row in x],
        "b": group(image, w["group.weight"], w["group.bias"], 2, 1e-5),
        "c": [[v * sigmoid(v) for v in row] for row in x],
        "d": [feed(row, w, "gated", lambda v: v * sigmoid(v)) for row in x],
        "e": [feed(row, w, "gelu_gated", gelu) for row in x],
        "f": [sinusoid(D, t) for t in range(len(x))],
        "g": [turned(row, t, 10000, pairs=False) for t, row in enumerate(x)],
        "h": [turned(row, t, 100, pairs=True) for t, row in enumerate(x)],
        "slope": slopes(K),
        "one": attend(w, "whole", x, y, 2, 2, everywhere),
        "two": attend(w, "shared", x, y, 4, 2, everywhere),
        "three": attend(w, "single", x, y, 4, 1, everywhere),
        "four": attend(w, "past", x, x, 2, 2, past),
        "five": attend(w, "near", x, x, 4, 2, lambda t, u: t - 2 < u <= t, base=100),
        "six": attend(w, "sunk", x, x, 4, 1, lambda t, u: u in (0, t)),
        "seven": attend(w, "biased", x, x, 8, 4, past, biased=True),
        "p": conv1d(x, w["plain.weight"], w["plain.bias"], 1),
        "q": conv1d(x, w["strided.weight"], w["strided.bias"], 1, 2, 2, 2),
        "r": conv2d(image, w["wide.weight"], w["wide.bias"], 1, 2, 2),
    }


def main(spec, work):
    os.makedirs(work, exist_ok=True)
    weights, inputs, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))
    parameters, draw = drawn(spec, [], 0.6), random.Random(2)
    shapes = {"x": [5, D], "y": [3, 6], "image": [4, 3, 4]}
    data = {n: Tensor("F64", [1, *s], [draw.uniform(-2, 2) for _ in range(math.prod(s))]) for n, s in shapes.items()}
    lengths = {f"{n}.length" + (f".{k + 1}" if k else ""): Tensor("I64", [1], [size])
               for n, sizes in LENGTHS.items() for k, size in enumerate(sizes)}
    write(weights, parameters)
    write(inputs, data | lengths)
    expected = wanted({n: nested(t.values, t.shape) for n, t in parameters.items()},
                      *(nested(t.values, t.shape[1:]) for t in data.values()))
    asked = [word for name in expected for word in ("--get", name)]
    for how in (["--reference"], []):
        subprocess.run(["fovea", "run", spec, "--weights", weights, "--data", inputs, "--dtype", "f64", *how, *asked,
                        "-o", result], check=True)
        found = read(result)
        for name, value in expected.items():
            for ours, theirs in zip(found[name].values, flat(value), strict=True):
                assert abs(ours - theirs) <= TOLERANCE * max(1, abs(theirs)), f"{name} {how}: {ours}, not {theirs}"
        print(f"{' '.join(how) or 'compiled'}: {len(expected)} values agree")


if __name__ == "__main__":
    main(*sys.argv[1:])
