"""Compares the bits of a target of a test, `fovea-scalar --cpu scalar`, with those of this CPU.

    scalar.py WORK_DIRECTORY SPEC GETS

The data of the spec are `x[S] : real(37)`.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "reference"))
from bits import count, drawn, read, vectors, write  # noqa: E402


def main(work, spec, gets):
    weights, inputs, out = (os.path.join(work, f + ".safetensors") for f in ("w", "b", "o"))
    write(weights, drawn(spec, [], 0.2))
    write(inputs, vectors())

    def results(program, target):
        subprocess.run([program, "run", spec, "--cpu", target, "--weights", weights, "--data", inputs,
                        "--quiet", "--get", *gets.split(","), "-o", out], check=True)
        return read(out)

    expected, found = results("fovea", "native"), results("fovea-scalar", "scalar")
    assert set(found) == set(expected)
    wrong = sum(count(expected[name], found[name]) for name in expected)
    total = sum(len(tensor.values) for tensor in expected.values())
    print(f"{wrong} of {total} numbers differ")


main(*sys.argv[1:])
