"""Models with states in PyTorch, from the papers; a part of peers.py."""

import torch
from torch.nn.functional import binary_cross_entropy_with_logits, conv2d, cross_entropy, one_hot


def around(w, name, grid):
    """A convolution that keeps the size; channels last."""
    filters = w(name + ".weight").permute(0, 3, 1, 2)
    return conv2d(grid.permute(2, 0, 1)[None], filters, w(name + ".bias"), padding=1)[0].permute(1, 2, 0)


class VqVae:
    """van den Oord et al. (2017), with the code book of appendix A.1."""

    def __init__(self, side=2, pixels=2, share=0.8, commit=0.25):
        self.side, self.pixels, self.share, self.commit = side, pixels, share, commit
        self.weights, self.counts, self.totals = None, [], []

    def __call__(self, w, one, _):
        self.weights, side, pixels = w, self.side, self.pixels
        image = torch.tensor(one["image"], dtype=torch.float64)
        patches = image.reshape(side, pixels, side, pixels).transpose(1, 2).reshape(side, side, -1)
        read = w.linear("read", patches)
        z = w.linear("narrow", torch.relu(read + around(w, "look", torch.relu(read)))).flatten(0, 1)
        book = (w("total") / w("count")[:, None]).detach()
        code = torch.cdist(z, book).argmin(1)
        self.counts.append(one_hot(code, len(book)).sum(0))
        self.totals.append(one_hot(code, len(book)).double().T @ z.detach())

        state, logits = torch.zeros(w("left").shape[1]), []
        for i in range(len(code)):
            said = (w("left")[code[i - 1]] if i >= 1 else 0) + (w("above")[code[i - side]] if i >= side else 0)
            state = w.gru("prior", said if i else torch.zeros_like(state), state)
            logits.append(w.linear("next", state))
        nll = cross_entropy(torch.stack(logits), code, reduction="sum")

        wide = w.linear("write", z + (book[code] - z).detach()).reshape(side, side, -1)
        drawn = w.linear("paint", torch.relu(wide + around(w, "see", torch.relu(wide))))
        canvas = drawn.reshape(side, side, pixels, pixels).transpose(1, 2).reshape(image.shape)
        nll = nll + binary_cross_entropy_with_logits(canvas, image, reduction="sum")
        return nll, image.numel(), self.commit * ((z - book[code]) ** 2).sum()

    def learnt(self):
        """Means over the examples."""
        with torch.no_grad():
            for name, seen in ("count", self.counts), ("total", self.totals):
                state = self.weights(name)
                state.copy_(self.share * state + (1 - self.share) * torch.stack(seen).double().mean(0))
        self.counts, self.totals = [], []


class Moco:
    """He et al. (2020), algorithm 1."""

    def __init__(self, share=0.8, heat=0.5):
        self.share, self.heat = share, heat
        self.weights, self.keys, self.students = None, None, {}

    def encode(self, name, x):
        out = self.weights.linear(name + ".out", torch.relu(self.weights.linear(name + ".up", x)))
        return out / torch.sqrt((out ** 2).sum(1, keepdim=True) + 1e-12)

    def __call__(self, w, one, _):
        self.weights = w
        seen, other = torch.tensor(one["seen"]), torch.tensor(one["other"])
        query = self.encode("student", seen)
        self.keys = self.encode("teacher", other).detach()
        self.students = {path: w(path).detach().clone() for path in w.tensors if path.startswith("student")}
        scores = torch.cat([(query * self.keys).sum(1, keepdim=True), query @ w("queue").detach().T], 1) / self.heat
        return torch.zeros(()), 1, cross_entropy(scores, torch.zeros(len(seen), dtype=torch.int64))

    def learnt(self):
        """The teacher follows what the student was, and the oldest keys leave the queue."""
        with torch.no_grad():
            for path, student in self.students.items():
                teacher = self.weights("teacher" + path[len("student"):])
                teacher.copy_(self.share * teacher + (1 - self.share) * student)
            queue = self.weights("queue")
            queue.copy_(torch.cat([self.keys, queue])[:len(queue)])
