"""Runs a batch with 1, 2 and 3 threads, and each of its examples alone.

    company.py MODEL MODELS_DIRECTORY WORK_DIRECTORY

The sizes are those of test/models/tiny.py, eight times as large, so that
matrix products have full and ragged tiles.
"""

import os
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
import tiny  # noqa: E402
from parameters import drawn  # noqa: E402
from tensors import Tensor, read, write  # noqa: E402


def main(model, models, work):
    options, data = tiny.MODELS[model]
    inputs = {axis for _, *axes in data.values() for axis in axes if isinstance(axis, int)}
    larger = {k: v * 8 if k in "EHAMF" and v not in inputs else v for k, v in options.items()}
    if "D" in options and model == "transformer":
        larger["D"] = options["D"] * 8
    spec = os.path.join(models, model + ".fov")
    sets = [word for k, v in larger.items() for word in ("--set", f"{k}={v}")]
    os.makedirs(work, exist_ok=True)
    weights, batch, result = (os.path.join(work, f) for f in ("w", "b", "r"))
    write(weights, drawn(spec, sets, 0.3))
    examples = tiny.batch(data, 2, 0)

    def run(tensors, threads):
        write(batch, tensors)
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", batch, "--get", "logp",
                        "--get", "grads", "--threads", str(threads), "-o", result], check=True)
        return read(result)

    together = run(examples, 1)
    for threads in 2, 3:
        other = run(examples, threads)
        for name, tensor in together.items():
            assert tensor.values == other[name].values, f"{name} differs with {threads} threads"
    for example in range(tiny.BATCH):
        alone = {}
        for name, tensor in examples.items():
            size = len(tensor.values) // tiny.BATCH
            alone[name] = Tensor(tensor.dtype, [1, *tensor.shape[1:]], tensor.values[example * size:(example + 1) * size])
        value = run(alone, 1)["logp"].values[0]
        assert value == together["logp"].values[example], f"example {example} alone: {value}"
    print(f"{model}: {len(together)} results agree bit for bit")


if __name__ == "__main__":
    main(*sys.argv[1:])
