"""older-state.py FROM TO: copies the state of a training as version 2 of it."""

import json
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
    data = file.read()
state = json.loads(header["__metadata__"]["training"])
header["__metadata__"]["training"] = json.dumps(state | {"version": 2})
header["__metadata__"].pop("fovea.checksum")
text = json.dumps(header).encode()
text += b" " * (-len(text) % 8)
with open(sys.argv[2], "wb") as file:
    file.write(len(text).to_bytes(8, "little") + text + data)
