"""stored_types.py FILE: the types of tensors in a file, by the first part of their names."""

import json
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(int.from_bytes(file.read(8), "little")))
for text in sorted({f"{name.split('/')[0]} {tensor['dtype']}" for name, tensor in header.items() if "/" in name}):
    print(text)
