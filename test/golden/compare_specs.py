"""Compares `fovea run` of bench/specs with the golden values of Inputs: the
reference interpreter, and compiled code in both precisions.

    compare_specs.py SPEC WORK_DIRECTORY

Prints the largest difference of each number; fails on one that is too large,
and on anything that is not a number.
"""

import os
import subprocess
import sys

import compare
import tensors

INPUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "Inputs")
SIZES = {
    "attention": dict(H=2, T=37, D=8),
    "product": dict(K=10, N=11),
    "encoder": {"L": 2, "D": 12, "K": 3, "F": 20, "T": 9, "words.vocab": 11},
}
# What makes the gradients of an encoder's output, as a penalty.
ENCODER_OBJECTIVE = """
data w[T] : real(D)
penalty sum[i](dot(w[i], y[i]))
"""


def named(golden, kind):
    return {name.removeprefix(kind + "/"): value for name, value in golden.items() if name.startswith(kind + "/")}


def gradients_of(name, spec, golden, work):
    """The spec that has gradients, its data, parameters, and those gradients."""
    data, grads = named(golden, "data"), named(golden, "grad")
    if name == "encoder":
        with open(spec, encoding="utf-8") as file:
            text = file.read()
        spec = os.path.join(work, "encoder_grad.fov")
        with open(spec, "w", encoding="utf-8") as file:
            file.write(text + ENCODER_OBJECTIVE)
        return spec, data, named(golden, "param"), grads
    # Attention: half of each array is data, half is the parameter.
    halves = {key: [value / 2 for value in data[key].values] for key in "qkv"}
    inputs = {key + "_data": data[key]._replace(values=halves[key]) for key in "qkv"}
    params = {key + "_shift": tensors.Tensor("F64", data[key].shape[1:], halves[key]) for key in "qkv"}
    return (spec.replace(".fov", "_grad.fov"), inputs | {"w": data["w"]}, params,
            {key + "_shift": grads[key] for key in "qkv"})


def check(spec, sizes, data, params, wanted, work):
    """Whether all that is wanted comes out, in every way of running."""
    weights, batch, result = (os.path.join(work, f + ".safetensors") for f in ("weights", "batch", "result"))
    tensors.write(weights, params)
    tensors.write(batch, data)
    sets = [word for key, value in sizes.items() for word in ("--set", f"{key}={value}")]
    gets = list(dict.fromkeys("grads" if name.startswith("grad/") else name for name in wanted))
    good = True
    for way, (how, tolerance, difference) in compare.WAYS.items():
        subprocess.run(["fovea", "run", spec, *sets, "--data", batch, *how, "-o", result,
                        *(["--weights", weights] if params else []),
                        *(word for name in gets for word in ("--get", name))], check=True)
        got = tensors.read(result)
        for name, value in wanted.items():
            error = difference(got[name].values, value.values)
            good &= error <= tolerance
            print(f"{'ok' if error <= tolerance else 'WRONG'} {way} {name} {error:.1e}")
    return good


def main(spec, work):
    name = os.path.basename(spec).removesuffix(".fov")
    os.makedirs(work, exist_ok=True)
    golden = tensors.read(os.path.join(INPUTS, name + ".safetensors"))
    sizes = SIZES[name.split("_")[0]]
    data = {key: value for key, value in named(golden, "data").items() if key != "w"}
    good = check(spec, sizes, data, named(golden, "param"), named(golden, "output"), work)
    if "loss" in golden:
        spec, data, params, grads = gradients_of(name, spec, golden, work)
        wanted = {"loss": golden["loss"]} | {"grad/" + key: value for key, value in grads.items()}
        good &= check(spec, sizes, data, params, wanted, work)
    print(f"{name}: {'agrees' if good else 'differs'}")
    return not good


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
