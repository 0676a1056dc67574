"""Small models of PyTorch's own layers, for scripts/onnx-exports."""

import math

import torch
from torch import nn

from .case import Case

D, HEADS, VOCABULARY = 16, 2, 30


def reals(*shape):
    return torch.randn(*shape)


def symbols(*shape):
    return torch.randint(1, VOCABULARY, shape)


def padding(examples, places):
    """Ones, and zeros at the last two places of the last example."""
    mask = torch.ones(examples, places, dtype=torch.long)
    mask[-1, -2:] = 0
    return mask


class Positions(nn.Module):
    """Embeddings of symbols and places."""

    def __init__(self):
        super().__init__()
        self.symbol = nn.Embedding(VOCABULARY, D)
        self.place = nn.Embedding(32, D)

    def forward(self, ids):
        return self.symbol(ids) + self.place(torch.arange(ids.shape[1]))


class Bert(nn.Module):
    """A mask of padding, a pooler, and the words of one end."""

    def __init__(self):
        super().__init__()
        self.embed = Positions()
        self.norm = nn.LayerNorm(D)
        self.layers = nn.ModuleList(
            [nn.TransformerEncoderLayer(D, HEADS, 32, 0, "gelu", batch_first=True)
             for _ in range(2)])
        self.pool = nn.Linear(D, D)

    def forward(self, ids, mask):
        x = self.norm(self.embed(ids))
        bias = torch.where(mask[:, None, :] > 0, 0.0, -1e9)
        bias = bias.expand(-1, ids.shape[1], -1).repeat_interleave(HEADS, 0)
        for layer in self.layers:
            x = layer(x, src_mask=bias)
        return x, torch.tanh(self.pool(x[:, 0]))


class Gpt(nn.Module):
    """Causal attention before its norms, and weights tied to the embedding."""

    def __init__(self):
        super().__init__()
        self.embed = Positions()
        self.qkv, self.out = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.wide, self.narrow = nn.Linear(D, 4 * D), nn.Linear(4 * D, D)
        self.norms = nn.ModuleList([nn.LayerNorm(D) for _ in range(3)])

    def forward(self, ids):
        x = self.embed(ids)
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2)
                   for part in self.qkv(self.norms[0](x)).chunk(3, 2))
        y = nn.functional.scaled_dot_product_attention(q, k, v, is_causal=True)
        x = x + self.out(y.transpose(1, 2).flatten(2))
        x = x + self.narrow(nn.functional.gelu(self.wide(self.norms[1](x)), approximate="tanh"))
        return self.norms[2](x) @ self.embed.symbol.weight.T


