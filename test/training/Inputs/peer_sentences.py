"""Models of sentences, sounds, dialogues and pairs of sentences in PyTorch, from the papers; a part of peers.py."""

import math

import torch
from torch.nn.functional import cross_entropy, ctc_loss, log_softmax, logsigmoid, nll_loss

from peer import bahdanau


def before(tgt):
    return [0] + tgt[:-1]


def rnnlm(w, one, draws, layers=2, drop=0.5):
    """Zaremba, Sutskever and Vinyals (2014)."""
    size = w("cell.0.weight_hh").shape[1]
    states, logits = [(torch.zeros(size), torch.zeros(size))] * layers, []
    for t, word in enumerate(before(one["word"])):
        x = w("embed.weight")[word]
        for layer in range(layers):
            states[layer] = w.lstm(f"cell.{layer}", draws.dropped(x, drop, layer, t), *states[layer])
            x = states[layer][0]
        logits.append(w.linear("out", draws.dropped(x, drop, layers, t)))
    return cross_entropy(torch.stack(logits), torch.tensor(one["word"]), reduction="sum"), len(logits), 0.0


def decoder_lm(w, one, draws, layers=2, heads=2, drop=0.1):
    """Radford et al. (2018), with the norm ahead of each layer, and places up to a limit."""
    words, table, places = before(one["word"]), w("emb.weight"), w("place")
    width = table.shape[1]
    rows = [table[word] + (places[t] if t < len(places) else 0) for t, word in enumerate(words)]
    x = torch.stack([draws.dropped(row, drop, 0, t) for t, row in enumerate(rows)])
    later = torch.triu(torch.ones(len(x), len(x), dtype=torch.bool), 1)
    for n in range(layers):
        said = w.linear(f"layer.{n}.qkv", w.norm(f"layer.{n}.ln1", x))
        q, k, v = said.reshape(len(x), 3, heads, width // heads).permute(1, 2, 0, 3)
        score = (q @ k.transpose(1, 2) / math.sqrt(width // heads)).masked_fill(later, -math.inf)
        mixed = (torch.softmax(score, -1) @ v).transpose(0, 1).reshape(len(x), width)
        x = x + w.linear(f"layer.{n}.wo", mixed)
        up = w.linear(f"layer.{n}.up", w.norm(f"layer.{n}.ln2", x))
        x = x + w.linear(f"layer.{n}.down", torch.nn.functional.gelu(up))
    logits = w.norm("final", x) @ table.T
    return cross_entropy(logits, torch.tensor(one["word"]), reduction="sum"), len(words), 0.0


def turned(x, base=10000):
    """Su et al. (2021), pairs half a head apart; x: heads, places, size."""
    half = x.shape[-1] // 2
    angle = torch.arange(x.shape[-2])[:, None] * base ** (-torch.arange(half, dtype=x.dtype) / half)
    a, b = x[..., :half], x[..., half:]
    return torch.cat([a * angle.cos() - b * angle.sin(), b * angle.cos() + a * angle.sin()], -1)


def mixed(w, name, x, heads, groups):
    """Causal attention with rotary places and groups of keys (Ainslie et al. 2023)."""
    def split(part, count):
        return w.linear(f"{name}.{part}", x).reshape(len(x), count, -1).transpose(0, 1)
    y = torch.nn.functional.scaled_dot_product_attention(
        turned(split("query", heads)), turned(split("key", groups)), split("value", groups), is_causal=True,
        enable_gqa=True)
    return w.linear(f"{name}.out", y.transpose(0, 1).reshape(len(x), -1))


def gated(w, name, x):
    """Shazeer (2020), SwiGLU."""
    return w.linear(f"{name}.down", torch.nn.functional.silu(w.linear(f"{name}.gate", x)) * w.linear(f"{name}.up", x))


def llama_layer(w, name, x, heads, groups, eps):
    def norm(part, x):
        return torch.nn.functional.rms_norm(x, x.shape[-1:], w(f"{name}.{part}.weight"), eps)
    y = x + mixed(w, f"{name}.mix", norm("norm_1", x), heads, groups)
    return y + gated(w, f"{name}.feed", norm("norm_2", y))


def llama(w, one, _, layers=2, heads=4, groups=2):
    """Touvron et al. (2023)."""
    x = w("embed.weight")[before(one["word"])]
    for n in range(layers):
        x = llama_layer(w, f"layer.{n}", x, heads, groups, 1e-5)
    logits = w.linear("out", torch.nn.functional.rms_norm(x, x.shape[-1:], w("final.weight"), 1e-5))
    return cross_entropy(logits, torch.tensor(one["word"]), reduction="sum"), len(x), 0.0


def ttt(w, one, _, layers=2):
    """Sun et al. (2024), TTT-Linear: each word trains the model that is a layer's state by one step."""
    x = w("emb.weight")[before(one["word"])]
    for n in range(layers):
        name, width = f"layer.{n}", x.shape[-1]
        state, rows = w(f"{name}.start"), []
        for row in x:
            u = w.norm(f"{name}.ln1", row)
            k, v, q = (w.linear(f"{name}.{part}", u) for part in ("key", "value", "query"))
            inner = ((k + w.norm(f"{name}.norm", k @ state) - v) ** 2).sum()
            step = torch.autograd.grad(inner, state, create_graph=True)[0]
            state = state - torch.sigmoid(w.linear(f"{name}.rate", u)) / width * step
            rows.append(row + q + w.norm(f"{name}.norm", q @ state))
        y = torch.stack(rows)
        up = w.linear(f"{name}.up", w.norm(f"{name}.ln2", y))
        x = y + w.linear(f"{name}.down", torch.nn.functional.gelu(up))
    logits = w.norm("final", x) @ w("emb.weight").T
    return cross_entropy(logits, torch.tensor(one["word"]), reduction="sum"), len(x), 0.0


def multi_token(w, one, _, layers=1, heads=2, ahead=3):
    """Gloeckle et al. (2024): head n predicts the word n places on, if there is one."""
    x, words, nll = w("embed.weight")[before(one["word"])], torch.tensor(one["word"]), 0
    for n in range(layers):
        x = llama_layer(w, f"trunk.{n}", x, heads, heads, 1e-6)
    for n in range(min(ahead, len(words))):
        y = llama_layer(w, f"head.{n}", x, heads, heads, 1e-6)
        logits = w.linear("out", torch.nn.functional.rms_norm(y, y.shape[-1:], w("final.weight"), 1e-6))
        nll = nll + cross_entropy(logits[: len(words) - n], words[n:], reduction="sum")
    return nll, len(words), 0.0


def sparse(w, name, x, heads, size, best, window):
    """Yuan et al. (2025): blocks as one key and value each, the words of the best blocks, and the last words."""
    def split(part):
        return w.linear(f"{name}.{part}", x).reshape(len(x), heads, -1).transpose(0, 1)
    q, k, v = split("query"), split("key"), split("value")
    r, p, width, count = turned(q), turned(k), q.shape[-1], len(x) // size

    def joined(part, rows):
        return w.linear(f"{name}.{part}", rows[:, :count * size].reshape(heads, count, size * width))

    def look(query, keys, values):
        share = torch.softmax((keys @ query[:, :, None])[:, :, 0] / math.sqrt(width), -1)
        return share, (share[:, :, None] * values).sum(1)
    block_k, block_v = joined("join_k", k), joined("join_v", v)
    gates, rows = torch.sigmoid(w.linear(f"{name}.gate", x)).reshape(len(x), 3, heads, 1), []
    for t in range(len(x)):
        done = (t + 1) // size
        share, far = look(q[:, t], block_k[:, :done], block_v[:, :done])
        score = share.sum(0).tolist()
        chosen = sorted(range(done), key=lambda m, score=score: (-score[m], m))[:best]
        places = [size * m + j for m in sorted(chosen) for j in range(size)]
        near = range(max(0, t + 1 - window), t + 1)
        parts = far, look(r[:, t], p[:, places], v[:, places])[1], look(r[:, t], p[:, near], v[:, near])[1]
        rows.append(sum(gate * part for gate, part in zip(gates[t], parts)).reshape(-1))
    return w.linear(f"{name}.mix", torch.stack(rows))


def block_sparse(w, one, _, layers=2, heads=2, size=2, best=1, window=2):
    """Yuan et al. (2025), in layers as those of Touvron et al. (2023)."""
    x = w("embed.weight")[before(one["word"])]
    for n in range(layers):
        def norm(part, x, n=n):
            return torch.nn.functional.rms_norm(x, x.shape[-1:], w(f"layer.{n}.{part}.weight"), 1e-6)
        x = x + sparse(w, f"layer.{n}.attend", norm("norm_1", x), heads, size, best, window)
        x = x + gated(w, f"layer.{n}.feed", norm("norm_2", x))
    logits = w.linear("out", torch.nn.functional.rms_norm(x, x.shape[-1:], w("final.weight"), 1e-6))
    return cross_entropy(logits, torch.tensor(one["word"]), reduction="sum"), len(x), 0.0


def experts(w, one, _, layers=2, heads=4, groups=2, count=3, best=2, balance=0.01):
    """Fedus et al. (2022) with the best two experts: each word's rows go through them alone."""
    x, penalty = w("embed.weight")[before(one["word"])], 0
    for n in range(layers):
        def norm(part, x, n=n):
            return torch.nn.functional.rms_norm(x, x.shape[-1:], w(f"{part}.{n}.weight"), 1e-6)
        y = x + mixed(w, f"mix.{n}", norm("norm_1", x), heads, groups)
        b = norm("norm_2", y)
        scores = w.linear(f"router.{n}", b)
        top, chosen = scores.topk(best)
        gates = torch.softmax(top, -1)
        x = torch.stack([row + sum(g * gated(w, f"expert.{n}.{e}", at) for g, e in zip(gate, places.tolist()))
                         for row, at, gate, places in zip(y, b, gates, chosen)])
        share = torch.nn.functional.one_hot(chosen, count).sum(1).double().mean(0) / best
        penalty = penalty + balance * count * (share * torch.softmax(scores, -1).mean(0)).sum()
    logits = w.linear("out", torch.nn.functional.rms_norm(x, x.shape[-1:], w("final.weight"), 1e-6))
    return cross_entropy(logits, torch.tensor(one["word"]), reduction="sum"), len(x), penalty


def snli_gated(w, one, draws, penalised=0.3, drop=0.5):
    """Lin et al. (2017): several hops, which a penalty keeps apart, and a gated pair."""
    size = w("encode.forward.weight_hh").shape[1]

    def read(words):
        x, ahead, back = w("embed.weight")[words], [], []
        h = c = torch.zeros(size)
        for row in x:
            h, c = w.lstm("encode.forward", row, h, c)
            ahead.append(h)
        h = c = torch.zeros(size)
        for row in reversed(x):
            h, c = w.lstm("encode.backward", row, h, c)
            back.insert(0, h)
        both = torch.cat([torch.stack(ahead), torch.stack(back)], 1)
        hops = torch.softmax(w.linear("encode.w2", torch.tanh(w.linear("encode.w1", both))), 0).T
        apart = ((hops @ hops.T - torch.eye(len(hops))) ** 2).sum()
        return hops @ both, penalised * apart

    (left, first), (right, second) = read(one["premise"]), read(one["hypothesis"])
    gates = [w.linear(f"gate_p.{r}", left[r]) * w.linear(f"gate_h.{r}", right[r]) for r in range(len(left))]
    hidden = torch.relu(w.linear("hidden", draws.dropped(torch.cat(gates), drop, 0, 0)))
    return -log_softmax(w.linear("out", hidden), 0)[one["label"]], 1, first + second


def hred(w, one, _):
    """Serban et al. (2017): a dialogue of turns; the topic of each is summed over."""
    context, topics, nll, count = torch.zeros(w("context.weight_hh").shape[1]), w("topic"), 0, 0
    for turn in one["said"]:
        x = w("embed.weight")[turn]
        logps = []
        for topic in topics:
            s, logp = torch.tanh(w.linear("start", context) + topic), 0
            for j, word in enumerate(turn):
                s = w.gru("write", x[j - 1] if j else torch.zeros(x.shape[1]), s)
                logp = logp + log_softmax(w.linear("out", s), 0)[word]
            logps.append(logp)
        nll = nll - torch.logsumexp(log_softmax(w.linear("prior", context), 0) + torch.stack(logps), 0)
        count += len(turn)
        r = torch.zeros(w("read.weight_hh").shape[1])
        for row in x:
            r = w.gru("read", row, r)
        context = w.gru("context", r, context)
    return nll, count, 0.0


def match(w, one, _):
    """Henderson et al. (2017): each question beside all replies of the group."""
    table = w("embed.weight")
    q = torch.stack([torch.tanh(w.linear("ask", table[words].mean(0))) for words in one["question"]])
    r = torch.stack([torch.tanh(w.linear("answer", table[words].mean(0))) for words in one["reply"]])
    return nll_loss(log_softmax(q @ r.T, 1), torch.tensor(one["found"]), reduction="sum"), len(q), 0.0


def sampled_softmax(w, one, draws, candidates=3):
    """Jean et al. (2015): the sum over the vocabulary by candidates, each of an equal share of the proposal
    p(k) = log((k + 2) / (k + 1)) / log(V + 1), with the weight 1 / (candidates p)."""
    logits, tgt = bahdanau(w, one["src"], one["tgt"]), torch.tensor(one["tgt"])
    symbols = logits.shape[1]
    whole = math.log(symbols + 1)
    chosen = [min(int(math.exp((n + draws.shared(0, n)) / candidates * whole) - 1), symbols - 1)
              for n in range(candidates)]
    often = torch.tensor([candidates * math.log((k + 2) / (k + 1)) / whole for k in chosen])
    right = logits.gather(1, tgt[:, None])
    others = logits[:, chosen] - often.log()
    others = others.masked_fill(torch.tensor(chosen)[None] == tgt[:, None], -math.inf)
    return -log_softmax(torch.cat([right, others], 1), 1)[:, 0].sum(), len(tgt), 0.0


def deep_fusion(w, one, draws, drop=0.5, layers=2):
    """Gulcehre et al. (2015): the state of a language model through a gate, beside that of a translator."""
    nmt, lm = w.part("nmt"), w.part("lm")
    states = []
    bahdanau(nmt, one["src"], one["tgt"], states)
    size = lm("cell.0.weight_hh").shape[1]
    cells, logits = [(torch.zeros(size), torch.zeros(size))] * layers, []
    for t, word in enumerate(before(one["tgt"])):
        x = lm("embed.weight")[word]
        for layer in range(layers):
            cells[layer] = lm.lstm(f"cell.{layer}", draws.dropped(x, drop, layer, t), *cells[layer])
            x = cells[layer][0]
        gate = torch.sigmoid(w.linear("gate", x))
        read = w.linear("readout", torch.cat([*states[t], gate * x]))
        logits.append(w.linear("out", read.reshape(-1, 2).amax(1)))
    return cross_entropy(torch.stack(logits), torch.tensor(one["tgt"]), reduction="sum"), len(logits), 0.0


def transducer(w, one, _):
    """Graves (2012): the forward recursion over frames and symbols; blank is a choice of its own."""
    x = torch.tensor(one["x"])
    size = w("forward.weight_hh").shape[1]
    state, ahead, back, said = torch.zeros(size), [], [], []
    for row in x:
        ahead.append(state := w.gru("forward", row, state))
    state = torch.zeros(size)
    for row in reversed(x):
        back.insert(0, state := w.gru("backward", row, state))
    state = torch.zeros(size)
    for word in before(one["tgt"]):
        said.append(state := w.gru("predict", w("embed.weight")[word], state))
    frames = w.linear("frame", torch.cat([torch.stack(ahead), torch.stack(back)], 1))
    joint = torch.tanh(frames[:, None] + w.linear("said", torch.stack(said)))
    blank = w.linear("stay", joint)[..., 0]
    symbols = w.linear("out", joint)
    symbols = log_softmax(torch.cat([symbols[..., :1], symbols[..., 2:]], 2), 2)  # the end is no symbol
    ways = {(0, 0): torch.tensor(0.0)}
    for i in range(len(x)):
        for t in range(len(said)):
            from_both = []
            if i > 0:
                from_both.append(ways[i - 1, t] + logsigmoid(blank[i - 1, t]))
            if t > 0:
                from_both.append(ways[i, t - 1] + logsigmoid(-blank[i, t - 1]) + symbols[i, t - 1, one["tgt"][t - 1] - 1])
            if from_both:
                ways[i, t] = torch.logsumexp(torch.stack(from_both), 0)
    return -(ways[len(x) - 1, len(said) - 1] + logsigmoid(blank[-1, -1])), len(one["tgt"]), 0.0


def ctc(w, one, _):
    """Graves et al. (2006), by PyTorch's own loss; the blank has the number of </s>."""
    sound, ways = torch.tensor(one["sound"]), []
    for name, rows in ("forward", sound), ("backward", sound.flip(0)):
        state, found = torch.zeros(w(name + ".weight_hh").shape[1]), []
        for row in rows:
            found.append(state := w.gru(name, row, state))
        ways.append(torch.stack(found))
    logits = w.linear("out", torch.cat([ways[0], ways[1].flip(0)], 1))
    said = torch.tensor(one["phone"][:-1])
    return torch.zeros(()), 1, ctc_loss(log_softmax(logits, 1), said, (len(sound),), (len(said),), blank=1, reduction="sum")


def ctc_prefix(w, one, draws):
    """The same loss: log p of all symbols, each after those before it."""
    _, _, loss = ctc(w, one, draws)
    return loss, len(one["phone"]), 0.0
