"""Sentiment and entailment: what literature-results measures of sentences that have a class."""

import gzip
import math
import zlib

from literature.training import all_minutes, chosen, lines, spread, table, trials, wrong


def rows_of(path):
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [row.rstrip("\n").lower().split("\t") for row in rows]


def parts_of(folder, train, test, names, held):
    """Files of the columns `names` of the training, of what `held` chooses from it to choose by, and of the test."""
    chosen = {"train": [row for row in train if not held(row)], "valid": [row for row in train if held(row)],
              "test": test}
    files = {part: {name: lines(folder / f"{part}.{name}", column)
                    for name, column in zip(names, zip(*rows, strict=True), strict=True)}
             for part, rows in chosen.items()}
    return chosen, files


def one_in(count, text):
    return zlib.crc32(text.encode()) % count == 0


def regression(features, chosen, label):
    """Per cent of the test that a logistic regression gets right, its penalty chosen by the validation."""
    from sklearn.feature_extraction import DictVectorizer
    from sklearn.linear_model import LogisticRegression
    names = DictVectorizer()
    names.fit(map(features, chosen["train"]))
    given = {part: (names.transform(map(features, rows)), [label(row) for row in rows])
             for part, rows in chosen.items()}
    found = [LogisticRegression(C=strength, max_iter=300).fit(*given["train"]) for strength in (0.03, 0.1, 0.3, 1, 3, 10)]
    return 100 * max(found, key=lambda one: one.score(*given["valid"])).score(*given["test"])


def pairs_of(words):
    return [" ".join(pair) for pair in zip(words, words[1:])]


def right_of(found, given, wanted):
    return [100 - wrong(one.decode(given), wanted) for one in found]


def together(found, given, classes, wanted, folder):
    """Per cent right by the mean of the probabilities of all trainings."""
    chances = []
    for name in classes:
        label = lines(folder / "class", [name] * len(wanted))
        scores = [[row["logp"] for row in one.score({**given, "label": label})] for one in found]
        chances.append([sum(map(math.exp, row)) for row in zip(*scores, strict=True)])
    made = [max(zip(row, classes))[1] for row in zip(*chances, strict=True)]
    return 100 - wrong(made, wanted)


# Whether a text is positive.

MEAN = "label ~ categorical(out(relu(hidden(dropout(mean[i](h[i]), drop)))))\n"

def sentiment(folder, data, updates, only):
    def columns(part):
        return [(label, text) for label, _, text in rows_of(data / f"sentiment/{part}.tsv.gz")]
    parts, sets = parts_of(folder, columns("train"), columns("valid"), ("label", "text"),
                           lambda row: one_in(10, row[1]))
    wanted = sets["test"]["label"].read_text().splitlines()
    sizes = {"E": 64, "H": 64, "A": 32, "R": 4, "F": 64, "lambda": 0.01, "drop": 0.7}
    rows = []
    for name, more, options in chosen((("four hops", "", {}), ("without the penalty", "", {"lambda": "0.0"}),
                                       ("the mean of all positions", MEAN, {"lambda": "0.0"})), only):
        found = trials(folder, name.replace(" ", "_"), f"model sentiment\nuse self_attentive\n{more}", sets["train"],
                       sets["valid"], updates or 1500, {**sizes, **options, "train.rate": "cosine(1500, 0.002)"},
                       metric="accuracy", validations=6, more=["--best-by", "accuracy"])
        given = {"text": sets["test"]["text"]}
        rows.append([name, all_minutes(found), spread(right_of(found, given, wanted)),
                     f"{together(found, given, ('negative', 'positive'), wanted, folder):.1f}"])

    def ngrams(row):
        words = row[1].split()
        return dict.fromkeys(words + pairs_of(words), 1)
    rows.append(["words and pairs of words, logistic regression", "",
                 f"{regression(ngrams, parts, lambda row: row[0]):.1f}", ""])
    table(["model", "CPU time, three seeds", "right, %", "three seeds together, %"], rows)


# Whether one sentence follows from another.

