"""Matrix products whose factors are rounded to bf16, on the emulated GPU.

    rounded.py WORK_DIRECTORY products
    rounded.py WORK_DIRECTORY [--schedules N | --only NUMBER] copies [ARCHITECTURE..]
    rounded.py WORK_DIRECTORY [--schedules N] MODEL..

`products`: one of each kind. They have the bits of a CPU in f32 that is given the
rounded numbers, ties among them, where the emulator's tensor cores add as a CPU
does; a product of two such factors is exact. What rounding may change at most is
derived from the numbers.

`copies`: the same of products that are large enough for copies of their factors,
by the kernels of both architectures.

Models, at sizes above those of a tile: the same bits under each schedule, in each
grid, and for an example alone; and near what a CPU has in f32.
"""

import argparse
import math
import os
import random
import struct
import subprocess
import sys

from same_bits import SCHEDULES, TESTS, bits, options
import tiny
from parameters import drawn
from tensors import Tensor, read, write

SPEC = """model products
dim K = 40, N = 150
data x[S] : real(K)
data z[P] : real(K)
data c[S] : real(N)
param w : matrix(N, K)
y[i,n] = sum[k](w[n,k] * x[i,k])
e[i,j] = sum[k](x[i,k] * z[j,k])
penalty sum[i,n](y[i,n] * c[i,n])
"""
# More than a tile, and no whole number of them, each way.
LARGE = """model copies
dim K = 260, N = 300, J = 70, M = 2100, L = 256
data x[S] : real(K)
data c[S] : real(N)
data d[S] : real(J)
param w : matrix(N, K)
param v : matrix(M, J)
param g : matrix(N, L)
param b : matrix(N, L)
y[i,n] = sum[k](w[n,k] * x[i,k])
z[i,k] = sum[n](w[n,k] * c[i,n])
u[i,m] = sum[j](v[m,j] * d[i,j])
p[a < 3, i, k] = x[i,k] * a
r[i,n] = sum[k](w[n,k] * p[2,i,k])
h[i, l < L] = 2 * x[i,l]
q[i,n] = sum[l](g[n,l] * h[i,l])
o[i,n] = sum[l](b[n,l] * h[i,l])
penalty sum[i,n]((y[i,n] + q[i,n]) * c[i,n])
"""
# Of the emulated device that runs an architecture's code.
CAPABILITIES = {"sm_80": "80", "sm_90a": "90"}
# Its tensor cores then add in ascending order, with a rounding each.
LIKE_CPU = {"FOVEA_EMULATOR_SUMS": "ascending"}
K, N, LENGTHS = 40, 150, {"S": (70, 3, 33, 16), "P": (19, 66, 1, 8)}  # a gradient is a quarter of a sum: exactly
# What a model's loss may be off by, as a share: 8 binary digits of each factor.
NEAR = 2**-6


def rounded(value):
    """To 8 binary digits; of two numbers that are as near, the even one."""
    if value == 0:
        return value
    unit = 2.0 ** (math.frexp(value)[1] - 8)
    return round(value / unit) * unit  # Python's `round` takes the even one


def single(value):
    return struct.unpack("f", struct.pack("f", value))[0]


def alone(inputs, number):
    """The example of this number, as a batch of its own."""
    result = {}
    for name, tensor in inputs.items():
        size = math.prod(tensor.shape[1:])
        result[name] = Tensor(tensor.dtype, [1, *tensor.shape[1:]], tensor.values[number * size:(number + 1) * size])
    return result


