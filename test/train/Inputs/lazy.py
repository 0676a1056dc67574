"""lazy.py same A B | kept WEIGHTS STATE: compares the tensors of two files, or checks that Adam leaves rows alone.

Of `kept`, the words 9 and above are in no example: their rows have the initial weights and no state. The other rows
that have a state moved."""

import json
import os
import sys

sys.path.append(os.path.join(os.path.dirname(__file__), "../../golden"))
from tensors import read


def bytes_of(path):
    """The bytes of each tensor, of any type."""
    with open(path, "rb") as file:
        whole = file.read()
    begin = 8 + int.from_bytes(whole[:8], "little")
    head = json.loads(whole[8:begin])
    return {name: whole[begin + entry["data_offsets"][0]:begin + entry["data_offsets"][1]]
            for name, entry in head.items() if name != "__metadata__"}


what, first, second = sys.argv[1:]
if what == "same":
    a, b = bytes_of(first), bytes_of(second)
    if a.keys() != b.keys():
        sys.exit(f"other names: {a.keys() ^ b.keys()}")
    for name in a:
        if a[name] != b[name]:
            sys.exit(f"'{name}' differs")
else:
    a, b = read(first), read(second)
    for name in "embed.weight", "out.weight", "out.bias":
        rows = a[name].shape[0]
        width = len(a[name].values) // rows
        moved = [row for row in range(rows)
                 if any(b[f"{state}/{name}"].values[row * width + i] for state in ("first", "second")
                        for i in range(width))]
        changed = [row for row in range(rows)
                   if list(a[name].values[row * width:][:width]) != list(b["weights/" + name].values[row * width:][:width])]
        print(name, "moved" if moved == changed else f"{moved} have a state, {changed} changed",
              "all" if len(moved) == rows else "some", max(moved) < 9)
