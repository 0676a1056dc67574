"""Systems of the literature in PyTorch, written from the papers and
independently of Fovea: the losses of 50 updates, which are the golden files of
systems.test.

  peers.py NAME FOLDER > NAME.losses     FOLDER: what systems.py has written

Float64, one example at a time. A model gives -log p, the number of choices and
the penalty of an example, and where an estimator differentiates something else
than what is reported, that in the place of -log p and of the penalty.
"""

import functools
import math
import os
import sys

import torch
from torch.nn.functional import (binary_cross_entropy_with_logits, conv2d, conv3d, cross_entropy, log_softmax,
                                 logsigmoid, max_pool2d, max_pool3d, silu)

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from peer import Weights, layers_of_lstm  # noqa: E402
from peer_sentences import (before, block_sparse, ctc, ctc_prefix, decoder_lm, deep_fusion, experts, hred, llama,  # noqa: E402
                            match, multi_token, rnnlm, sampled_softmax, snli_gated, transducer, ttt)
from peer_states import Moco, VqVae  # noqa: E402
from systems import examples  # noqa: E402


def sentence(logits, tgt, penalty=0.0):
    return cross_entropy(torch.stack(logits), torch.tensor(tgt), reduction="sum"), len(tgt), penalty


#===----------------------------------------------------------------------===#
# Captions, speech, films
#===----------------------------------------------------------------------===#

def caption_soft(w, one, _):
    """Xu et al. (2015)."""
    a, logits, looked = torch.tensor(one["a"]), [], 0
    h, c = torch.tanh(w.linear("init_h", a.mean(0))), torch.tanh(w.linear("init_c", a.mean(0)))
    for word in before(one["tgt"]):
        y = w("embed.weight")[word]
        align = torch.softmax(torch.tanh(w.linear("key", a) + w.linear("query", h)) @ w("v"), 0)
        z = torch.sigmoid(w.linear("beta", h)) * (align @ a)
        h, c = w.lstm("decoder", torch.cat([y, z]), h, c)
        logits.append(w.linear("out", y + w.linear("lh", h) + w.linear("lz", z)))
        looked = looked + align
    return sentence(logits, one["tgt"], ((1 - looked) ** 2).sum())


