"""Trains a model in PyTorch, written from the papers and independently of
Fovea, and writes the losses of 50 updates: the golden files of peer.test.

  peer.py MODEL FOLDER > MODEL.losses     FOLDER: what setting.py has written

Float64, one example at a time, no dropout; the loss is the mean over symbols.
"""

import copy
import functools
import math
import os
import sys

import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "..", "golden"))
from tensors import read  # noqa: E402

torch.set_default_dtype(torch.float64)
torch.set_num_threads(1)


class Weights:
    def __init__(self, path):
        self.tensors = {
            name: torch.tensor(tensor.values).reshape(tensor.shape).requires_grad_()
            for name, tensor in read(path).items()}

    def part(self, name):
        """The weights of a model inside this one, which are not trained."""
        inner = copy.copy(self)
        inner.tensors = {path[len(name) + 1:]: tensor.detach() for path, tensor in self.tensors.items()
                         if path.startswith(name + ".")}
        return inner

    def __call__(self, name):
        return self.tensors[name]

    def linear(self, name, x):
        y = x @ self(name + ".weight").T
        return y + self(name + ".bias") if name + ".bias" in self.tensors else y

    def gru(self, name, x, h):
        return torch.gru_cell(x[None], h[None], *self.cell(name))[0]

    def lstm(self, name, x, h, c):
        h, c = torch.lstm_cell(x[None], (h[None], c[None]), *self.cell(name))
        return h[0], c[0]

    def cell(self, name):
        return [self(f"{name}.{part}")
                for part in ("weight_ih", "weight_hh", "bias_ih", "bias_hh")]

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(
            x, x.shape[-1:], self(name + ".weight"), self(name + ".bias"), 1e-5)


def bahdanau(w, src, tgt, states=None):
    """Bahdanau, Cho and Bengio (2015), with the GRU of PyTorch. `states` gets what each symbol is read out of."""
    size = w("init.weight").shape[0]
    embedded = w("embed_src.weight")[src]
    state, ahead, back = torch.zeros(size), [], []
    for x in embedded:
        ahead.append(state := w.gru("forward", x, state))
    state = torch.zeros(size)
    for x in reversed(embedded):
        back.insert(0, state := w.gru("backward", x, state))
    hidden = torch.stack([torch.cat(pair) for pair in zip(ahead, back)])
    keys = w.linear("key", hidden)
    state, logits = torch.tanh(w.linear("init", back[0])), []
    for before in [0] + tgt[:-1]:
        y = w("embed_tgt.weight")[before]
        energy = torch.tanh(w.linear("query", state) + keys) @ w("v")
        context = torch.softmax(energy, 0) @ hidden
        state = w.gru("decoder", torch.cat([y, context]), state)
        if states is not None:
            states.append([state, y, context])
        read = w.linear("readout", torch.cat([state, y, context]))
        logits.append(w.linear("out", read.reshape(-1, 2).amax(1)))
    return torch.stack(logits)


def layers_of_lstm(w, size, layers):
    """A function that moves all layers, which begin at zero, by one step of the
    encoder's or the decoder's weights and gives what the last one says."""
    states = [(torch.zeros(size), torch.zeros(size)) for _ in range(layers)]

    def step(kind, x):
        for layer in range(layers):
            states[layer] = w.lstm(f"{kind}.{layer}", x, *states[layer])
            x = states[layer][0]
        return x

    return step


def luong(w, src, tgt, layers=2, score="general"):
    """Luong, Pham and Manning (2015): global, input feeding."""
    size = w("attend.weight").shape[0]
    step = layers_of_lstm(w, size, layers)
    hidden = torch.stack([step("encoder", w("embed_src.weight")[word]) for word in src])
    attended, logits = torch.zeros(size), []
    for before in [0] + tgt[:-1]:
        top = step("decoder", torch.cat([w("embed_tgt.weight")[before], attended]))
        if score == "dot":
            energy = hidden @ top
        elif score == "general":
            energy = hidden @ (w("general.weight").T @ top)
        else:
            both = torch.cat([top.expand(len(hidden), -1), hidden], 1)
            energy = torch.tanh(w.linear("combine", both)) @ w("v")
        context = torch.softmax(energy, 0) @ hidden
        attended = torch.tanh(w.linear("attend", torch.cat([context, top])))
        logits.append(w.linear("out", attended))
    return torch.stack(logits)


def seq2seq(w, src, tgt, layers=2, everywhere=True):
    """Sutskever et al. (2014): the source is read backward, and the decoder
    begins where the encoder ends. Cho et al. (2014): it also sees the last state
    at every step."""
    size = w("encoder.0.weight_hh").shape[1]
    step = layers_of_lstm(w, size, layers)
    for word in reversed(src):
        context = step("encoder", w("embed_src.weight")[word])
    logits = []
    for before in [0] + tgt[:-1]:
        x = w("embed_tgt.weight")[before]
        top = step("decoder", torch.cat([x, context]) if everywhere else x)
        logits.append(w.linear("out", top))
    return torch.stack(logits)


