"""Reads and writes safetensors, the exchange format with the program."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

import numpy as np

_TYPES = {"F64": "<f8", "F32": "<f4", "I64": "<i8", "I32": "<i4", "I16": "<i2",
          "I8": "<i1", "U8": "<u1", "BOOL": "?"}
_NAMES = {np.dtype(code): name for name, code in _TYPES.items()}


def write(path: os.PathLike[str] | str, arrays: Mapping[str, np.ndarray],
          metadata: Mapping[str, str] | None = None) -> None:
    header: dict[str, object] = {"__metadata__": dict(metadata)} if metadata else {}
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


def metadata(path: os.PathLike[str] | str) -> dict[str, str]:
    with open(path, "rb") as file:
        header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    found: dict[str, str] = header.get("__metadata__", {})
    return found


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
