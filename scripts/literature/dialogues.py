"""Alignments by a hidden Markov model, sentences that find their translations, and turns of plays: what
literature-results measures of hmm_align, match and hred."""

import collections
import gzip
import math
import random
import re

from literature.languages import KneserNey
from literature.training import ADAM, all_minutes, chosen, lines, spread, table, trials
from literature.translation import pairs_of, translations

SHOWN = 12  # words of a turn, at most
FREQUENT = 1500


def perplexities(found, given, count):
    return spread([math.exp(-sum(row["logp"] for row in one.score(given)) / count) for one in found])


def english_german(data):
    parts = {part: pairs_of(data / f"tatoeba_en_de/{name}.tsv.gz") for part, name in (("train", "train"), ("test", "valid"))}
    draw = random.Random(1)
    draw.shuffle(parts["train"])
    # Each sentence of the test once, and not beside its neighbours of the file, which begin alike.
    test = list({" ".join(pair[0]): pair for pair in parts["test"]}.values())
    draw.shuffle(test)
    return {"valid": parts["train"][:500], "train": parts["train"][500:], "test": test}


# The words of a translation, without and with what an alignment knows of the last one.
WORDS = """model lexicon
vocab english : words(1000), german : words(1000)
data src[S] : token of english
data tgt[T] : sentence of german
"""
JUMPS = "use hmm_align\n"
ALIKE = """dim E = 128
param word : embedding(E), out : linear(tgt.vocab)
says[i]  = out(word(src[i]))
place[t] ~ categorical[i < S](0)
tgt[t]   ~ categorical(says[place[t]])
train  { place ~ enumerate, average = token }
decode { place ~ marginal }
"""


def lexicon(folder, data, updates, only):
    """How well the words of a sentence say those of its translation, with jumps and with all places alike."""
    sets, parts = {}, english_german(data)
    for part, pairs in parts.items():
        sets[part] = {side: lines(folder / f"{part}.{side}", [" ".join(pair[at]) for pair in pairs])
                      for at, side in enumerate(("src", "tgt"))}
    count = sum(len(pair[1]) + 1 for pair in parts["test"])
    rows = []
    for name, title, choice in chosen((("hmm", "`hmm_align`", JUMPS), ("even", "the same, all places alike", ALIKE)), only):
        found = trials(folder, name, WORDS + choice, sets["train"], sets["valid"], updates or 1000,
                       {"E": 64, **ADAM, "train.batch": 64})
        rows.append([title, all_minutes(found), perplexities(found, sets["test"], count)])
    table(["model", "CPU time, three seeds", "perplexity"], rows)


GROUP = 8  # sentences, of which each has its translation among those of all


def replies(folder, data, updates, only):
    sets, parts, groups = {}, english_german(data), {}
    draw = random.Random(2)
    for part, pairs in parts.items():
        columns, groups[part] = {"question": [], "reply": [], "found": []}, []
        for at in range(0, len(pairs) - GROUP + 1, GROUP):
            own = pairs[at:at + GROUP]
            order = draw.sample(range(GROUP), GROUP)
            groups[part].append(([pair[0] for pair in own], [own[k][1] for k in order], [order.index(k) for k in range(GROUP)]))
        for asked, said, right in groups[part]:
            columns["question"].append(" | ".join(map(" ".join, asked)))
            columns["reply"].append(" | ".join(map(" ".join, said)))
            columns["found"].append(" ".join(map(str, right)))
        sets[part] = {name: lines(folder / f"{part}.{name}", column) for name, column in columns.items()}
    chosen(("match",), only)
    found = trials(folder, "match", "model replies\nuse match\n", sets["train"], sets["valid"], updates or 1000,
                   {"E": 64, "H": 128, "train.rate": 0.002, "train.batch": 8}, metric="accuracy",
                   more=["--best-by", "accuracy"])
    wanted = [place for _, _, right in groups["test"] for place in right]
    given = {name: sets["test"][name] for name in ("question", "reply")}
    shares = []
    for one in found:
        made = [int(word) for row in one.decode(given) for word in row.split()]
        shares.append(100 * sum(a == b for a, b in zip(made, wanted, strict=True)) / len(wanted))
    dictionary = dict(translations(parts["train"]))
    made = []
    for asked, said, _ in groups["test"]:
        for row in asked:
            known = {dictionary.get(word) for word in row}
            made.append(max(range(GROUP), key=lambda k: sum(word in known for word in said[k]) / len(said[k])))
    plain = 100 * sum(a == b for a, b in zip(made, wanted, strict=True)) / len(wanted)
    table(["model", "CPU time, three seeds", "right, %"],
          [["`match`", all_minutes(found), spread(shares)],
           ["shared words of a dictionary, IBM's model 1", "", f"{plain:.1f}"],
           ["guessing", "", f"{100 / GROUP:.1f}"]])


def plays(path):
    """Four turns each, of at most `SHOWN` words, with those that are rare as unknown ones."""
    with gzip.open(path, "rt", encoding="utf-8") as file:
        turns = [re.findall(r"[a-z']+|[.,;:!?]", turn.split("\n", 1)[1].lower())[:SHOWN]
                 for turn in file.read().split("\n\n") if "\n" in turn]
    turns = list(filter(None, turns))
    dialogues = [turns[at:at + 4] for at in range(0, len(turns) - 3, 4)]
    parts = {"train": dialogues[:-300], "valid": dialogues[-300:-150], "test": dialogues[-150:]}
    counts = collections.Counter(word for turns in parts["train"] for turn in turns for word in turn)
    known = {word for word, _ in counts.most_common(FREQUENT)}
    return {part: [[[word if word in known else "<unk>" for word in turn] for turn in turns] for turns in own]
            for part, own in parts.items()}


def dialogue(folder, data, updates, only):
    parts = plays(data / "lm/tinyshakespeare.txt.gz")
    sets = {part: {"said": lines(folder / f"{part}.said", [" | ".join(map(" ".join, turns)) for turns in own])}
            for part, own in parts.items()}
    count = sum(len(turn) + 1 for turns in parts["test"] for turn in turns)
    rows = []
    for name, title, more, options in chosen((("hred", "`hred`", "", {}), ("one", "the same with one topic", "", {"K": 1}),
                                              ("alone", "the same without earlier turns", "past[d] = zeros(C)\n", {})), only):
        found = trials(folder, name, f"model plays\nuse hred\n{more}", sets["train"], sets["valid"], updates or 600,
                       {"E": 64, "H": 96, "C": 64, "K": 8, **options, "train.rate": 0.002, "train.batch": 16},
                       validations=8)
        rows.append([title, all_minutes(found), perplexities(found, sets["test"], count)])
    grams = KneserNey([turn for turns in parts["train"] for turn in turns])
    rows.append(["5-grams, Kneser-Ney", "", f"{grams.perplexity([turn for turns in parts['test'] for turn in turns]):.1f}"])
    table(["model", "CPU time, three seeds", "perplexity"], rows)