class Llama(nn.Module):
    """Rotary positions, keys for several queries, RMS norms, and a cache."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D)
        self.q, self.k, self.v = nn.Linear(D, D), nn.Linear(D, D // 2), nn.Linear(D, D // 2)
        self.gate, self.up, self.down = nn.Linear(D, 24), nn.Linear(D, 24), nn.Linear(24, D)
        self.scale = nn.Parameter(torch.rand(D))

    def norm(self, x):
        return self.scale * x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + 1e-6)

    def turn(self, x, places):
        angles = places[:, None] * 10000.0 ** (-torch.arange(0, 4) / 4)
        angles = torch.cat([angles, angles], -1)
        half = torch.cat([-x[..., 4:], x[..., :4]], -1)
        return x * angles.cos() + half * angles.sin()

    def forward(self, ids, keys, values):
        x = self.embed(ids)
        past, length = keys.shape[2], ids.shape[1]
        places = torch.arange(past, past + length)
        h = self.norm(x)
        q, k, v = (layer(h).unflatten(2, (-1, 8)).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        k = torch.cat([keys, self.turn(k, places)], 2)
        v = torch.cat([values, v], 2)
        every, all_v = k.repeat_interleave(HEADS, 1), v.repeat_interleave(HEADS, 1)
        scores = self.turn(q, places) @ every.transpose(2, 3) / math.sqrt(8)
        allowed = torch.arange(past + length)[None] <= places[:, None]
        weights = scores.masked_fill(~allowed, float("-inf")).softmax(-1)
        x = x + (weights @ all_v).transpose(1, 2).flatten(2)
        h = self.norm(x)
        x = x + self.down(nn.functional.silu(self.gate(h)) * self.up(h))
        return x @ self.embed.weight.T, k, v


class T5(nn.Module):
    """Attention with a learned bias for each bucket of distances."""

    def __init__(self):
        super().__init__()
        self.embed, self.bias = nn.Embedding(VOCABULARY, D), nn.Embedding(8, HEADS)
        self.q, self.k, self.v = (nn.Linear(D, D, bias=False) for _ in range(3))

    def forward(self, ids):
        x = self.embed(ids)
        places = torch.arange(ids.shape[1])
        apart = places[None] - places[:, None]
        buckets = torch.where(apart < 0, 4, 0) + apart.abs().clamp(max=3)
        bias = self.bias(buckets).permute(2, 0, 1)
        q, k, v = (layer(x).unflatten(2, (HEADS, -1)).transpose(1, 2)
                   for layer in (self.q, self.k, self.v))
        weights = (q @ k.transpose(2, 3) + bias).float().softmax(-1)
        return (weights @ v).transpose(1, 2).flatten(2)


class Whisper(nn.Module):
    """Two convolutions over frames before an encoder."""

    def __init__(self):
        super().__init__()
        self.first, self.second = nn.Conv1d(8, D, 3, padding=1), nn.Conv1d(D, D, 3, 2, 1)
        self.layer = nn.TransformerEncoderLayer(D, HEADS, 32, 0, "gelu", batch_first=True,
                                                norm_first=True)

    def forward(self, sound):
        x = nn.functional.gelu(self.second(nn.functional.gelu(self.first(sound))))
        return self.layer(x.transpose(1, 2))


class Vit(nn.Module):
    """Patches of an image, with a symbol for all of it."""

    def __init__(self):
        super().__init__()
        self.patches = nn.Conv2d(3, D, 4, 4)
        self.all, self.places = nn.Parameter(reals(1, 1, D)), nn.Parameter(reals(1, 5, D))
        self.layer = nn.TransformerEncoderLayer(D, HEADS, 32, 0, "gelu", batch_first=True)
        self.head = nn.Linear(D, 10)

    def forward(self, image):
        x = self.patches(image).flatten(2).transpose(1, 2)
        x = torch.cat([self.all.expand(x.shape[0], -1, -1), x], 1) + self.places
        return self.head(self.layer(x)[:, 0])


class Residual(nn.Module):
    """Convolutions with batch norm, a pool and a sum of two ways."""

    def __init__(self):
        super().__init__()
        self.one = nn.Sequential(nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(),
                                 nn.MaxPool2d(2))
        self.two = nn.Sequential(nn.Conv2d(8, 8, 3, padding=1, groups=4), nn.BatchNorm2d(8),
                                 nn.Hardswish())

    def forward(self, image):
        x = self.one(image)
        return (x + self.two(x)).mean((2, 3))


class Up(nn.Module):
    """Down, up and across, as in image segmentation."""

    def __init__(self):
        super().__init__()
        self.down, self.up = nn.Conv2d(3, 8, 3, 2, 1), nn.ConvTranspose2d(8, 4, 2, 2)
        self.last = nn.Conv2d(7, 2, 1)

    def forward(self, image):
        x = nn.functional.leaky_relu(self.down(image))
        return self.last(torch.cat([self.up(x), image], 1)).argmax(1)


class Seq2Seq(nn.Module):
    """An encoder in both directions, and a decoder that attends to it."""

    def __init__(self, kind):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D)
        self.read, self.write = kind(D, 8, bidirectional=True, batch_first=True), \
            kind(D, D, batch_first=True)
        self.out = nn.Linear(2 * D, VOCABULARY)

    def forward(self, source, target):
        memory, _ = self.read(self.embed(source))
        states, _ = self.write(self.embed(target))
        weights = (states @ memory.transpose(1, 2)).softmax(-1)
        return self.out(torch.cat([states, weights @ memory], -1)).log_softmax(-1)


class Attend(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(D, HEADS, batch_first=True)

    def forward(self, query, memory, padding):
        return self.attention(query, memory, memory, key_padding_mask=padding)


class Whole(nn.Module):
    """nn.Transformer with a causal target."""

    def __init__(self):
        super().__init__()
        self.body = nn.Transformer(D, HEADS, 1, 1, 32, 0, batch_first=True)

    def forward(self, source, target):
        mask = torch.full((target.shape[1],) * 2, float("-inf")).triu(1)
        return self.body(source, target, tgt_mask=mask, tgt_is_causal=True)


class Experts(nn.Module):
    """Each place takes the two experts that a gate likes best."""

    def __init__(self):
        super().__init__()
        self.gate, self.experts = nn.Linear(D, 4), nn.Parameter(reals(4, D, D))

    def forward(self, x):
        best, which = self.gate(x).topk(2, -1)
        every = torch.einsum("bsd,edf->bsef", x, self.experts)
        chosen = every.gather(2, which[..., None].expand(-1, -1, -1, D))
        return (best.softmax(-1)[..., None] * chosen).sum(2)


class Windows(nn.Module):
    """Attention inside of windows that are shifted, as in Swin."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)

    def forward(self, x):
        x = torch.roll(x, (-2, -2), (1, 2))
        b, h, w, d = x.shape
        x = x.view(b, h // 4, 4, w // 4, 4, d).permute(0, 1, 3, 2, 4, 5).reshape(-1, 16, d)
        q, k, v = self.qkv(x)[:, None].chunk(3, -1)
        x = nn.functional.scaled_dot_product_attention(q, k, v)
        x = x.view(b, h // 4, w // 4, 4, 4, d).permute(0, 1, 3, 2, 4, 5).reshape(b, h, w, d)
        return torch.roll(x, (2, 2), (1, 2))


def sequential(*layers):
    return lambda: nn.Sequential(*layers)


MODELS = {
    "attention": Case(Attend, lambda B=2, S=5, T=4: (
        reals(B, T, D), reals(B, S, D), padding(B, S) == 0), "BT. BS. BS"),
    "bert": Case(Bert, lambda B=2, S=6: (symbols(B, S), padding(B, S)), "BS BS"),
    "experts": Case(Experts, lambda B=2, S=5: (reals(B, S, D),), "BS."),
    "gpt": Case(Gpt, lambda B=2, S=7: (symbols(B, S),), "BS"),
    "gru": Case(lambda: Seq2Seq(nn.GRU), lambda B=2, S=6, T=5: (symbols(B, S), symbols(B, T)), "BS BT"),
    "instance": Case(sequential(nn.InstanceNorm2d(3), nn.GroupNorm(3, 3), nn.PReLU(),
                                nn.AdaptiveAvgPool2d(2), nn.Flatten()),
                     lambda B=2: (reals(B, 3, 8, 8),), "B..."),
    "layers": Case(lambda: nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, HEADS, 32, 0, batch_first=True), 2,
        enable_nested_tensor=False), lambda B=2, S=5: (reals(B, S, D),), "BS."),
    "llama": Case(Llama, lambda B=2, S=3, P=4: (
        symbols(B, S), reals(B, 1, P, 8), reals(B, 1, P, 8)), "BS B.P. B.P."),
    "lstm": Case(lambda: Seq2Seq(nn.LSTM), lambda B=2, S=6, T=5: (symbols(B, S), symbols(B, T)), "BS BT"),
    "mixer": Case(sequential(nn.Linear(D, 32), nn.SiLU(), nn.Linear(32, D), nn.Softplus(),
                             nn.LayerNorm(D), nn.ELU(), nn.Mish()), lambda B=3: (reals(B, D),), "B."),
    "pixels": Case(sequential(nn.Conv2d(3, 12, 3, padding=1, padding_mode="reflect"),
                              nn.PixelShuffle(2), nn.Upsample(scale_factor=2, mode="bilinear")),
                   lambda B=1: (reals(B, 3, 6, 6),), "B..."),
    "residual": Case(Residual, lambda B=2: (reals(B, 3, 8, 8),), "B..."),
    "rnn": Case(lambda: Seq2Seq(nn.RNN), lambda B=2, S=6, T=5: (symbols(B, S), symbols(B, T)), "BS BT"),
    "separable": Case(sequential(nn.Conv1d(4, 4, 5, padding=4, dilation=2, groups=4),
                                 nn.Conv1d(4, 8, 1), nn.GLU(1), nn.AvgPool1d(2)),
                      lambda B=2: (reals(B, 4, 12),), "B.."),
    "t5": Case(T5, lambda B=2, S=6: (symbols(B, S),), "BS"),
    "transformer": Case(Whole, lambda B=2, S=5, T=4: (reals(B, S, D), reals(B, T, D)), "BS. BT."),
    "up": Case(Up, lambda B=1: (reals(B, 3, 8, 8),), "B..."),
    "vit": Case(Vit, lambda B=2: (reals(B, 3, 8, 8),), "B..."),
    "whisper": Case(Whisper, lambda B=1, S=12: (reals(B, 8, S),), "B.S"),
    "windows": Case(Windows, lambda B=1: (reals(B, 8, 8, D),), "B..."),
}
