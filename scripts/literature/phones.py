"""Letters to phones: what literature-results measures of a transducer."""

import gzip
import zlib

from literature.training import ADAM, all_minutes, chosen, lines, rates, spread, table, trials

# The frames of the transducer are letters.
LETTERS = """model phones
use transducer
vocab letters : chars
data src[S] : token of letters
param letter : embedding(I)
x[i] = letter(src[i])
"""
REFERENCES = 4  # pronunciations of a word, at most


def words(path):
    """The pronunciations of each word."""
    found = {}
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in rows:
            word, said = row.rstrip("\n").split("\t")
            found.setdefault(word, []).append(said)
    return found


def phones(folder, data, updates, only):
    """A fifth of the training's words, others to choose by, and every fourth word of the other file to test."""
    train, test = (words(data / f"cmudict_g2p/{part}.tsv.gz") for part in ("train", "valid"))
    groups = {word: zlib.crc32(word.encode()) % 400 for word in train}
    own = {"train": [(word, said) for word in train for said in train[word] if groups[word] < 80],
           "valid": [(word, train[word][0]) for word in train if groups[word] == 399]}
    sets = {part: {"src": lines(folder / f"{part}.src", [word for word, _ in pairs]),
                   "tgt": lines(folder / f"{part}.tgt", [said for _, said in pairs])} for part, pairs in own.items()}
    asked = list(test)[::4]
    given = {"src": lines(folder / "test.src", asked)}
    # The nearest pronunciation counts.
    columns = [[(test[word] * REFERENCES)[at] for word in asked] for at in range(REFERENCES)]
    others = [word for at, column in enumerate(columns[1:]) for word in ("--ref", lines(folder / f"other.{at}", column))]
    rows = []
    for name, label, spec, options in chosen((
            ("transducer", "`transducer`", LETTERS, {"I": 32, "E": 32, "H": 64, "J": 64}),
            ("g2p", "`g2p`", "model attention\nuse g2p\n", {"E": 32, "H": 64, "A": 64, "M": 32})), only):
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 1500,
                       {**options, **ADAM, "train.batch": 32, "train.rate": "cosine(1500, 0.004)"})
        made = [one.decode(given, "--beam", 4) for one in found]
        rows.append([label, all_minutes(found), *(spread([rates(one, columns[0], folder, metric, *others) for one in made])
                                                  for metric in ("per", "exact"))])
    table(["model", "CPU time, three seeds", "PER, %", "exact, %"], rows)
