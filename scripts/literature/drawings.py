"""Characters that are drawn point by point: what literature-results measures of sketch_rnn."""

from literature.training import ADAM, all_minutes, chosen, lines, spread, table, trials

# The decoder without a latent vector.
ALONE = """model alone
dim H = 64, M = 5
data stroke[T] : real(2)
data pen[T]    : class(3)
param decoder : lstm(H), out : linear(3 + 6*M)
before[t]  = if t > 0 then stroke[t-1] ++ onehot(pen[t-1]) else zeros(5)
s[t], c[t] = decoder(s[t-1], c[t-1], before[t]);  s[-1] = zeros(H);  c[-1] = zeros(H)
p[t], mu[t], sd[t], r[t], q[t] = cut(out(s[t]), M, [M,2], [M,2], M, 3)
stroke[t]  ~ mixture[m](logit = p[t,m], bivariate(mu[t,m], exp(sd[t,m]), tanh(r[t,m])))
pen[t]     ~ categorical(q[t])
train  { average = example }
decode { stop[t] = pen[t] == 2, longest = 200 }
"""
UNIT = 60  # of the files, in one of the model


def read(path):
    """Of each drawing, the columns of its line: the moves of the pen, and whether it draws (0), leaves (1) or ends (2)."""
    import numpy as np
    archive = np.load(path)
    strokes, ends = archive["strokes"].tolist(), archive["offsets"].tolist()
    for first, end in zip(ends, ends[1:]):
        points = strokes[first:end]
        lifts = [str(lift) for *_, lift in points[:-1]]
        yield " ".join(f"{x / UNIT:.4f},{y / UNIT:.4f}" for x, y, _ in points), " ".join([*lifts, "2"])


def kanji(folder, data, updates, only):
    drawn = {part: list(read(data / f"strokes/short_kanji_{part}.npz")) for part in ("train", "valid")}
    own = {"train": drawn["train"][300:], "valid": drawn["train"][:300], "test": drawn["valid"]}
    sets = {part: {name: lines(folder / f"{part}.{name}", column)
                   for name, column in zip(("stroke", "pen"), zip(*rows, strict=True), strict=True)}
            for part, rows in own.items()}
    points = sum(len(pens.split()) for _, pens in own["test"])
    rows = []
    for name, label, spec, options in chosen((
            ("latent", "`sketch_rnn`", "model drawing\nuse sketch_rnn\n", {"E": 32, "H": 64, "Z": 8, "M": 5}),
            ("alone", "the same without a latent vector", ALONE, {})), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 1000,
                       {**options, **ADAM, "train.batch": 32, "train.rate": "cosine(1000, 0.004)"})
        totals = [-sum(row["logp"] for row in one.score(sets["test"])) for one in found]
        rows.append([label, all_minutes(found), spread([total / points for total in totals], 3)])
    table(["model", "CPU time, three seeds", "nats per point, at most"], rows)
