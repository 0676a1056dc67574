"""Loss and log p have the same bits whatever else is asked for.

    same_loss.py MODELS_DIRECTORY WORK_DIRECTORY [MODEL]..

In f32, by compiled code: the loss alone and with gradients, log p alone, and all
three. By default of all models.
"""

import os
import subprocess
import sys

import tiny
from parameters import drawn
from tensors import read, write  # `parameters` says where it is

WAYS = (["loss"], ["logp"], ["loss", "grads"], ["loss", "logp", "grads"])


def main(models, work, *names):
    os.makedirs(work, exist_ok=True)
    for model in names or tiny.MODELS:
        options, data = tiny.MODELS[model]
        spec = os.path.join(models, model + ".fov")
        sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
        weights, inputs, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))
        write(weights, drawn(spec, sets, 0.6))
        write(inputs, tiny.batch(data, 2, 0))
        seen = {}
        for gets in WAYS:
            asked = [word for name in gets for word in ("--get", name)]
            subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", inputs, *asked, "-o", result],
                           check=True)
            tensors = read(result)
            for name in ("loss", "logp"):
                if name in gets:
                    values, first = seen.setdefault(name, (tensors[name].values, gets))
                    assert tensors[name].values == values, (
                        f"{model}: {name} is {tensors[name].values} with {' '.join(gets)}, {values} with {' '.join(first)}")
        print(f"{model}: loss and log p have the same bits")


if __name__ == "__main__":
    main(*sys.argv[1:])
