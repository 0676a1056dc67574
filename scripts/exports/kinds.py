"""Models whose files are not of layers alone, for scripts/onnx-exports: newer
operators, cells in loops, states, conditions, and operators of whole numbers."""

import torch
from torch import nn

from .case import Case
from .layers import D, HEADS, VOCABULARY, padding, reals, symbols


class Decoder(nn.Module):
    """nn.TransformerDecoder with a causal mask and a mask of padding."""

    def __init__(self):
        super().__init__()
        layer = nn.TransformerDecoderLayer(D, HEADS, 32, 0, "gelu", batch_first=True, norm_first=True)
        self.body = nn.TransformerDecoder(layer, 2, nn.LayerNorm(D))

    def forward(self, target, memory, mask):
        causal = torch.full((target.shape[1],) * 2, float("-inf")).triu(1)
        return self.body(target, memory, tgt_mask=causal, tgt_is_causal=True,
                         memory_key_padding_mask=mask == 0)


class Stack(nn.Module):
    """Layers of a recurrence, whose states go in and out."""

    def __init__(self):
        super().__init__()
        self.body = nn.LSTM(D, 8, 2, batch_first=True)

    def forward(self, x, h, c):
        y, (h, c) = self.body(x, (h, c))
        return y, h, c


class Packed(nn.Module):
    """Sequences of their own lengths, in both directions."""

    def __init__(self, kind):
        super().__init__()
        self.body = kind(D, 8, batch_first=True, bidirectional=True)

    def forward(self, x, lengths):
        packed = nn.utils.rnn.pack_padded_sequence(x, lengths, batch_first=True)
        y, last = self.body(packed)
        last = last[0] if isinstance(last, tuple) else last
        return nn.utils.rnn.pad_packed_sequence(y, batch_first=True)[0], last


class Cells(nn.Module):
    """A cell that attends to all of its input, step by step."""

    def __init__(self, kind):
        super().__init__()
        self.cell, self.is_pair = kind(2 * D, D), kind is nn.LSTMCell

    def forward(self, x, memory):
        state = (torch.zeros_like(x[:, 0]),) * 2 if self.is_pair else torch.zeros_like(x[:, 0])
        rows = []
        for t in range(x.shape[1]):
            h = state[0] if self.is_pair else state
            weights = (memory @ h[..., None]).softmax(1)
            state = self.cell(torch.cat([x[:, t], (weights * memory).sum(1)], -1), state)
            rows.append(state[0] if self.is_pair else state)
        return torch.stack(rows, 1)


