"""states.py DATA WEIGHTS STEPS TRAINED: the updates of states.fov by hand, with sgd at a rate of 0.05
and all examples in each update. Prints the largest difference of each array of TRAINED."""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
import tensors  # noqa: E402

data, weights, steps, trained = sys.argv[1:]
x = tensors.read(data)["x"]
B, S, _ = x.shape
examples = [[x.values[3 * (S * b + i) : 3 * (S * b + i + 1)] for i in range(S)] for b in range(B)]
w = {name: list(tensor.values) for name, tensor in tensors.read(weights).items()}
N, D = 3, 2


def apply(name, v, n):
    m = len(v)
    return [sum(w[name + ".weight"][m * r + c] * v[c] for c in range(m)) + w[name + ".bias"][r] for r in range(n)]


for _ in range(int(steps)):
    grad = {name: [0.0] * len(w[name]) for name in ("enc.weight", "enc.bias", "dec.weight", "dec.bias")}
    count, total = [0.0] * N, [0.0] * (N * D)
    code = [[w["total"][D * n + d] / w["count"][n] for d in range(D)] for n in range(N)]
    for example in examples:
        for v in example:
            z = apply("enc", v, D)
            far = [sum((z[d] - c[d]) ** 2 for d in range(D)) for c in code]
            k = far.index(min(far))
            y = apply("dec", code[k], 3)
            dy = [2 * (y[j] - v[j]) / (S * B) for j in range(3)]
            dz = [0.5 * (z[d] - code[k][d]) / (S * B) + sum(dy[j] * w["dec.weight"][D * j + d] for j in range(3))
                  for d in range(D)]
            for j in range(3):
                grad["dec.bias"][j] += dy[j]
                for d in range(D):
                    grad["dec.weight"][D * j + d] += dy[j] * code[k][d]
            for d in range(D):
                grad["enc.bias"][d] += dz[d]
                for c in range(3):
                    grad["enc.weight"][3 * d + c] += dz[d] * v[c]
                total[D * k + d] += z[d] / B
            count[k] += 1 / B
    new = {name: [a - 0.05 * g for a, g in zip(w[name], grad[name])] for name in grad}
    new["count"] = [0.9 * a + 0.1 * b for a, b in zip(w["count"], count)]
    new["total"] = [0.9 * a + 0.1 * b for a, b in zip(w["total"], total)]
    for part in "weight", "bias":
        new["teacher." + part] = [0.9 * a + 0.1 * b for a, b in zip(w["teacher." + part], w["enc." + part])]
    new["steps"] = [w["steps"][0] + 1]
    w = new
for name, tensor in tensors.read(trained).items():
    off = max(abs(a - b) for a, b in zip(tensor.values, w[name]))
    print(name, "right" if off < 1e-12 else off)
