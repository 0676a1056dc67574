"""large.py FILE: an array of 100 x 300 numbers, whose picture has megabytes."""

import json
import struct
import sys

rows, columns = 100, 300
header = json.dumps({"a": {"dtype": "F32", "shape": [1, rows, columns], "data_offsets": [0, 4 * rows * columns]}})
with open(sys.argv[1], "wb") as file:
    file.write(struct.pack("<Q", len(header)) + header.encode())
    file.write(struct.pack(f"<{rows * columns}f", *(i % 7 for i in range(rows * columns))))
