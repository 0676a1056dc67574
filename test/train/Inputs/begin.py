"""begin.py WEIGHTS: whether states begin as the parameters that they follow."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
import tensors  # noqa: E402

found = {name: list(tensor.values) for name, tensor in tensors.read(sys.argv[1]).items()}


def equal(names, others):
    return "equal" if all(found[a] == found[b] for a, b in zip(names, others)) else "different"


said = []
for layer in ("0", "1"):
    parts = [f"{layer}.weight", f"{layer}.bias"]
    said.append(f"layer.{layer}: " + equal(["teacher." + p for p in parts], ["student." + p for p in parts]))
said += ["later: " + equal(["later"], ["v"]), "v: " + equal(["slow"], ["v"])]
said.append("layers differ: " + ("yes" if found["student.0.weight"] != found["student.1.weight"] else "no"))
print(", ".join(said))
