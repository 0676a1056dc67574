"""Writes and prints safetensors files for tests.

  tensors.py write FILE NAME:DTYPE=JSON .. __metadata__:KEY=TEXT ..
  tensors.py print FILE          one line per tensor: NAME DTYPE [EXTENTS] VALUES
"""

import json
import struct
import sys

CODES = {"F64": "d", "F32": "f", "F16": "e", "BF16": "H", "I64": "q", "I32": "i",
         "U8": "B", "F8_E4M3": "B"}


def flatten(value):
    """Extents and elements of nested lists."""
    if not isinstance(value, list):
        return [], [value]
    parts = [flatten(each) for each in value]
    shape = [len(value)] + (parts[0][0] if parts else [])
    return shape, [element for _, elements in parts for element in elements]


def write(path, texts):
    header, body = {}, b""
    for text in texts:
        name, rest = text.split(":", 1)
        dtype, data = rest.split("=", 1)
        if name == "__metadata__":
            header.setdefault(name, {})[dtype] = data
            continue
        shape, values = flatten(json.loads(data))
        packed = struct.pack(f"<{len(values)}{CODES[dtype]}", *values)
        header[name] = {"dtype": dtype, "shape": shape,
                        "data_offsets": [len(body), len(body) + len(packed)]}
        body += packed
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    with open(path, "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text + body)


def show(path):
    with open(path, "rb") as file:
        data = file.read()
    size = struct.unpack("<Q", data[:8])[0]
    body = data[8 + size:]
    for name, entry in sorted(json.loads(data[8:8 + size]).items()):
        if name == "__metadata__":
            continue
        code = CODES[entry["dtype"]]
        begin, end = entry["data_offsets"]
        count = (end - begin) // struct.calcsize(code)
        values = struct.unpack(f"<{count}{code}", body[begin:end])
        shape = ", ".join(map(str, entry["shape"]))
        print(f"{name} {entry['dtype']} [{shape}]",
              *(f"{value:.6g}" for value in values))


if sys.argv[1] == "write":
    write(sys.argv[2], sys.argv[3:])
else:
    show(sys.argv[2])