def transformer(w, src, tgt, layers=2, heads=2):
    """Vaswani et al. (2017), normalised after each layer, one embedding."""
    table = w("emb.weight")
    width = table.shape[1]

    def embed(words):
        half = width // 2
        angle = (torch.arange(len(words))[:, None]
                 * 10000 ** (-torch.arange(half) / half))
        return table[words] * math.sqrt(width) + torch.cat([angle.sin(), angle.cos()], 1)

    def split(x, parts):
        return x.reshape(len(x), parts, heads, width // heads).permute(1, 2, 0, 3)

    def attend(q, k, v, mask=None):
        score = q @ k.transpose(-1, -2) / math.sqrt(width // heads)
        if mask is not None:
            score = score.masked_fill(mask, -math.inf)
        mixed = torch.softmax(score, -1) @ v
        return mixed.transpose(0, 1).reshape(mixed.shape[1], width)

    def feed(name, x):
        return w.linear(name + ".w2", torch.relu(w.linear(name + ".w1", x)))

    x = embed(src)
    for n in range(layers):
        mixed = attend(*split(w.linear(f"enc_self.{n}", x), 3))
        x = w.norm(f"enc_ln1.{n}", x + w.linear(f"enc_wo.{n}", mixed))
        x = w.norm(f"enc_ln2.{n}", x + feed(f"enc_ff.{n}", x))
    y = embed([0] + tgt[:-1])
    later = torch.triu(torch.ones(len(tgt), len(tgt), dtype=torch.bool), 1)
    for n in range(layers):
        mixed = attend(*split(w.linear(f"dec_self.{n}", y), 3), later)
        y = w.norm(f"dec_ln1.{n}", y + w.linear(f"dec_wo.{n}", mixed))
        query = split(w.linear(f"cross_q.{n}", y), 1)[0]
        mixed = attend(query, *split(w.linear(f"cross_kv.{n}", x), 2))
        y = w.norm(f"dec_ln2.{n}", y + w.linear(f"cross_wo.{n}", mixed))
        y = w.norm(f"dec_ln3.{n}", y + feed(f"dec_ff.{n}", y))
    return y @ table.T


# The model, its optimiser, the norm that gradients are clipped to, and the rate
# of update t from 1 as a factor.
MODELS = {
    "spelling": (bahdanau, lambda p: torch.optim.Adam(p, 0.002), 1, None),
    "g2p": (bahdanau, lambda p: torch.optim.Adam(p, 0.002), 1, None),
    "rnnsearch": (bahdanau, lambda p: torch.optim.Adadelta(p, 1.0, rho=0.95, eps=1e-6), 1, None),
    "luong": (luong, lambda p: torch.optim.Adam(p, 0.001), 5, None),
    "luong_dot": (functools.partial(luong, score="dot"),
                  lambda p: torch.optim.Adam(p, 0.001), 5, None),
    "luong_concat": (functools.partial(luong, score="concat"),
                     lambda p: torch.optim.Adam(p, 0.001), 5, None),
    "seq2seq": (seq2seq, lambda p: torch.optim.SGD(p, 0.1, momentum=0.9), None, None),
    "seq2seq_start": (functools.partial(seq2seq, everywhere=False),
                      lambda p: torch.optim.SGD(p, 0.5), None, None),
    "transformer": (
        transformer, lambda p: torch.optim.Adam(p, 1.0, betas=(0.9, 0.98), eps=1e-9), None,
        lambda t: 8 ** -0.5 * min(t ** -0.5, t * 20 ** -1.5)),
}


def lines(path):
    with open(path) as file:
        return [[int(word) for word in line.split()] + [1] for line in file]


def main():
    name, folder = sys.argv[1:]
    model, optimiser, clip, rate = MODELS[name]
    weights = Weights(os.path.join(folder, "weights.safetensors"))
    pairs = list(zip(lines(os.path.join(folder, "src.txt")),
                     lines(os.path.join(folder, "tgt.txt"))))
    parameters = list(weights.tensors.values())
    steps = optimiser(parameters)
    for update in range(1, 51):
        steps.zero_grad()
        losses = [torch.nn.functional.cross_entropy(
            model(weights, src, tgt), torch.tensor(tgt), reduction="sum")
            for src, tgt in pairs]
        loss = sum(losses) / sum(len(tgt) for _, tgt in pairs)
        loss.backward()
        if clip:
            norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in parameters))
            for p in parameters:
                p.grad *= min(1, clip / norm)
        if rate:
            steps.param_groups[0]["lr"] = rate(update)
        steps.step()
        print(repr(loss.item()))


if __name__ == "__main__":
    main()
