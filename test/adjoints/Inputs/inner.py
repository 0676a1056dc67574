"""Gradients inside a model beside central differences, and beside the same derivatives written out.

    inner.py SPECS WORK_DIRECTORY [TARGET]

Values are those of the interpreter and of compiled code, in f64; or of a TARGET, in f32.
"""

import os
import random
import subprocess
import sys

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
import tensors  # noqa: E402

LENGTH, STEP = 4, 1e-5
numbers = random.Random(1)


def real(*shape):
    count = 1
    for size in shape:
        count *= size
    return tensors.Tensor("F64", list(shape), [numbers.gauss(0, 0.5) for _ in range(count)])


def evaluate(spec, weights, data, names, *flags):
    tensors.write("weights.safetensors", weights)
    tensors.write("data.safetensors", data)
    command = ["fovea", "run", spec, "--weights", "weights.safetensors", "--data", "data.safetensors", "--quiet",
               "-o", "out.safetensors", *flags]
    subprocess.run(command + [word for name in names for word in ("--get", name)], check=True)
    return tensors.read("out.safetensors")


def changed(values, name, place, by):
    tensor = values[name]
    numbers = list(tensor.values)
    numbers[place] += by
    return {**values, name: tensor._replace(values=numbers)}


def differences(spec, weights, data, value, name):
    """Central differences of `value` by every second element of a parameter or of data."""
    result = []
    for place in range(0, len((weights | data)[name].values), 2):
        ends = []
        for by in (STEP, -STEP):
            own = [changed(given, name, place, by) if name in given else given for given in (weights, data)]
            ends.append(evaluate(spec, *own, [value], "--reference")[value].values[0])
        result.append((ends[0] - ends[1]) / (2 * STEP))
    return result


specs, work = map(os.path.abspath, sys.argv[1:3])
ways = [["--reference"], ["--dtype", "f64"]]
limit = 1e-12
if len(sys.argv) > 3:
    ways, limit = [["--target", sys.argv[3]]], 1e-5
os.makedirs(work, exist_ok=True)
os.chdir(work)

spec = os.path.join(specs, "inner.fov")
weights = {"W": real(3, 3), "v": real(3)}
data = {"x": real(LENGTH, 3), "z": tensors.Tensor("I64", [LENGTH], [2, 7, 0, -1])}
cases = [("e", f"g_{name}", name) for name in ("W", "v", "x")] + [("inside", f"grad/{name}", name) for name in ("W", "v")]
wanted = {gradient: differences(spec, weights, data, value, name) for value, gradient, name in cases}
for flags in ways:
    got = evaluate(spec, weights, data, ["g_W", "g_v", "g_x", "grads"], *flags)
    for gradient, values in wanted.items():
        off = tensors.difference(got[gradient].values[::2], values)
        print(f"{flags[-1]} {gradient}: {'right' if off < max(limit, 1e-7) else off}")

spec = os.path.join(specs, "explicit.fov")
weights = {"W0": real(3, 2), "U": real(3, 3), "b0": real(2), "rate": tensors.Tensor("F64", [1], [0.1])}
data = {"x": real(LENGTH, 3), "y": real(LENGTH, 2)}
names = ["wrong_W", "wrong_A", "wrong_h"]
for flags in ways:
    got = evaluate(spec, weights, data, names, *flags)
    print(f"{flags[-1]} explicit: {'right' if all(got[name].values[0] < limit for name in names) else got}")
