"""Prints the numbers of one tensor in a safetensors file, a line per
example.

  values.py FILE NAME
"""

import json
import struct
import sys

with open(sys.argv[1], "rb") as file:
    header = json.loads(file.read(struct.unpack("<Q", file.read(8))[0]))
    body = file.read()
entry = header[sys.argv[2]]
first, last = entry["data_offsets"]
code = {"F32": "f", "F64": "d", "I64": "q"}[entry["dtype"]]
numbers = struct.unpack(f"<{(last - first) // struct.calcsize(code)}{code}",
                        body[first:last])
width = len(numbers) // entry["shape"][0]
for begin in range(0, len(numbers), width):
    print(*(f"{number:g}" for number in numbers[begin:begin + width]))