class Turned(nn.Module):
    """Rotary positions by the operator of ONNX, and its attention."""

    def __init__(self):
        super().__init__()
        self.qkv = nn.Linear(D, 3 * D)

    def forward(self, x, places):
        angles = torch.arange(32)[:, None] * 10000.0 ** (-torch.arange(4) / 4)
        q, k, v = (part.unflatten(2, (HEADS, -1)).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
        q, k = (torch.onnx.ops.rotary_embedding(part, angles.cos(), angles.sin(), places) for part in (q, k))
        return torch.onnx.ops.attention(q, k, v, is_causal=True)[0]


class Grouped(nn.Module):
    """Queries that share keys, with a bias by distance (ALiBi)."""

    def __init__(self):
        super().__init__()
        self.q, self.kv = nn.Linear(D, D), nn.Linear(D, D // HEADS * 2)

    def forward(self, x):
        q = self.q(x).unflatten(2, (HEADS, -1)).transpose(1, 2)
        k, v = (part.unflatten(2, (1, -1)).transpose(1, 2) for part in self.kv(x).chunk(2, -1))
        places = torch.arange(x.shape[1])
        bias = -(places[:, None] - places[None]).abs() * torch.tensor([0.5, 0.25])[:, None, None]
        return nn.functional.scaled_dot_product_attention(q, k, v, bias[None], enable_gqa=True)


class Linear(nn.Module):
    """Attention without a softmax, by running sums, and a state-space layer."""

    def __init__(self):
        super().__init__()
        self.qkv, self.decay = nn.Linear(D, 3 * D), nn.Parameter(reals(D))

    def forward(self, x):
        q, k, v = self.qkv(x).chunk(3, -1)
        q, k = nn.functional.elu(q) + 1, nn.functional.elu(k) + 1
        above = torch.cumsum(torch.einsum("bsd,bse->bsde", k, v), 1)
        y = torch.einsum("bsd,bsde->bse", q, above) / (q * k.cumsum(1)).sum(-1, keepdim=True)
        return y * self.decay.sigmoid()


class Pointer(nn.Module):
    """Logits of a copy: sums of attention by symbol (scatter), and the best of them."""

    def __init__(self):
        super().__init__()
        self.embed, self.out = nn.Embedding(VOCABULARY, D), nn.Linear(D, VOCABULARY)

    def forward(self, source, target):
        memory, states = self.embed(source), self.embed(target)
        weights = (states @ memory.transpose(1, 2)).softmax(-1)
        words = source[:, None].expand(-1, target.shape[1], -1)
        copied = torch.zeros(*target.shape, VOCABULARY).scatter_add(2, words, weights)
        p = 0.5 * copied + 0.5 * self.out(states).softmax(-1)
        best, which = p.topk(3, -1)
        return p.log(), best, which


class Ctc(nn.Module):
    """Convolutions over frames whose lengths are given, and a mask of what is left."""

    def __init__(self):
        super().__init__()
        self.one, self.two = nn.Conv1d(8, D, 3, 2, 1), nn.Conv1d(D, D, 3, 2, 1)
        self.out = nn.Linear(D, VOCABULARY)

    def forward(self, sound, lengths):
        x = self.two(self.one(sound).relu()).relu().transpose(1, 2)
        left = torch.arange(x.shape[1])[None] < ((lengths + 3) // 4)[:, None]
        return self.out(x * left[..., None]).log_softmax(-1), left


class Tokens(nn.Module):
    """What sentence encoders do with the rows: a mean over the mask, of length 1."""

    def __init__(self):
        super().__init__()
        self.embed = nn.Embedding(VOCABULARY, D, padding_idx=0)
        self.layer = nn.TransformerEncoderLayer(D, HEADS, 32, 0, batch_first=True)

    def forward(self, ids, mask):
        x = self.layer(self.embed(ids), src_key_padding_mask=mask == 0)
        mask = mask[..., None].to(x.dtype)
        return nn.functional.normalize((x * mask).sum(1) / mask.sum(1).clamp(min=1e-9), dim=-1)


class Relative(nn.Module):
    """Scores with relative positions by a shift, as in Transformer-XL."""

    def __init__(self):
        super().__init__()
        self.q, self.k, self.r = (nn.Linear(D, D) for _ in range(3))

    def forward(self, x, places):
        q, k, r = self.q(x), self.k(x), self.r(places)
        moved = q @ r.transpose(1, 2)
        batch, rows, columns = moved.shape
        moved = nn.functional.pad(moved, (1, 0)).view(batch, columns + 1, rows)[:, 1:].reshape(batch, rows, columns)
        return ((q @ k.transpose(1, 2) + moved[:, :, :rows]) / 4).softmax(-1) @ x


MODELS = {
    "cells-gru": Case(lambda: Cells(nn.GRUCell), lambda B=2, S=6: (reals(B, 4, D), reals(B, S, D)),
                      "B.. BS."),
    "cells-lstm": Case(lambda: Cells(nn.LSTMCell), lambda B=2, S=6: (reals(B, 4, D), reals(B, S, D)), "B.. BS."),
    "ctc": Case(Ctc, lambda B=2: (reals(B, 8, 16), torch.full((B,), 9)), "B.. B"),
    "decoder": Case(Decoder, lambda B=2, S=5, T=4: (reals(B, T, D), reals(B, S, D), padding(B, S)), "BT. BS. BS"),
    "grouped": Case(Grouped, lambda B=2, S=5: (reals(B, S, D),), "BS."),
    "linear": Case(Linear, lambda B=2, S=5: (reals(B, S, D),), "BS."),
    "packed-gru": Case(lambda: Packed(nn.GRU), lambda B=3, S=5: (
        reals(B, S, D), torch.tensor([S, S - 1, 2, 1][:B])), "BS. B"),
    "packed-lstm": Case(lambda: Packed(nn.LSTM), lambda B=3, S=5: (
        reals(B, S, D), torch.tensor([S, S - 1, 2, 1][:B])), "BS. B"),
    "pointer": Case(Pointer, lambda B=2, S=6, T=5: (symbols(B, S), symbols(B, T)), "BS BT"),
    "relative": Case(Relative, lambda B=2: (reals(B, 5, D), reals(1, 5, D)), "B.. ..."),
    "stack": Case(Stack, lambda B=2, S=5: (reals(B, S, D), reals(2, B, 8), reals(2, B, 8)), "BS. .B. .B."),
    "tokens": Case(Tokens, lambda B=2, S=6: (symbols(B, S), padding(B, S)), "BS BS"),
    "turned": Case(Turned, lambda B=2, S=5: (reals(B, S, D), torch.arange(S).expand(B, S)), "BS. BS"),
}
