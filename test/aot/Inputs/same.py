"""same.py MODEL SPEC WORK: a model of test/models/tiny.py as a shared library.

Its loss and log p are those of `fovea run`, bit for bit, and its gradients are
the same; the struct of a batch is as the header says.
"""

import ctypes
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
for folder in ("models", "golden"):
    sys.path.insert(0, os.path.join(HERE, "..", "..", folder))
from tensors import Tensor, read, write  # noqa: E402
from tiny import MODELS, batch  # noqa: E402

model, spec, work = sys.argv[1:]
options, data = MODELS[model]
os.makedirs(work, exist_ok=True)
sets = [word for k, v in options.items() for word in ("--set", f"{k}={v}")]
weights, inputs, result = (os.path.join(work, f) for f in ("w.safetensors", "b.safetensors", "r.safetensors"))


def fovea(*words):
    subprocess.run(["fovea", *words], check=True)


fovea("init", spec, *sets, "--seed", "3", "-o", weights)
tensors = batch(data, 2, 0)
for name, tensor in tensors.items():
    if tensor.dtype == "F64":
        tensors[name] = Tensor("F32", tensor.shape, tensor.values)
write(inputs, tensors)
fovea("run", spec, *sets, "--weights", weights, "--data", inputs, "--get", "loss", "logp", "grads", "-o", result)
wanted = read(result)

library = os.path.join(work, "tiny.so")
fovea("compile", spec, *sets, "--weights", weights, "--emit", "so", "-o", library)
header = open(os.path.join(work, "tiny.h")).read()
struct = re.search(r"typedef struct tiny_batch \{(.*?)\} tiny_batch;", header, re.S)[1]
fields = re.findall(r"^  (?:const )?(\w+) (\*?)(\w+);$", struct, re.M)
kept = []  # arrays that C reads


def array(name, of):
    tensor = tensors[name]
    kept.append((of * len(tensor.values))(*tensor.values))
    return ctypes.cast(kept[-1], ctypes.c_void_p).value


TYPES = {"int64_t": ctypes.c_int64, "uint8_t": ctypes.c_uint8, "tiny_real": ctypes.c_float}
words = []
for of, star, name in fields:
    match = re.fullmatch(r"(\w+?)_(extent|length)(?:_(\d))?", name)
    if name == "examples":
        words.append(2)
    elif name == "ids":
        words.append(0)
    elif not match:
        words.append(array(name, TYPES[of]))
    elif match[2] == "extent":
        # The number counts lengths; in all of these they are the first axes.
        words.append(tensors[match[1]].shape[int(match[3] or 1)])
    else:
        key = f"{match[1]}.length" + (f".{match[3]}" if match[3] else "")
        words.append(array(key, ctypes.c_int64) if key in tensors else 0)
given = (ctypes.c_int64 * len(words))(*words)

tiny = ctypes.CDLL(library)
tiny.tiny_message.restype = ctypes.c_char_p
tiny.tiny_parameter_name.restype = ctypes.c_char_p
tiny.tiny_parameter_size.restype = ctypes.c_int64
tiny.tiny_gradient.restype = ctypes.POINTER(ctypes.c_float)
handle = ctypes.c_void_p()
assert tiny.tiny_create(None, 1, ctypes.byref(handle)) == 0, tiny.tiny_message()
loss, logp = ctypes.c_double(), (ctypes.c_double * 2)()
for function in tiny.tiny_loss, tiny.tiny_grad:
    assert function(handle, given, ctypes.byref(loss), logp) == 0, tiny.tiny_message()
    assert loss.value == wanted["loss"].values[0], (loss.value, wanted["loss"])
    assert list(logp) == wanted["logp"].values, (list(logp), wanted["logp"])
count = int(re.search(r"tiny_num_parameters = (\d+)", header)[1])
assert count == sum(name.startswith("grad/") for name in wanted)
for which in range(count):
    name = tiny.tiny_parameter_name(handle, which).decode()
    expected = wanted[f"grad/{name}"].values
    assert tiny.tiny_parameter_size(handle, which) == len(expected)
    for ours, theirs in zip(tiny.tiny_gradient(handle, which)[: len(expected)], expected):
        assert abs(ours - theirs) <= 1e-6 * max(1.0, abs(theirs)), (name, ours, theirs)
tiny.tiny_destroy(handle)
print(f"{model}: {count} parameters, loss {loss.value:.6f}")
