"""Matrix products in tiles of all sizes, on the CPU and on the emulated GPU.

    tiles.py WORK_DIRECTORY

Rows and columns that no tile divides, sides of which either index lies side by
side, and their gradients: the same bits. With so many columns two rows of large
tiles are 130.
"""

import math
import os
import random
import sys

from rounded import Runner, differing
from same_bits import SCHEDULES
from tensors import Tensor

SPEC = """model tiles
dim K = 9, N = 8200
data x[S] : real(K)
data c[S] : real(N)
param w : matrix(N, K)
param v : matrix(K, N)
y[i,n] = sum[k](w[n,k] * x[i,k])
z[i,n] = sum[k](x[i,k] * v[k,n])
penalty sum[i,n](y[i,n] * c[i,n] + z[i,n] * c[i,n])
"""
K, N, LENGTHS = 9, 8200, (131, 3)


def main(work):
    os.makedirs(work, exist_ok=True)
    spec = os.path.join(work, "tiles.fov")
    with open(spec, "w") as file:
        file.write(SPEC)
    draw = random.Random(1)

    def tensor(*shape):
        return Tensor("F64", list(shape), [draw.uniform(-1, 1) for _ in range(math.prod(shape))])

    weights = {"w": tensor(N, K), "v": tensor(K, N)}
    inputs = {"x": tensor(2, LENGTHS[0], K), "c": tensor(2, LENGTHS[0], N)}
    inputs.update({f"{name}.length": Tensor("I64", [2], list(LENGTHS)) for name in ("x", "c")})
    names = ["y", "z", "grad/w", "grad/v"]
    run = Runner(work, spec, [], ["y", "z", "grads"])
    expected = run(weights, inputs, "--dtype", "f32")
    for schedule, processors in SCHEDULES[:2]:
        found = run(weights, inputs, "--dtype", "f32", "--target", "cuda", FOVEA_EMULATOR_SCHEDULE=schedule,
                    FOVEA_EMULATOR_PROCESSORS=processors)
        wrong = differing(found, expected, names)
        assert not wrong, f"{wrong} differ ({schedule})"
    print(f"tiles: {', '.join(names)} have the bits of the CPU")


if __name__ == "__main__":
    main(sys.argv[1])