# Each word knows whether the other sentence has it, as in Chen et al. (2017).
GATED_SHARED = """x[i] = embed(premise[i]) ++ (if any[j](hypothesis[j] == premise[i]) then 1 else 0)
y[j] = embed(hypothesis[j]) ++ (if any[i](premise[i] == hypothesis[j]) then 1 else 0)
"""
# The same with dropout and with all that the second regression is told. That is how many words are new, their share, and
# whether there are any. Each word, and each word that the premise has, has a weight that leads straight to the classes.
GATED_TOLD = """x[i] = dropout(embed(premise[i]), 0.2) ++ (if any[j](hypothesis[j] == premise[i]) then 1 else 0)
y[j] = dropout(embed(hypothesis[j]), 0.2) ++ (if any[i](premise[i] == hypothesis[j]) then 1 else 0)
param said, known : embedding(3)
new[j] = if any[i](premise[i] == hypothesis[j]) then 0 else 1
amount = sum[j](new[j])
counts = stack[d < 3](if d == 0 then amount / 3 else if d == 1 then mean[j](new[j]) else if amount == 0 then 1 else 0)
direct = sum[j](said(hypothesis[j]) + (if new[j] == 0 then known(hypothesis[j]) else zeros(3)))
label ~ categorical(out(relu(hidden(dropout(concat[r](g[r]), 0.5) ++ counts))) + direct)
"""
SHARED = """a[i] = dropout(embed(premise[i]), drop) ++ (if any[j](hypothesis[j] == premise[i]) then 1 else 0)
b[j] = dropout(embed(hypothesis[j]), drop) ++ (if any[i](premise[i] == hypothesis[j]) then 1 else 0)
"""
# The word before, and differences and products of what is compared (Chen et al., 2017).
COMPARED = """param before : embedding(E)
p[i] = embed(premise[i]) + (if i > 0 then before(premise[i-1]) else zeros(E))
h[j] = embed(hypothesis[j]) + (if j > 0 then before(hypothesis[j-1]) else zeros(E))
a[i] = dropout(p[i], drop) ++ (if any[j](hypothesis[j] == premise[i]) then 1 else 0)
b[j] = dropout(h[j], drop) ++ (if any[i](premise[i] == hypothesis[j]) then 1 else 0)
v1[i] = compare(a[i] ++ beta[i] ++ (a[i] - beta[i]) ++ a[i] * beta[i])
v2[j] = compare(b[j] ++ alpha[j] ++ (b[j] - alpha[j]) ++ b[j] * alpha[j])
"""
UNGATED = "g[r] = gate_p[r](mp[r]) ++ gate_h[r](mh[r])\n"


def hypothesis_alone(row):
    words = row[2].split()
    return dict.fromkeys(words + pairs_of(words), 1)


def overlap(row):
    """What the hypothesis says, and which of its words the premise has."""
    there, words = set(row[1].split()), row[2].split()
    missing = sum(word not in there for word in words)
    found = {("known " if word in there else "new ") + word: 1 for word in words}
    return found | hypothesis_alone(row) | {"# new": missing / 3, "# share": missing / len(words), "# none": missing == 0}


def entailment(folder, data, updates, only):
    train, test = ([row[:3] for row in rows_of(data / f"snli_dev/{part}.tsv.gz")[1:]] for part in ("train", "valid"))
    parts, sets = parts_of(folder, train, test, ("label", "premise", "hypothesis"), lambda row: one_in(10, row[1]))
    wanted = sets["test"]["label"].read_text().splitlines()
    given = {key: sets["test"][key] for key in ("premise", "hypothesis")}
    gated = {"E": 64, "H": 48, "A": 32, "R": 4, "G": 64, "F": 128, "lambda": 0.01, "train.optimiser": "adam",
             "train.clip": 1, "train.init": "uniform(0.1)", "train.rate": "cosine(1500, 0.002)"}
    small = {"E": 64, "F": 64, "drop": 0.5, "train.rate": "cosine(1200, 0.002)"}
    rows = []
    for name, title, base, more, options, count in chosen((
            ("gated", "`snli_gated`, four hops", "snli_gated", "", gated, 1500),
            ("unpenalised", "the same without the penalty", "snli_gated", "", {**gated, "lambda": "0.0"}, 1500),
            ("ungated", "the same joined, without the gate", "snli_gated", UNGATED, gated, 1500),
            ("gated_shared", "`snli_gated`, words marked", "snli_gated", GATED_SHARED, gated, 1500),
            ("gated_told", "the same, told what the second regression is told", "snli_gated", GATED_TOLD, gated, 1500),
            ("decomposable", "`decomposable`", "decomposable", "", small, 1200),
            ("decomposable_shared", "`decomposable`, words marked", "decomposable", SHARED, small, 1200),
            ("decomposable_compared", "the same with word before, difference and product", "decomposable", COMPARED,
             small, 1200)), only):
        found = trials(folder, name, f"model pairs\nuse {base}\n{more}", sets["train"], sets["valid"], updates or count,
                       options, metric="accuracy", validations=6, more=["--best-by", "accuracy"])
        classes = "entailment", "neutral", "contradiction"
        rows.append([title, all_minutes(found), spread(right_of(found, given, wanted)),
                     f"{together(found, given, classes, wanted, folder):.1f}"])
    for name, features in (("the hypothesis alone", hypothesis_alone), ("words and which of them are shared", overlap)):
        rows.append([f"{name}, logistic regression", "", f"{regression(features, parts, lambda row: row[0]):.1f}", ""])
    table(["model", "CPU time, three seeds", "right, %", "three seeds together, %"], rows)
