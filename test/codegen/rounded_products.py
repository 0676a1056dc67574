"""Runs models whose products with weights have factors in bf16, on CPUs with and without instructions for them.

    rounded_products.py WORK_DIRECTORY CPU[,CPU..] [--interpreted] MODEL..

The loss, log p and all gradients, and the weights after some updates on one thread and on two, have the same bits on
each CPU. If a product rounds, they differ from those of f32. `--interpreted`: loss, log p and gradients have those of
the interpreter. Sizes are such that products round: above 16, and no multiples of a vector.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import tiny  # noqa: E402
from parameters import drawn  # noqa: E402
from same_bits import bytes_of, options  # noqa: E402
from tensors import read, write  # noqa: E402

PRECISION = ("--precision", "bf16:avx512")
STEPS = 5


class Runs:
    def __init__(self, work, model):
        self.spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
        self.sets = options(model)
        self.folder = os.path.join(work, model)
        os.makedirs(self.folder, exist_ok=True)
        self.weights, self.inputs = (os.path.join(self.folder, f) for f in ("w.safetensors", "b.safetensors"))
        write(self.weights, drawn(self.spec, self.sets, 0.2))
        write(self.inputs, tiny.batch(tiny.MODELS[model][1], 2, 0))

    def hasProducts(self):
        """Whether the sizes are such that an equation rounds its factors."""
        done = subprocess.run(["fovea", "compile", self.spec, *self.sets, *PRECISION, "--emit", "mlir",
                               "--stop-after", "fuse"], check=True, capture_output=True, text=True)
        return "attn.sums = array<i64: 1>" in done.stdout.split("attn.program", 1)[-1]

    def call(self, command, *how):
        subprocess.run(["fovea", command, self.spec, *self.sets, "--weights", self.weights, "--data", self.inputs,
                        "--quiet", *how], check=True)

    def gradients(self, *how):
        out = os.path.join(self.folder, "out.safetensors")
        self.call("run", *how, "--get", "loss", "logp", "grads", "-o", out)
        return read(out)

    def trained(self, *how):
        out = os.path.join(self.folder, "trained")
        subprocess.run(["rm", "-rf", out], check=True)
        self.call("train", *how, "--steps", str(STEPS), "--out", out)
        return {"trained/" + name: tensor for name, tensor in read(os.path.join(out, "model.safetensors")).items()}


def differing(one, other):
    assert set(one) == set(other)
    return [name for name in one if bytes_of(one[name]) != bytes_of(other[name])]


def check(work, cpus, isInterpreted, model):
    """What is wrong, or what was found; and whether that is good."""
    runs = Runs(work, model)
    own, first = runs.gradients(*PRECISION, "--cpu", cpus[0]), {}
    if not differing(own, runs.gradients()):
        return "the bits of f32", not runs.hasProducts()
    others = {cpu: runs.gradients(*PRECISION, "--cpu", cpu) for cpu in cpus[1:]}
    if isInterpreted:
        others["the interpreter"] = runs.gradients(*PRECISION, "--reference", "--dtype", "f32", "--stop-after", "fuse")
    for cpu in cpus:
        for threads in ("1", "2"):
            found = runs.trained(*PRECISION, "--cpu", cpu, "--threads", threads)
            first = first or found
            if wrong := differing(first, found):
                return f"{len(wrong)} of {len(found)} weights of {cpu} differ: {', '.join(wrong[:6])}", False
    for other, found in others.items():
        if wrong := differing(own, found):
            return f"{len(wrong)} of {len(own)} results of {other} differ: {', '.join(wrong[:6])}", False
    return f"{len(own)} results with the same bits", True


def main():
    work, cpus, *models = sys.argv[1:]
    isInterpreted = models[:1] == ["--interpreted"]
    results = {}
    for model in models[isInterpreted:] if models[-1] != "all" else tiny.TRAINED:
        text, results[model] = check(work, cpus.split(","), isInterpreted, model)
        print(f"{model}: {text}{'' if results[model] else ' (wrong)'}", flush=True)
    sys.exit(0 if all(results.values()) else 1)


if __name__ == "__main__":
    main()
