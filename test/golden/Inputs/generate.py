"""Writes the golden values of bench/specs with the equations of the peers, in
float64 and at small sizes.

    generate.py PEERS

PEERS is the folder with the peers' scripts; Python needs PyTorch. A file has
`data/NAME`, `param/NAME`, `output/NAME` and `grad/NAME` in the names of our
specs, examples first where there are examples; gradients are those of the sum
of w * output, by PyTorch's automatic differentiation.
"""

import os
import sys

import torch

sys.path[:0] = [os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."), sys.argv[1]]
import tensors  # noqa: E402
import w7_encoder  # noqa: E402


def write(name, values):
    torch_types = {torch.float64: "F64", torch.int64: "I64"}
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), name + ".safetensors")
    tensors.write(path, {
        key: tensors.Tensor(torch_types[value.dtype], list(value.shape), value.detach().flatten().tolist())
        for key, value in values.items()
    })


def random(*shape):
    return torch.randn(*shape, dtype=torch.float64)


def attention(H, T, D, causal):
    q, k, v = (random(1, H, T, D).requires_grad_() for _ in range(3))
    w = random(1, H, T, D)
    o = torch.nn.functional.scaled_dot_product_attention(q, k, v, is_causal=causal)
    grads = torch.autograd.grad(o, (q, k, v), w)
    file = {"output/o": o, "data/w": w, "loss": (w * o).sum().reshape(1)}
    for name, value, grad in zip("qkv", (q, k, v), grads):
        file |= {"data/" + name: value, "grad/" + name: grad[0]}
    write("attention_causal" if causal else "attention", file)


def product(M, K, N):
    a, w = random(1, M, K), random(N, K)
    c = torch.nn.functional.linear(a, w)
    rows = {"data/a": a, "data/a.length": torch.tensor([M]), "output/c": c}
    write("product", rows | {"param/w": w})
    write("product_nn", rows | {"param/w": w.T.contiguous()})


def encoder(B, V, D, F, heads, layers, T):
    w7_encoder.CFG.update(heads=heads, layers=layers)
    p = {
        name: (0.3 * random(*shape) + name.endswith(".g")).requires_grad_()
        for name, shape in w7_encoder.shapes(V=V, D=D, F=F, layers=layers, T=T).items()
    }
    ids, w = torch.randint(0, V, (B, T)), random(B, T, D)
    y = w7_encoder.forward_torch(p, ids)
    # The mean over examples, as an objective has it.
    loss = (w * y).sum() / B
    grads = dict(zip(p, torch.autograd.grad(loss, tuple(p.values()))))
    names = {"emb": "word.weight", "pos": "place", "ln.g": "norm.weight", "ln.b": "norm.bias"}
    for l in range(layers):
        for theirs, ours in {
            "self.wqkv": f"self.{l}.weight", "self.bqkv": f"self.{l}.bias",
            "self.wo": f"wo.{l}.weight", "self.bo": f"wo.{l}.bias",
            "ff.w1": f"w1.{l}.weight", "ff.b1": f"w1.{l}.bias", "ff.w2": f"w2.{l}.weight", "ff.b2": f"w2.{l}.bias",
            "ln1.g": f"norm1.{l}.weight", "ln1.b": f"norm1.{l}.bias",
            "ln2.g": f"norm2.{l}.weight", "ln2.b": f"norm2.{l}.bias",
        }.items():
            names[f"enc.{l}.{theirs}"] = ours
    file = {"data/ids": ids, "data/w": w, "output/y": y, "loss": loss.reshape(1)}
    file |= {"param/" + names[name]: value for name, value in p.items()}
    file |= {"grad/" + names[name]: value for name, value in grads.items()}
    write("encoder", file)


torch.manual_seed(0)
attention(H=2, T=37, D=8, causal=False)
attention(H=2, T=37, D=8, causal=True)
product(M=13, K=10, N=11)
encoder(B=2, V=11, D=12, F=20, heads=3, layers=2, T=9)
