"""Runs models for two CPUs, whose vectors differ in length, and compares bits.

    same_bits.py WORK_DIRECTORY CPU CPU [MODEL..]

The loss, log p and all gradients, in f32 and in f64, and the weights after 20
updates in f32. The models are those of test/models/tiny.py, or the named ones, with
sizes above those of a vector that no vector divides.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", folder))
import tiny  # noqa: E402
from parameters import drawn  # noqa: E402
from tensors import read, write  # noqa: E402

# Sizes that data do not have as well, and that are no numbers of layers.
GROWING = "EHADGMFW"
FIXED = {"luong_local_p": "D", "luong_local_m": "D", "caption_soft": "D", "caption_hard": "D", "ram": "WG",
         "llama": "G", "experts": "GE"}
STEPS = 20

tiny.LENGTHS = {name: tuple(9 * length - 2 for length in lengths) for name, lengths in tiny.LENGTHS.items()}
# `W` is nested in `M` and `B`; pictures have many places as it is. CTC needs a frame for each phone,
# and one between equal phones.
tiny.LENGTHS.update(M=(3, 1), B=(3, 1), Y=(19, 17), X=(18, 21), F=(2, 3), Q=(9, 8))


def options(model):
    sizes, _ = tiny.MODELS[model]
    fixed = FIXED.get(model, "")
    grown = {k: 11 * v if k in GROWING and k not in fixed else v for k, v in sizes.items()}
    return [word for k, v in grown.items() for word in ("--set", f"{k}={v}")]


def main(work, first, second, *models):
    differing = []
    for model in models or tiny.TRAINED:
        spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
        sets, data = options(model), tiny.MODELS[model][1]
        folder = os.path.join(work, model)
        os.makedirs(folder, exist_ok=True)
        weights, inputs = (os.path.join(folder, f) for f in ("w.safetensors", "b.safetensors"))
        write(weights, drawn(spec, sets, 0.2))
        write(inputs, tiny.batch(data, 2, 0))

        def results(cpu, dtype):
            out = os.path.join(folder, f"{cpu}-{dtype}")
            how = [*sets, "--weights", weights, "--data", inputs, "--dtype", dtype, "--cpu", cpu, "--quiet"]
            subprocess.run(["fovea", "run", spec, *how, "--get", "loss", "logp", "grads", "-o", out + ".safetensors"],
                           check=True)
            values = read(out + ".safetensors")
            if dtype == "f64":
                return values
            subprocess.run(["rm", "-rf", out])
            subprocess.run(["fovea", "train", spec, *how, "--steps", str(STEPS), "--out", out], check=True)
            for name, tensor in read(os.path.join(out, "model.safetensors")).items():
                values["trained/" + name] = tensor
            return values

        for dtype in ("f32", "f64"):
            one, other = results(first, dtype), results(second, dtype)
            assert set(one) == set(other)
            names = [name for name, tensor in one.items() if bytes_of(tensor) != bytes_of(other[name])]
            if names:
                differing.append(model)
                print(f"{model} {dtype}: {len(names)} of {len(one)} results differ: {', '.join(names[:6])}")
        if model not in differing:
            print(f"{model}: the same bits")
    sys.exit(1 if differing else 0)


def bytes_of(tensor):
    """NaN is not equal to itself; 0 is equal to -0."""
    import array
    return array.array("d", map(float, tensor.values)).tobytes()


if __name__ == "__main__":
    main(*sys.argv[1:])