def speech(w, one, _, layers=2):
    """Chorowski et al. (2015), without windows and sharpening."""
    x = torch.tensor(one["x"])
    for layer in range(layers):
        size = w(f"forward.{layer}.weight_hh").shape[1]
        state, ahead, back = torch.zeros(size), [], []
        for row in x:
            ahead.append(state := w.gru(f"forward.{layer}", row, state))
        state = torch.zeros(size)
        for row in reversed(x):
            back.insert(0, state := w.gru(f"backward.{layer}", row, state))
        x = torch.stack([torch.cat(pair) for pair in zip(ahead, back)])
    s, logits = torch.tanh(w.linear("init", back[0])), []
    align = torch.full((len(x),), 1 / len(x))
    filters = w("filter")
    for word in before(one["tgt"]):
        near = torch.nn.functional.conv1d(align[None, None], filters[:, None], padding=filters.shape[1] // 2)[0].T
        energy = torch.tanh(w.linear("query", s) + w.linear("key", x) + w.linear("loc", near)) @ w("w")
        align = torch.softmax(energy, 0)
        c = align @ x
        s = w.gru("decoder", torch.cat([w("embed.weight")[word], c]), s)
        logits.append(w.linear("out", w.linear("readout", torch.cat([s, c])).reshape(-1, 2).amax(1)))
    return sentence(logits, one["tgt"])


def pyramid(w, one, _, layers=2):
    """Chan et al. (2016): each layer has half of the places."""
    h = torch.tensor(one["x"])
    size = w("forward.0.weight_hh").shape[1]
    for layer in range(layers):
        h = torch.cat([h, torch.zeros(len(h) % 2, h.shape[1])]).reshape(-1, 2 * h.shape[1])
        ahead, back = [], []
        for name, rows, states in ("forward", h, ahead), ("backward", reversed(h), back):
            s = m = torch.zeros(size)
            for row in rows:
                s, m = w.lstm(f"{name}.{layer}", row, s, m)
                states.append(s)
        h = torch.stack([torch.cat(pair) for pair in zip(ahead, reversed(back))])
    states, c, logits = [(torch.zeros(size), torch.zeros(size))] * 2, torch.zeros(2 * size), []
    for word in before(one["tgt"]):
        x = torch.cat([w("embed.weight")[word], c])
        for k in range(2):
            states[k] = w.lstm(f"decoder.{k}", x, *states[k])
            x = states[k][0]
        c = torch.softmax(w.linear("psi", h) @ w.linear("phi", x), 0) @ h
        logits.append(w.linear("out", torch.cat([x, c])))
    return sentence(logits, one["tgt"])


def caption_pixels(w, one, _):
    """A network of three convolutions, and attention over the places that it leaves."""
    def conv(name, x):
        return conv2d(x, w(name + ".weight").permute(0, 3, 1, 2), w(name + ".bias"), padding=1)
    x = conv("conv1", torch.tensor(one["image"]).permute(2, 0, 1))
    x = torch.relu(w.norm("norm1", x.permute(1, 2, 0))).permute(2, 0, 1)
    x = torch.relu(conv("conv2", max_pool2d(x, 2)))
    a = torch.relu(conv("conv3", max_pool2d(x, 2))).flatten(1).T
    h, c = torch.tanh(w.linear("init_h", a.mean(0))), torch.tanh(w.linear("init_c", a.mean(0)))
    logits = []
    for word in before(one["tgt"]):
        z = torch.softmax(torch.tanh(w.linear("key", a) + w.linear("query", h)) @ w("v"), 0) @ a
        h, c = w.lstm("decoder", torch.cat([w("embed.weight")[word], z]), h, c)
        logits.append(w.linear("out", torch.cat([h, z])))
    return sentence(logits, one["tgt"])


def additive(w, name, q, k):
    """The score of a query with each of the keys."""
    return torch.tanh(w(name + ".query") @ q + k @ w(name + ".key").T + w(name + ".bias")) @ w(name + ".v")


def video(w, one, _):
    """Yao et al. (2015)."""
    clip = torch.tensor(one["clip"])
    frames = torch.relu(conv2d(clip.permute(0, 3, 1, 2), w("frame_conv.weight").permute(0, 3, 1, 2),
                               w("frame_conv.bias"), stride=2))
    frame = w.linear("frame_out", frames.mean((2, 3)))
    cube = clip.permute(3, 0, 1, 2)[None]
    for layer in ("motion1", "motion2"):
        cube = torch.relu(conv3d(cube, w(layer + ".weight").permute(0, 4, 1, 2, 3), w(layer + ".bias"), padding=1))
        if layer == "motion1":
            cube = max_pool3d(cube, 2)
    motion = cube[0].amax((2, 3)).T
    h, c = torch.tanh(w.linear("init_h", frame.mean(0))), torch.tanh(w.linear("init_c", motion.mean(0)))
    logits = []
    for word in before(one["tgt"]):
        look = torch.softmax(additive(w, "frame_score", h, frame), 0)
        move = torch.softmax(additive(w, "motion_score", h, motion), 0)
        z, y = torch.cat([look @ frame, move @ motion]), w("embed.weight")[word]
        h, c = w.lstm("decoder", torch.cat([y, z]), h, c)
        logits.append(w.linear("out", torch.cat([h, z, y])))
    return sentence(logits, one["tgt"])


#===----------------------------------------------------------------------===#
# Pointers, memories
#===----------------------------------------------------------------------===#

def pointer(w, one, _):
    """Vinyals, Fortunato and Jaitly (2015)."""
    size = w("finish").shape[0]
    point, states = torch.tensor(one["point"]), []
    h = c = torch.zeros(size)
    for row in point:
        h, c = w.lstm("encoder", row, h, c)
        states.append(h)
    notes, x, logits = torch.stack(states + [w("finish")]), w("start"), []
    for place in one["out"]:
        h, c = w.lstm("decoder", x, h, c)
        energy = torch.tanh(w.linear("w1", notes) + w.linear("w2", h)) @ w("v")
        logits.append(log_softmax(energy, 0)[place])
        x = point[place] if place < len(point) else None
    return -sum(logits), len(logits), 0.0


def ago(story, limit):
    return [min(len(story) - 1 - m, limit - 1) for m in range(len(story))]


def memory_soft(w, one, _, hops=2):
    """Sukhbaatar et al. (2015): adjacent sharing, positions, ages."""
    size = w("embed.0.weight").shape[1]

    def bag(hop, words):
        j, d = torch.arange(1, len(words) + 1)[:, None] / len(words), torch.arange(1, size + 1) / size
        return ((1 - j - d * (1 - 2 * j)) * w(f"embed.{hop}.weight")[words]).sum(0)

    def memory(hop):
        ages = w(f"age.{hop}")[ago(one["story"], w(f"age.{hop}").shape[0])]
        return torch.stack([bag(hop, fact) for fact in one["story"]]) + ages

    u = bag(0, one["question"])
    for hop in range(hops):
        u = u + torch.softmax(memory(hop) @ u, 0) @ memory(hop + 1)
    return -log_softmax(w(f"embed.{hops}.weight") @ u, 0)[one["answer"]], 1, 0.0


def margin(scores, right):
    """Of every other one: how much it lacks to be less by 0.1."""
    others = [v for v in range(len(scores)) if v != right]
    return torch.relu(0.1 - scores[right] + scores[others]).sum()


def memory_hard(w, one, _):
    """Weston, Chopra and Bordes (2015)."""
    ages = ago(one["story"], w("age").shape[0])
    fact = torch.stack([w("known.weight")[words].sum(0) for words in one["story"]]) + w("age")[ages]
    recall = torch.stack([w("read.weight")[words].sum(0) for words in one["story"]]) + w("when")[ages]
    x, loss = w("asked.weight")[one["question"]].sum(0), 0
    for place in one["support"]:
        loss = loss + margin(fact @ x, place)
        x = x + recall[place]
    return loss + margin(w("said.weight") @ x, one["answer"]), len(one["support"]) + 1, 0.0


def memory_latent(w, one, _):
    """The sum over the facts that may support the answer."""
    u = w("embed.weight")[one["question"]].sum(0)
    key = torch.stack([w("embed.weight")[words].sum(0) for words in one["story"]])
    value = torch.stack([w("look.weight")[words].sum(0) for words in one["story"]])
    said = log_softmax(w.linear("out", u + value), 1)[:, one["answer"]]
    return -torch.logsumexp(log_softmax(key @ u, 0) + said, 0), 1, 0.0


def ntm(w, one, _):
    """Graves, Wayne and Danihelka (2014)."""
    rows = torch.tensor(one["input"], dtype=torch.float64)
    count, width = rows.shape
    memory, r = w("start"), w("first")
    places = memory.shape[0]
    h = c = torch.zeros(w("control.weight_hh").shape[1])
    weights = {head: torch.eye(places)[0] for head in ("read", "write")}
    loss = 0
    for t in range(2 * count + 1):
        x = torch.zeros(width + 1)
        if t < count:
            x[:width] = rows[t]
        x[width] = float(t == count)
        h, c = w.lstm("control", torch.cat([x, r]), h, c)
        for head in weights:
            def said(part, head=head):
                return w.linear(f"head.{head}.{part}", h)
            key, strength = torch.tanh(said("key")), torch.nn.functional.softplus(said("beta"))
            gate, turn = torch.sigmoid(said("gate")), torch.softmax(said("shift"), 0)
            sharp = 1 + torch.nn.functional.softplus(said("gamma"))
            alike = memory @ key / torch.sqrt((key @ key) * (memory * memory).sum(1) + 1e-16)
            mixed = gate * torch.softmax(strength * alike, 0) + (1 - gate) * weights[head]
            mixed = sum(turn[j] * torch.roll(mixed, j - 1) for j in range(3)) ** sharp
            weights[head] = mixed / mixed.sum()
        r = weights["read"] @ memory
        write = weights["write"][:, None]
        memory = memory * (1 - write * torch.sigmoid(w.linear("erase", h))) + write * torch.tanh(w.linear("add", h))
        if t > count:
            loss = loss + binary_cross_entropy_with_logits(w.linear("out", torch.cat([h, r])), rows[t - count - 1],
                                                           reduction="sum")
    return loss, rows.numel(), 0.0


#===----------------------------------------------------------------------===#
# Translation
#===----------------------------------------------------------------------===#

def luong_local(w, one, _, predicts=True, layers=2, window=2):
    """Luong, Pham and Manning (2015), section 3.2: local-p, which predicts a place, and local-m."""
    size = w("attend.weight").shape[0]
    step = layers_of_lstm(w, size, layers)
    hidden = torch.stack([step("encoder", w("embed_src.weight")[word]) for word in one["src"]])
    place, attended, logits = torch.arange(len(hidden)), torch.zeros(size), []
    for t, word in enumerate(before(one["tgt"])):
        top = step("decoder", torch.cat([w("embed_tgt.weight")[word], attended]))
        p = len(hidden) * torch.sigmoid(w("v") @ torch.tanh(w.linear("position", top))) if predicts else t
        inside = (place - p).abs() <= window
        energy = (w.linear("general", hidden) @ top).masked_fill(~inside, -math.inf)
        near = torch.softmax(energy, 0) if inside.any() else torch.zeros(len(hidden))
        if predicts:
            near = near * torch.exp(-(place - p) ** 2 / (2 * (window / 2) ** 2))
        context = near @ hidden
        attended = torch.tanh(w.linear("attend", torch.cat([context, top])))
        logits.append(w.linear("out", attended))
    return sentence(logits, one["tgt"])


def coverage(w, one, _):
    """Tu et al. (2016): linguistic coverage with fertility, at most 2."""
    size = w("init.weight").shape[0]
    embedded = w("embed_src.weight")[one["src"]]
    state, ahead, back = torch.zeros(size), [], []
    for x in embedded:
        ahead.append(state := w.gru("forward", x, state))
    state = torch.zeros(size)
    for x in reversed(embedded):
        back.insert(0, state := w.gru("backward", x, state))
    hidden = torch.stack([torch.cat(pair) for pair in zip(ahead, back)])
    fertility = 2 * torch.sigmoid(w.linear("fertility", hidden)[:, 0])
    covered, state, logits = torch.zeros(len(hidden)), torch.tanh(w.linear("init", back[0])), []
    for word in before(one["tgt"]):
        y = w("embed_tgt.weight")[word]
        energy = torch.tanh(w.linear("query", state) + w.linear("key", hidden)
                            + w.linear("cover", covered[:, None])) @ w("v")
        align = torch.softmax(energy, 0)
        covered = covered + align / fertility
        context = align @ hidden
        state = w.gru("decoder", torch.cat([y, context]), state)
        read = w.linear("readout", torch.cat([state, y, context]))
        logits.append(w.linear("out", read.reshape(-1, 2).amax(1)))
    return sentence(logits, one["tgt"])


def hmm_align(w, one, _, farthest=2):
    """Vogel, Ney and Tillmann (1996): the forward recursion."""
    says = log_softmax(w.linear("out", w("word.weight")[one["src"]]), 1)
    places = torch.arange(len(says))

    def jump(origin):
        return log_softmax(w("jump")[(places - origin).clamp(-farthest, farthest) + farthest], 0)

    paths = None
    for word in one["tgt"]:
        if paths is None:
            paths = jump(-1)
        else:
            paths = torch.logsumexp(torch.stack([paths[i] + jump(i) for i in range(len(says))]), 0)
        paths = paths + says[:, word]
    return -torch.logsumexp(paths, 0), len(one["tgt"]), 0.0


#===----------------------------------------------------------------------===#
# Handwriting
#===----------------------------------------------------------------------===#

def peephole(w, name, x, h, c):
    """Graves (2013), eqs 7 to 11."""
    i, f, g, o = (w(name + ".weight_ih") @ x + w(name + ".weight_hh") @ h + w(name + ".bias")).chunk(4)
    new = torch.sigmoid(f + w(name + ".peep_f") * c) * c + torch.sigmoid(i + w(name + ".peep_i") * c) * torch.tanh(g)
    return torch.sigmoid(o + w(name + ".peep_o") * new) * torch.tanh(new), new


def density(point, weight, mean, deviation, slant):
    """Log p of a point in a mixture of normals of two numbers, eqs 24 to 26."""
    mean, deviation, rho = mean.reshape(-1, 2), deviation.reshape(-1, 2), torch.tanh(slant)
    z1, z2 = ((torch.tensor(point) - mean) / deviation.exp()).T
    each = (-(z1 ** 2 + z2 ** 2 - 2 * rho * z1 * z2) / (2 * (1 - rho ** 2)) - math.log(2 * math.pi)
            - deviation.sum(1) - 0.5 * torch.log(1 - rho ** 2))
    return torch.logsumexp(log_softmax(weight, 0) + each, 0)


def graves(w, one, _, layers=2, windows=2, parts=2):
    """Graves (2013), section 5."""
    letters = torch.nn.functional.one_hot(torch.tensor(one["text"]), 4).double()
    place = torch.arange(len(letters))
    size = w("cell.0.weight_hh").shape[1]
    states = [(torch.zeros(size), torch.zeros(size))] * layers
    kappa, read, loss = torch.zeros(windows), torch.zeros(4), 0
    x = torch.tensor([0.0, 0.0, 1.0])
    for stroke, lift in zip(one["stroke"], one["lift"]):
        for layer in range(layers):
            below = [x, read] if layer == 0 else [x, states[layer - 1][0], read]
            states[layer] = peephole(w, f"cell.{layer}", torch.cat(below), *states[layer])
            if layer == 0:
                a, b, k = w.linear("window", states[0][0]).reshape(3, windows)
                kappa = kappa + k.exp()
                phi = (a.exp()[:, None] * torch.exp(-b.exp()[:, None] * (kappa[:, None] - place) ** 2)).sum(0)
                read = phi @ letters
        said = w.linear("out", torch.cat([h for h, _ in states]))
        end, *mixture = said.split([1, parts, 2 * parts, 2 * parts, parts])
        loss = loss - density(stroke, *mixture) - logsigmoid(-end[0] if lift else end[0])
        x = torch.tensor([*stroke, float(lift)])
    return loss, 2 * len(one["stroke"]), 0.0


def sketch_rnn(w, one, draws, parts=2):
    """Ha and Eck (2018), with the whole divergence."""
    rows = [torch.tensor([*stroke, *(float(pen == k) for k in range(3))]) for stroke, pen in zip(one["stroke"], one["pen"])]
    seen = []
    for name, order in ("forward", rows), ("backward", reversed(rows)):
        h = c = torch.zeros(w(name + ".weight_hh").shape[1])
        for row in order:
            h, c = w.lstm(name, row, h, c)
        seen.append(h)
    mean, spread = w.linear("mean_z", torch.cat(seen)), w.linear("spread_z", torch.cat(seen))
    z = mean + torch.exp(spread / 2) * torch.tensor([draws.normal(0, n) for n in range(len(mean))])
    loss = 0.5 * (mean ** 2 + spread.exp() - 1 - spread).sum()
    h, c = torch.tanh(w.linear("init", z)).chunk(2)
    for last, stroke, pen in zip([torch.zeros(5), *rows], one["stroke"], one["pen"]):
        h, c = w.lstm("decoder", torch.cat([last, z]), h, c)
        *mixture, state = w.linear("out", h).split([parts, 2 * parts, 2 * parts, parts, 3])
        loss = loss - density(stroke, *mixture) - log_softmax(state, 0)[pen]
    return loss, 2 * len(rows), 0.0


#===----------------------------------------------------------------------===#
# What is drawn
#===----------------------------------------------------------------------===#

def philox(counter, key):
    """Salmon, Moraes, Dror and Shaw (2011), 4 words of 32 bits in 10 rounds."""
    for _ in range(10):
        high = [(m * c) >> 32 for m, c in zip((0xD2511F53, 0xCD9E8D57), counter[::2])]
        low = [(m * c) & 0xFFFFFFFF for m, c in zip((0xD2511F53, 0xCD9E8D57), counter[::2])]
        counter = [high[1] ^ counter[1] ^ key[0], low[1], high[0] ^ counter[3] ^ key[1], low[0]]
        key = [(k + w) & 0xFFFFFFFF for k, w in zip(key, (0x9E3779B9, 0xBB67AE85))]
    return counter


class Draws:
    """The random numbers of an example in an update: those of the choice number `choice`."""

    def __init__(self, update, number):
        self.update, self.number = update, number

    def uniform(self, choice, place=0, sample=0, word=0):
        words = philox([place, sample << 16, self.number, self.update - 1], [0, choice])
        return (2 * (words[word] >> 9) + 1) / 2 ** 24

    def shared(self, choice, place):
        """The same for all examples of an update."""
        return Draws(self.update, 0).uniform(choice, place)

    def dropped(self, x, rate, choice, row):
        """Srivastava et al. (2014), of a row of an array."""
        words = [philox([row * len(x) + n, 0, self.number, self.update - 1], [0, choice])[0] for n in range(len(x))]
        return x * torch.tensor([0 if word / 2 ** 32 < rate else 1 / (1 - rate) for word in words])

    def normal(self, choice, place=0, sample=0):
        """Box and Muller (1958)."""
        radius = math.sqrt(-2 * math.log(self.uniform(choice, place, sample)))
        return radius * math.cos(2 * math.pi * self.uniform(choice, place, sample, word=1))

    def category(self, probabilities, choice, place=0):
        """The last of which those before it have less than a uniform number."""
        u, below = self.uniform(choice, place), 0.0
        for number, p in enumerate(probabilities.tolist()):
            if below <= u and p > 0:
                chosen = number
            below += p
        return chosen


def scheduled_sampling(w, one, draws, k=20):
    """Bengio et al. (2015): the symbol before is the right one, or one that the model drew."""
    state = torch.zeros(w("encoder.weight_hh").shape[1])
    for word in one["src"]:
        state = w.gru("encoder", w("embed_src.weight")[word], state)
    share, guess, logits = k / (k + math.exp(draws.update / k)), 0, []
    for t, word in enumerate(before(one["tgt"])):
        shown = word if draws.uniform(0, t) < share else guess
        state = w.gru("decoder", w("embed_tgt.weight")[shown], state)
        logits.append(w.linear("out", state))
        guess = draws.category(torch.softmax(logits[-1], 0), 1, t)
    return sentence(logits, one["tgt"])


class CaptionHard:
    """Xu et al. (2015), hard attention: REINFORCE with a moving average as its baseline, the entropy, and the mean
    in place of what is drawn for half of the examples."""

    def __init__(self):
        self.sums, self.weight, self.rewards = [0.0, 0.0], 0.0, []

    def __call__(self, w, one, draws):
        a, logits, looked, chosen, entropy = torch.tensor(one["a"]), [], 0, 0, 0
        is_mean = draws.uniform(1) < 0.5
        h, c = torch.tanh(w.linear("init_h", a.mean(0))), torch.tanh(w.linear("init_c", a.mean(0)))
        for t, word in enumerate(before(one["tgt"])):
            y = w("embed.weight")[word]
            align = torch.softmax(torch.tanh(w.linear("key", a) + w.linear("query", h)) @ w("v"), 0)
            place = draws.category(align, 0, t)
            chosen = chosen + torch.log(align[place])
            entropy = entropy - (align * torch.log(align)).sum()
            z = torch.sigmoid(w.linear("beta", h)) * (align @ a if is_mean else a[place])
            h, c = w.lstm("decoder", torch.cat([y, z]), h, c)
            logits.append(w.linear("out", y + w.linear("lh", h) + w.linear("lz", z)))
            looked = looked + align
        nll, count, penalty = sentence(logits, one["tgt"], ((1 - looked) ** 2).sum())
        roots = [nll - 0.002 * entropy, penalty]
        self.rewards.append([-root.item() for root in roots])
        baselines = [total / self.weight if self.weight else 0.0 for total in self.sums]
        surrogates = [root if is_mean else root + chosen * (baseline + root.item())
                      for root, baseline in zip(roots, baselines)]
        return nll, count, penalty, surrogates

    def learnt(self):
        """After an update: the average of the rewards of all."""
        for n in range(2):
            self.sums[n] = 0.9 * self.sums[n] + 0.1 * sum(one[n] for one in self.rewards) / len(self.rewards)
        self.weight, self.rewards = 0.9 * self.weight + 0.1, []


def bank(said, count, rows, columns):
    """Gregor et al. (2015), eqs 19 to 26: filters of rows and columns, and the intensity."""
    gx, gy = (columns + 1) / 2 * (said[0] + 1), (rows + 1) / 2 * (said[1] + 1)
    gap = (max(columns, rows) - 1) / (count - 1) * torch.exp(said[3])
    at = (torch.arange(1, count + 1) - count / 2 - 0.5) * gap

    def filters(centre, extent):
        away = torch.arange(1, extent + 1) - (centre + at)[:, None]
        weights = torch.exp(-away ** 2 / (2 * torch.exp(said[2])))
        return weights / weights.sum(1, keepdim=True).clamp(min=1e-8)
    return filters(gx, columns), filters(gy, rows), torch.exp(said[4])


def draw(w, one, draws, steps=3, read=2, write=2):
    """Gregor et al. (2015)."""
    image = torch.tensor(one["image"], dtype=torch.float64)
    rows, columns = image.shape
    size = w("enc.weight_hh").shape[1]
    e = ec = d = dc = torch.zeros(size)
    canvas, gap = torch.zeros(rows, columns), 0
    for t in range(steps):
        left = image - torch.sigmoid(canvas)
        fx, fy, gain = bank(w.linear("read_p", d), read, rows, columns)
        near, miss = (gain * (fy @ x @ fx.T) for x in (image, left))
        e, ec = w.lstm("enc", torch.cat([near.flatten(), miss.flatten(), d]), e, ec)
        mean, log_deviation = w.linear("mean_z", e), w.linear("logstd_z", e)
        noise = torch.tensor([draws.normal(0, t * len(mean) + n) for n in range(len(mean))])
        z = mean + torch.exp(log_deviation) * noise
        gap = gap + (0.5 * (mean ** 2 + torch.exp(2 * log_deviation) - 1) - log_deviation).sum()
        d, dc = w.lstm("dec", z, d, dc)
        fx, fy, gain = bank(w.linear("write_p", d), write, rows, columns)
        canvas = canvas + fy.T @ w.linear("write_w", d).reshape(write, write) @ fx / gain
    return binary_cross_entropy_with_logits(canvas, image, reduction="sum") + gap, image.numel(), 0.0


def flow_matching(w, one, draws):
    """Lipman et al. (2023): straight lines, and a network that guesses where they end."""
    image = torch.tensor(one["image"])
    noise = torch.tensor([draws.normal(0, n) for n in range(image.numel())]).reshape(image.shape)
    time = draws.uniform(1, 0)
    asked = torch.nn.functional.one_hot(torch.tensor(one["digit"]), 10)
    waves = 1000 * time * 10000 ** (-torch.arange(0, 32, 2) / 32)
    seen = torch.cat([((1 - time) * noise + time * image).flatten(), torch.stack([waves.sin(), waves.cos()], 1).flatten(), asked])
    a = silu(w.linear("paint.see", seen))
    b = a + silu(w.linear("paint.mid", a))
    guess = torch.sigmoid(w.linear("paint.out", b + silu(w.linear("paint.deep", b))))
    return torch.zeros(()), 1, ((guess - image.flatten()) ** 2).mean()


def ram(w, one, draws, glimpses=3, scales=2, width=2, samples=10, deviation=0.1):
    """Mnih et al. (2014): the reward is whether the digit is right, and the baseline is learnt."""
    image = torch.tensor(one["image"])
    rows, columns = image.shape

    def pixel(y, x):
        return image[y, x] if 0 <= y < rows and 0 <= x < columns else torch.zeros(())

    nlls, penalties, scores = [], [], []
    for sample in range(samples):
        place = [2 * draws.uniform(0, n, sample) - 1 for n in (0, 1)]
        h, chosen, bases = torch.zeros(w("core_h.weight").shape[0]), [], []
        for t in range(glimpses):
            cy, cx = (int(math.floor((v + 1) / 2 * (extent - 1) + 0.5)) for v, extent in zip(place, (rows, columns)))
            patch = [sum(pixel(cy + (y - width // 2) * 2 ** g + a, cx + (x - width // 2) * 2 ** g + b)
                         for a in range(2 ** g) for b in range(2 ** g)) / 4 ** g
                     for g in range(scales) for y in range(width) for x in range(width)]
            seen = torch.relu(w.linear("see", torch.stack(patch)))
            at = torch.relu(w.linear("where_net", torch.tensor(place)))
            glimpse = torch.relu(w.linear("what2", seen) + w.linear("where2", at))
            h = torch.relu(w.linear("core_h", h) + w.linear("core_g", glimpse))
            mean = w.linear("locate", h.detach()).clamp(-1, 1)
            place = [mean[n].item() + deviation * draws.normal(1, 2 * t + n, sample) for n in (0, 1)]
            chosen.append((-0.5 * ((torch.tensor(place) - mean) / deviation) ** 2
                           - math.log(deviation) - 0.5 * math.log(2 * math.pi)).sum())
            bases.append(w.linear("value", h.detach())[0])
        logits = w.linear("out", h)
        hit = float(logits.argmax() == one["label"])
        nlls.append(-log_softmax(logits, 0)[one["label"]])
        penalties.append(sum((base - hit) ** 2 for base in bases) / glimpses)
        scores.append(sum(logp * (base.item() - hit) for logp, base in zip(chosen, bases)))
    nll, penalty, score = (sum(terms) / samples for terms in (nlls, penalties, scores))
    return nll, 1, penalty, [nll + score, penalty]


def adam(rate):
    return lambda parameters: torch.optim.Adam(parameters, rate)


# The model, its optimiser, the norm that gradients are clipped to, and whether the loss is a mean over examples.
MODELS = {
    "caption_soft": (caption_soft, adam(0.01), None, True),
    "speech": (speech, adam(0.01), None, False),
    "pointer": (pointer, adam(0.01), None, False),
    "memory_soft": (memory_soft, adam(0.001), 0.5, False),
    "memory_hard": (memory_hard, adam(0.01), None, False),
    "memory_latent": (memory_latent, adam(0.005), 10, True),
    "ntm": (ntm, lambda p: torch.optim.RMSprop(p, 0.01, alpha=0.9, eps=1e-8), None, False),
    "graves": (graves, adam(0.01), None, False),
    "video": (video, adam(0.01), None, False),
    "luong_local_p": (luong_local, adam(0.01), None, False),
    "luong_local_m": (functools.partial(luong_local, predicts=False, window=1), adam(0.01), 5, False),
    "pyramid": (pyramid, adam(0.01), None, False),
    "caption_pixels": (caption_pixels, adam(0.01), None, False),
    "rnnlm": (rnnlm, lambda p: torch.optim.SGD(p, 1.0), 5, False),
    "decoder_lm": (decoder_lm, adam(0.01), None, False),
    "ttt": (ttt, adam(0.01), None, False),
    "llama": (llama, adam(0.01), 1, False),
    "multi_token": (multi_token, adam(0.01), 1, False),
    "block_sparse": (block_sparse, adam(0.01), 1, False),
    "experts": (experts, adam(0.01), 1, False),
    "snli_gated": (snli_gated, adam(0.01), None, False),
    "hred": (hred, adam(0.01), 1, False),
    "match": (match, adam(0.01), 1, False),
    "sampled_softmax": (sampled_softmax, lambda p: torch.optim.Adadelta(p, 1.0, rho=0.95, eps=1e-6), 1, False),
    "deep_fusion": (deep_fusion, adam(0.01), None, False),
    "coverage": (coverage, adam(0.01), None, False),
    "hmm_align": (hmm_align, adam(0.01), 1, False),
    "ctc": (ctc, adam(0.01), 1, True),
    "ctc_prefix": (ctc_prefix, adam(0.01), 1, True),
    "transducer": (transducer, adam(0.01), 1, False),
    "scheduled_sampling": (scheduled_sampling, adam(0.01), None, False),
    "caption_hard": (CaptionHard(), adam(0.01), None, True),
    "draw": (draw, adam(0.01), None, False),
    "vq_vae": (VqVae(), adam(0.01), None, True),
    "flow_matching": (flow_matching, adam(0.01), None, True),
    "moco": (Moco(), lambda p: torch.optim.SGD(p, 0.03, momentum=0.9, weight_decay=0.0001), None, True),
    "sketch_rnn": (sketch_rnn, adam(0.01), 1, True),
    "ram": (ram, adam(0.01), None, False),
}


def main():
    name, folder = sys.argv[1:]
    model, optimiser, clip, is_mean = MODELS[name]
    weights = Weights(os.path.join(folder, "weights.safetensors"))
    data, parameters = examples(name), list(weights.tensors.values())
    steps = optimiser(parameters)
    for update in range(1, 51):
        steps.zero_grad()
        parts = [model(weights, one, Draws(update, number)) for number, one in enumerate(data)]
        count = len(data) if is_mean else sum(part[1] for part in parts)

        def mean(terms, count=count):
            return sum(nll for nll, _ in terms) / count + sum(penalty for _, penalty in terms) / len(data)
        mean([part[3] if len(part) > 3 else (part[0], part[2]) for part in parts]).backward()
        if clip:
            norm = math.sqrt(sum(float((p.grad ** 2).sum()) for p in parameters))
            for p in parameters:
                p.grad *= min(1, clip / norm)
        steps.step()
        if hasattr(model, "learnt"):
            model.learnt()
        print(repr(mean([(part[0], part[2]) for part in parts]).item()))


main()
