"""What `fovea compile --emit onnx` writes gives the same numbers when Fovea runs the file.

    onnx_returns.py MODELS_DIRECTORY WORK_DIRECTORY MODEL:EQUATION..

Two examples at the sizes of tiny.py: the file has them as one array, and Fovea as one example of
its own.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "golden")]
import tiny  # noqa: E402
from tensors import read, write  # noqa: E402


def prepared(models, work, name):
    """The spec, settings and data of a model of tiny.py, and files: drawn weights, which exist, and those of a batch, a
    result and an ONNX model, which the caller writes."""
    options, data = {**tiny.MODELS, **tiny.PUBLISHED}[name]
    sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
    spec = os.path.join(models, name + ".fov")
    files = [os.path.join(work, name + ending)
             for ending in (".w.safetensors", ".b.safetensors", ".r.safetensors", ".onnx")]
    write(files[0], tiny.drawn(spec, sets, 0.6))
    return spec, sets, data, files


def check(models, work, name, equation):
    spec, sets, data, (weights, inputs, result, model) = prepared(models, work, name)

    def fovea(*arguments):
        subprocess.run(["fovea", *arguments], check=True)

    gets = ["--get", equation, "-o", result]
    batch = tiny.batch(data, 2, 0)
    write(inputs, batch)
    fovea("run", spec, *sets, "--weights", weights, "--data", inputs, *gets)
    expected = read(result)
    fovea("compile", spec, *sets, "--weights", weights, "--get", equation, "-o", model)
    # One example of the file's own model.
    write(inputs, {key.replace(".", "_"): t for key, t in batch.items()})
    fovea("run", model, "--data", inputs, *gets)
    found = read(result)
    largest = 0.0
    for output, tensor in expected.items():
        assert found[output].shape == [1, *tensor.shape], (output, found[output].shape)
        for a, b in zip(found[output].values, tensor.values, strict=True):
            largest = max(largest, abs(a - b) / max(1, abs(b)))
    assert largest <= 1e-5, f"{name}: differs by {largest}"
    print(f"{name}: {len(tensor.values)} numbers of '{equation}' are the same")


def main(models, work, *names):
    os.makedirs(work, exist_ok=True)
    for name in names:
        check(models, work, *name.split(":"))


if __name__ == "__main__":
    main(*sys.argv[1:])
