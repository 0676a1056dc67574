"""Checks that the weights in a file are the sigmoids of its energies over their sum."""

import math
import sys

from tensors import read

tensors = read(sys.argv[1])
energy, align = tensors["energy"].values, tensors["align"].values
frames = tensors["energy"].shape[-1]
for at in range(0, len(energy), frames):
    gates = [1 / (1 + math.exp(-value)) for value in energy[at:at + frames]]
    for gate, weight in zip(gates, align[at:at + frames], strict=True):
        assert abs(gate / sum(gates) - weight) < 1e-5, (gates, align[at:at + frames])
