"""Safetensors files with nothing but the standard library.

A tensor is a `Tensor`: dtype (as the format writes it), shape, and a flat list
of Python numbers in row-major order. Small files only.
"""

import array
import json
import math
import struct
from typing import NamedTuple

CODES = {"F64": "d", "F32": "f", "I64": "q", "I32": "i", "U8": "B", "BOOL": "B"}


class Tensor(NamedTuple):
    dtype: str
    shape: list
    values: list

    def reshaped(self, shape):
        assert math.prod(shape) == len(self.values), (shape, self.shape)
        return Tensor(self.dtype, list(shape), self.values)


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    (size,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + size])
    tensors = {}
    for name, entry in header.items():
        if name == "__metadata__":
            continue
        begin, end = entry["data_offsets"]
        values = array.array(CODES[entry["dtype"]])
        values.frombytes(data[8 + size + begin : 8 + size + end])
        assert len(values) == math.prod(entry["shape"]), name
        tensors[name] = Tensor(entry["dtype"], entry["shape"], values.tolist())
    return tensors


def write(path, tensors):
    header, body = {}, b""
    for name, tensor in tensors.items():
        assert len(tensor.values) == math.prod(tensor.shape), name
        raw = array.array(CODES[tensor.dtype], tensor.values).tobytes()
        header[name] = {
            "dtype": tensor.dtype,
            "shape": tensor.shape,
            "data_offsets": [len(body), len(body) + len(raw)],
        }
        body += raw
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def worst(got, want, scale):
    """The largest difference of two lists of numbers, over the scale that
    `scale` gives for each number of `want`; infinite when the lengths differ or
    any number is not finite, so that nothing compares equal to NaN."""
    if len(got) != len(want) or not all(map(math.isfinite, (*got, *want))):
        return math.inf
    return max((abs(a - b) / scale(b) for a, b in zip(got, want)), default=0.0)


def difference(got, want):
    """Relative to each number, where that exceeds 1."""
    return worst(got, want, lambda number: max(1.0, abs(number)))


def difference_of_largest(got, want):
    """Relative to the largest number of all, where that exceeds 1."""
    scale = max(1.0, *map(abs, want)) if want else 1.0
    return worst(got, want, lambda number: scale)
