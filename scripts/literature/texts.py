"""Commands, misspellings and translation: what literature-results measures of texts."""

import gzip
import re
import zlib

from literature.training import ADAM, all_minutes, chosen, lines, rates, spread, table, trials, wrong
from literature.translation import pairs_of


# Commands that become actions (SCAN).

def commands(data):
    """Of the training commands a tenth is held out; those of `walk` are also said of `jump`, of which the training has
    the word alone."""
    with gzip.open(data / "scan/train_addprim_jump.txt.gz", "rt", encoding="utf-8") as rows:
        pairs = [re.match(r"IN: (.*) OUT: (.*)", row).groups() for row in rows]
    once = sorted(set(pairs))
    held = {pair for pair in once if zlib.crc32(pair[0].encode()) % 10 == 0 and "jump" not in pair[0]}
    jumps = [(a.replace("walk", "jump"), b.replace("WALK", "JUMP")) for a, b in once if "walk" in a.split()]
    return {"train": [pair for pair in pairs if pair not in held], "valid": sorted(held)[:500],
            "test": sorted(held)[500:1000], "jump": jumps[::max(1, len(jumps) // 500)]}


COMMANDED = {"E": 32, "H": 64, "A": 32, "M": 32, **ADAM}


def scan(folder, data, updates, only):
    parts = commands(data)
    sets = {part: {side: lines(folder / f"{part}.{side}", [pair[at] for pair in own])
                   for at, side in enumerate(("src", "tgt"))} for part, own in parts.items()}
    rows = []
    for name, options in chosen((("rnnsearch", COMMANDED),
                                 ("seq2seq_start", {"E": 32, "H": 96, "L": 1, **ADAM}),
                                 ("transformer", {"L": 2, "D": 64, "K": 4, "F": 128, "train.rate": "noam(D, 400)"})), only):
        found = trials(folder, name, f"model commands\nuse {name}\n", sets["train"], sets["valid"], updates or 8000,
                       {**options, "train.batch": 32})
        cells = [f"`{name}`", all_minutes(found)]
        for part in ("test", "jump"):
            right = sets[part]["tgt"].read_text().splitlines()
            cells.append(spread([100 - wrong(one.decode({"src": sets[part]["src"]}, "--beam", 1), right)
                                 for one in found]))
        rows.append(cells)
    table(["model", "CPU time, three seeds", "exact, held out, %", "exact, `jump`, %"], rows)

# Four ways to use a context.

def misspelt(folder, data):
    """No word of the test is in the training, and none of those that weights are chosen by."""
    with gzip.open(data / "misspellings/train.tsv.gz", "rt", encoding="utf-8") as rows:
        pairs = [row.rstrip("\n").split("\t")[:2] for row in rows]
    with gzip.open(data / "misspellings/valid.tsv.gz", "rt", encoding="utf-8") as rows:
        test = [row.rstrip("\n").split("\t")[:2] for row in rows]
    held = {right for _, right in pairs if zlib.crc32(right.lower().encode()) % 50 == 0}
    parts = {"train": [pair for pair in pairs if pair[1] not in held], "test": test,
             "valid": [pair for pair in pairs if pair[1] in held][:300]}
    return {part: {side: lines(folder / f"{part}.{side}", [pair[at] for pair in own])
                   for at, side in enumerate(("src", "tgt"))} for part, own in parts.items()}


def attentions(folder, data, updates, only):
    """A corrector of spelling."""
    sets = misspelt(folder, data)
    right = sets["test"]["tgt"].read_text().splitlines()
    rows = []
    for name in chosen(("attention_simple", "attention_input", "attention_luong", "attention_bahdanau"), only):
        spec = (f"model spelling\nuse {name}\nvocab letters : chars\n"
                "data src[S] : sentence of letters\ndata tgt[T] : sentence of letters\n")
        sizes = {"E": 24, "H": 48, "A": 32, "train.batch": 32, **({"M": 48} if name == "attention_luong" else {})}
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 2000, sizes,
                       validations=6, more=["--best-by", "perplexity"])
        made = [one.decode({"src": sets["test"]["src"]}, "--beam", 1) for one in found]
        rows.append([f"`{name}`", all_minutes(found), spread([one.found["valid_perplexity"] for one in found], 3),
                     spread([100 - wrong(own, right) for own in made]),
                     spread([rates(own, right, folder, "cer") for own in made], 2)])
    unchanged = sets["test"]["src"].read_text().splitlines()
    rows.append(["the misspelling itself", "", "", f"{100 - wrong(unchanged, right):.1f}",
                 f"{rates(unchanged, right, folder, 'cer'):.2f}"])
    table(["attention", "CPU time, three seeds", "perplexity", "exact, %", "wrong characters, %"], rows)


# The model's own draws as input.

def scheduled(folder, data, updates, only):
    sets = misspelt(folder, data)
    right = sets["test"]["tgt"].read_text().splitlines()
    rows = []
    for name, title, eps in chosen((
            ("teacher", "the correct symbols", "1"),
            ("sigmoid", "`scheduled_sampling`, inverse sigmoid, k = 400", "k / (k + exp(train.step / k))"),
            ("exponential", "exponential, 0.9995^step", "0.9995^train.step"),
            ("linear", "linear, to 0.1 in 3,000 updates", "max(0.1, 1 - train.step / 3000)"),
            ("mild", "linear, to 0.75 in 4,000 updates", "1 - train.step / 16000")), only):
        spec = ("model scheduled\nuse scheduled_sampling\nvocab letters : chars\n"
                f"data src[S] : sentence of letters\ndata tgt[T] : sentence of letters\neps = {eps}\n")
        found = trials(folder, name, spec, sets["train"], sets["valid"], updates or 4000,
                       {"E": 32, "H": 96, "k": 400, **ADAM, "train.batch": 64}, metric="exact", validations=8,
                       more=["--best-by", "exact"])
        made = [one.decode({"src": sets["test"]["src"]}) for one in found]
        rows.append([title, all_minutes(found), spread([one.found["valid_perplexity"] for one in found], 3),
                     spread([100 - wrong(own, right) for own in made]),
                     spread([rates(own, right, folder, "cer") for own in made], 2)])
    table(["input", "CPU time, three seeds", "perplexity", "exact, %", "wrong characters, %"], rows)

# A large vocabulary.

def sampled(folder, data, updates, only):
    parts = {"train": [], "valid": [], "test": pairs_of(data / "tatoeba_en_de/valid.tsv.gz")}
    for pair in pairs_of(data / "tatoeba_en_de/train.tsv.gz"):
        parts["valid" if zlib.crc32(" ".join(pair[0]).encode()) % 80 == 0 else "train"].append(pair)
    sets = {part: {side: lines(folder / f"{part}.{side}", [" ".join(pair[at]) for pair in own])
                   for at, side in enumerate(("src", "tgt"))} for part, own in parts.items()}
    right = sets["test"]["tgt"].read_text().splitlines()
    rows = []
    for name, title, base, options in chosen((("full", "full, `rnnsearch`", "rnnsearch", {}),
                                              ("sampled", "500 candidates, `sampled_softmax`", "sampled_softmax", {"N": 500}),
                                              ("more", "1,000 candidates", "sampled_softmax", {"N": 1000})), only):
        found = trials(folder, name, f"model {name}\nuse {base}\n", sets["train"], sets["valid"], updates or 3000,
                       {"E": 64, "H": 64, "A": 64, "M": 64, **ADAM, "train.rate": "cosine(3000, 0.003)", **options,
                        "train.batch": 64})
        made = [one.decode({"src": sets["test"]["src"]}, "--beam", 1) for one in found]
        rows.append([title, all_minutes(found), spread([1000 * one.found["cpu"] / one.found["updates"] for one in found], 0),
                     spread([one.found["valid_perplexity"] for one in found], 2),
                     spread([rates(own, right, folder, "bleu") for own in made])])
    table(["softmax", "CPU time, three seeds", "CPU ms per update", "perplexity", "BLEU, greedy"], rows)