class Runner:
    def __init__(self, folder, spec, sets, gets):
        os.makedirs(folder, exist_ok=True)
        self.files = [os.path.join(folder, name) for name in ("w.safetensors", "b.safetensors", "out.safetensors")]
        self.command = ["fovea", "run", spec, *sets, "--quiet", "--get", *gets]

    def __call__(self, weights, inputs, *how, **environment):
        for path, tensors in zip(self.files, (weights, inputs)):
            write(path, tensors)
        command = [*self.command, "--weights", self.files[0], "--data", self.files[1], "-o", self.files[2], *how]
        done = subprocess.run(command, env={**os.environ, **environment}, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(done.stderr.strip() or f"exit code {done.returncode}")
        return read(self.files[2])

    def rounding(self, weights, inputs, schedule=SCHEDULES[0], **environment):
        return self(weights, inputs, "--target", "cuda", "--precision", "bf16", FOVEA_EMULATOR_SCHEDULE=schedule[0],
                    FOVEA_EMULATOR_PROCESSORS=schedule[1], **environment)


def differing(found, expected, names):
    return [name for name in names if bits(found[name]) != bits(expected[name])]


def drawing():
    draw = random.Random(1)

    def number():
        # One of four is in the middle between two numbers with 8 digits.
        value = draw.uniform(-2, 2)
        return rounded(value) + math.copysign(2.0 ** (math.frexp(value)[1] - 9), value) if draw.random() < 0.25 \
            else single(value)

    return lambda shape: Tensor("F64", shape, [number() for _ in range(math.prod(shape))])


def afterRounding(tensors):
    return {name: Tensor(t.dtype, t.shape, [rounded(v) for v in t.values]) if t.dtype == "F64" else t
            for name, t in tensors.items()}


def copies(work, schedules, architectures):
    tensor = drawing()
    spec = os.path.join(work, "copies.fov")
    with open(spec, "w") as file:
        file.write(LARGE)
    weights = {"w": tensor([300, 260]), "v": tensor([2100, 70]), "g": tensor([300, 256]),
               "b": tensor([300, 256])}
    lengths = Tensor("I64", [2], [150, 70])  # a gradient is half of a sum: exactly
    inputs = {"x": tensor([2, 150, 260]), "c": tensor([2, 150, 300]), "d": tensor([2, 150, 70])}
    inputs.update({name + ".length": lengths for name in ("x", "c", "d")})
    # Rows of `r` come by a list; `h` is stored as a copy by who computes it. The
    # weights, with rows of whole fours and others, are copied by one launch.
    names = ["y", "z", "u", "r", "q", "o", "grad/w", "grad/g"]
    run = Runner(work, spec, [], ["y", "z", "u", "p", "r", "q", "o", "grads"])
    expected = run(afterRounding(weights), afterRounding(inputs))
    for architecture in architectures or ("sm_80", "sm_90a"):
        how = {"FOVEA_EMULATOR_CAPABILITY": CAPABILITIES[architecture], **LIKE_CPU}
        for schedule in schedules:
            wrong = differing(run.rounding(weights, inputs, schedule, **how), expected, names)
            assert not wrong, f"{wrong} differ ({architecture}, {schedule})"
        found = run.rounding(weights, alone(inputs, 1), **how)
        assert found["y"].values[:70 * 300] == expected["y"].values[150 * 300:][:70 * 300], "it is another one alone"
        print(f"copies: {', '.join(names)} have the bits of rounded numbers by the kernels of {architecture}", flush=True)


def products(work, schedules):
    tensor = drawing()
    spec = os.path.join(work, "products.fov")
    with open(spec, "w") as file:
        file.write(SPEC)
    weights = {"w": tensor([N, K])}
    inputs = {"x": tensor([4, 70, K]), "z": tensor([4, 66, K]), "c": tensor([4, 70, N])}
    for name, length in (("x", "S"), ("z", "P"), ("c", "S")):
        inputs[f"{name}.length"] = Tensor("I64", [4], list(LENGTHS[length]))

    names = ["y", "e", "grad/w"]
    run = Runner(work, spec, [], ["y", "e", "grads"])
    expected = run(afterRounding(weights), afterRounding(inputs))
    for schedule in SCHEDULES[:schedules]:
        wrong = differing(run.rounding(weights, inputs, schedule, **LIKE_CPU), expected, names)
        assert not wrong, f"{wrong} differ ({schedule})"
    print(f"products: {', '.join(names)} have the bits of rounded numbers")

    interpreted = run(weights, inputs, "--target", "cuda", "--precision", "bf16", "--reference", "--stop-after", "kernels")
    for name in names:
        scale = max(map(abs, expected[name].values))
        worst = max(abs(a - b) for a, b in zip(interpreted[name].values, expected[name].values))
        assert worst <= 2e-6 * scale, (name, worst, scale)
    print("products: the interpreter rounds the same factors")

    # A factor is off by 2^-8 of itself at most, a product by twice that and a bit.
    exact = run(weights, inputs)
    share = 2**-7 + 2**-16 + (K + 1) * 2**-24
    for example, length in enumerate(LENGTHS["S"]):
        for i in range(length):
            row = inputs["x"].values[(example * 70 + i) * K:][:K]
            for n in range(N):
                sizes = sum(abs(a * b) for a, b in zip(row, weights["w"].values[n * K:][:K]))
                at = (example * 70 + i) * N + n
                assert abs(exact["y"].values[at] - expected["y"].values[at]) <= share * sizes, (example, i, n)
    assert bits(exact["y"]) != bits(expected["y"]), "nothing is rounded"
    print("products: within the bound of rounding")


def model(work, name, schedules):
    spec = os.path.join(TESTS, "..", "models", name + ".fov")
    sets = options(name, True)
    run = Runner(os.path.join(work, name), spec, sets, ["loss", "logp", "grads"])
    weights, inputs = drawn(spec, sets, 0.2), tiny.batch(tiny.MODELS[name][1], 2, 0)
    first = run.rounding(weights, inputs)
    for schedule in SCHEDULES[1:schedules]:
        wrong = differing(run.rounding(weights, inputs, schedule), first, first)
        assert not wrong, f"{name}: {wrong} differ ({schedule})"
    for example in range(2):
        found = run.rounding(weights, alone(inputs, example))["logp"].values[0]
        assert found == first["logp"].values[example], f"{name}: example {example} alone has another log p"
    exact = run(weights, inputs)
    loss, wanted = first["loss"].values[0], exact["loss"].values[0]
    assert loss != wanted, f"{name}: nothing is rounded"
    assert abs(loss - wanted) <= NEAR * abs(wanted), (name, loss, wanted)
    # The angle between all of both gradients.
    ours, theirs = ([v for key in sorted(first) if key.startswith("grad/") for v in file[key].values]
                    for file in (first, exact))
    cosine = sum(a * b for a, b in zip(ours, theirs)) / math.sqrt(sum(a * a for a in ours) * sum(b * b for b in theirs))
    assert cosine >= 1 - NEAR, (name, cosine)
    print(f"{name}: {len(first)} results with the same bits, off by {abs(loss / wanted - 1):.0e}, gradients by "
          f"{1 - cosine:.0e}", flush=True)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("work")
    parser.add_argument("--schedules", type=int, default=len(SCHEDULES))
    parser.add_argument("--only", type=int)
    parser.add_argument("models", nargs="+")
    given = parser.parse_intermixed_args()
    os.makedirs(given.work, exist_ok=True)
    if given.models == ["products"]:
        return products(given.work, given.schedules)
    if given.models[0] == "copies":
        schedules = SCHEDULES[:given.schedules] if given.only is None else [SCHEDULES[given.only]]
        return copies(given.work, schedules, given.models[1:])
    tiny.LENGTHS = {name: tuple(6 * n - 1 for n in lengths) for name, lengths in tiny.LENGTHS.items()}
    tiny.LENGTHS.update(M=(3, 1), B=(3, 1), Y=(19, 17), X=(18, 21), F=(2, 3))
    for name in given.models:
        model(given.work, name, given.schedules)


if __name__ == "__main__":
    main()
