"""Reads and writes safetensors, which the program takes and gives."""

from __future__ import annotations

import json
import os

import numpy as np

_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2",
          "I8": "<i1", "U8": "<u1", "BOOL": "?"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def write(path: os.PathLike[str] | str, arrays: dict[str, np.ndarray]) -> None:
    header: dict[str, object] = {}
    place = 0
    dense = {name: np.ascontiguousarray(array) for name, array in arrays.items()}
    for name, array in dense.items():
        header[name] = {"dtype": _NAMES[array.dtype.newbyteorder("<")],
                        "shape": list(arrays[name].shape),
                        "data_offsets": [place, place + array.nbytes]}
        place += array.nbytes
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(len(text).to_bytes(8, "little") + text)
        for array in dense.values():
            file.write(array.tobytes())


def read(path: os.PathLike[str] | str) -> dict[str, np.ndarray]:
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
        data = file.read()
    header.pop("__metadata__", None)
    result = {}
    for name, entry in header.items():
        first, last = entry["data_offsets"]
        array = np.frombuffer(data[first:last], _TYPES[entry["dtype"]])
        result[name] = array.reshape(entry["shape"]).copy()
    return result
