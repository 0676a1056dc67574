"""The ONNX models that `fovea compile --emit onnx` writes agree with `fovea run`.

    onnx_agrees.py MODELS_DIRECTORY WORK_DIRECTORY MODEL..

Two examples of different lengths, with garbage past the lengths, at the sizes of tiny.py. The
outputs are the loss, log p and the equations of the model. onnx's checker accepts every file; its
reference evaluator agrees in f64, and ONNX Runtime in f32 and, where it has the operators, in f64.
A model that cannot be written must say why.
"""

import os
import re
import subprocess
import sys

import numpy
import onnx
import onnx.reference
import onnxruntime

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(HERE, "..", "golden")]
import tiny  # noqa: E402
from onnx_returns import prepared  # noqa: E402
from tensors import read, write  # noqa: E402

tiny.MODELS.update(tiny.PUBLISHED)

TOLERANCES = {"f32": 1e-5, "f64": 1e-11}
TYPES = {"tensor(float)": numpy.float32, "tensor(double)": numpy.float64, "tensor(int64)": numpy.int64,
         "tensor(bool)": numpy.bool_}


def fovea(*arguments):
    return subprocess.run(["fovea", *arguments], capture_output=True, text=True)


def array(tensor):
    return numpy.array(tensor.values).reshape(tensor.shape)


def equations(spec, sets):
    """The names that `--get` takes."""
    text = fovea("compile", spec, *sets, "--emit", "attn").stdout.split("@decoding")[0]
    return [name for name in re.findall(r'attn.equation "([^"]+)"', text) if "[" not in name]


def difference(found, expected):
    """The largest one, relative to the largest number."""
    found, expected = numpy.asarray(found, numpy.float64), numpy.asarray(expected, numpy.float64)
    assert found.shape == expected.shape, (found.shape, expected.shape)
    same = (found == expected) | (numpy.isnan(found) & numpy.isnan(expected))
    scale = max(1.0, numpy.abs(expected[numpy.isfinite(expected)]).max(initial=0.0))
    return float(numpy.where(same, 0, numpy.abs(found - expected)).max(initial=0.0)) / scale


def check(models, work, name):
    spec, sets, data, (weights, inputs, result, model) = prepared(models, work, name)
    batch = tiny.batch(data, 2, 3)
    write(inputs, batch)
    gets = [word for each in equations(spec, sets) for word in ("--get", each)]
    largest = {}
    for dtype in ("f32", "f64"):
        how = [spec, *sets, "--weights", weights, "--dtype", dtype, *gets]
        done = fovea("compile", *how, "--emit", "onnx", "-o", model)
        if done.returncode:
            print(f"{name}: {done.stderr.splitlines()[0].split('error')[-1]}")
            assert done.returncode == 1 and "cannot write" in done.stderr, done.stderr
            return
        onnx.checker.check_model(model, full_check=True)
        loaded = onnx.load(model)
        wanted = [output.name for output in loaded.graph.output]
        asks = [word for each in wanted if each not in ("nll", "choices", "penalty")
                for word in ("--get", each.removesuffix(".output"))]
        done = fovea("run", *how[:-len(gets) or None], "--data", inputs, *asks, "-o", result)
        assert done.returncode == 0, done.stderr
        expected = read(result)

        def compare(evaluator, outputs):
            for output, value in zip(wanted, outputs, strict=True):
                each = output.removesuffix(".output")
                if each not in expected:
                    continue
                off = difference(value, array(expected[each]))
                # onnx's own erf has 32 bits.
                is_single = evaluator == "onnx" and any(node.op_type == "Erf" for node in loaded.graph.node)
                assert off <= (1e-6 if is_single else TOLERANCES[dtype]), f"{name}: {output} of {evaluator} in {dtype} differs by {off}"
                key = f"{evaluator} {dtype}"
                largest[key] = max(largest.get(key, 0), off)

        feeds = {}
        for each in loaded.graph.input:
            kind = {1: numpy.float32, 7: numpy.int64, 9: numpy.bool_, 11: numpy.float64}[each.type.tensor_type.elem_type]
            feeds[each.name] = array(batch[each.name]).astype(kind)
        if dtype == "f64":
            compare("onnx", onnx.reference.ReferenceEvaluator(loaded).run(None, feeds))
        try:
            session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
        except Exception as failure:  # an operator that it has in f32 alone
            assert dtype == "f64" and "NOT_IMPLEMENTED" in str(failure), f"{name}: {failure}"
            continue
        compare("ONNX Runtime", session.run(wanted, feeds))
    differences = ", ".join(f"{key} {value:.0e}" for key, value in largest.items())
    print(f"{name}: {len(wanted)} outputs agree: {differences}")


def main(models, work, *names):
    os.makedirs(work, exist_ok=True)
    for name in names:
        check(models, work, name)


if __name__ == "__main__":
    main(*sys.argv[1:])
