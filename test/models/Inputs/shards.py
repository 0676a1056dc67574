"""Splits weights into two files with an index, as published models come.

  shards.py FILE FOLDER [KEY=NUMBER..]     also writes config.json
"""

import json
import pathlib
import struct
import sys

data = pathlib.Path(sys.argv[1]).read_bytes()
folder = pathlib.Path(sys.argv[2])
size = struct.unpack("<Q", data[:8])[0]
header, body = json.loads(data[8:8 + size]), data[8 + size:]
header.pop("__metadata__", None)
names = sorted(header)
index = {}
for number, own in enumerate((names[::2], names[1::2]), 1):
    file, place, parts, entries = f"model-0000{number}-of-00002.safetensors", 0, [], {}
    for name in own:
        first, last = header[name]["data_offsets"]
        entries[name] = {**header[name], "data_offsets": [place, place + last - first]}
        parts.append(body[first:last])
        place += last - first
        index[name] = file
    text = json.dumps(entries).encode()
    text += b" " * (-len(text) % 8)
    folder.joinpath(file).write_bytes(struct.pack("<Q", len(text)) + text + b"".join(parts))
folder.joinpath("model.safetensors.index.json").write_text(
    json.dumps({"metadata": {"total_size": len(body)}, "weight_map": index}))
folder.joinpath("config.json").write_text(json.dumps(
    {key: int(number) for key, number in (one.split("=") for one in sys.argv[3:])}))
