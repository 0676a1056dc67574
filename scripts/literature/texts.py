"""Stories, misspellings and translation: what literature-results measures of texts."""

import gzip
import re
import zlib

from literature.training import ADAM, Training, equal, lines, minutes, percent, rates, table


# Questions about stories (bAbI).

WORDS = """model words
use memory_soft
answer ~ categorical(embed[K].weight @ (u[0] + mean[m](mem[1,m])))
"""


def stories(path):
    """(facts, question, answer, supporting facts) of each question."""
    facts, places = [], {}
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in rows:
            number, text = row.rstrip("\n").split(" ", 1)
            if number == "1":
                facts, places = [], {}
            parts = text.split("\t")
            cut = " ".join(re.findall(r"\w+", parts[0].lower()))
            if len(parts) == 1:
                places[number] = len(facts)
                facts.append(cut)
            else:
                yield list(facts), cut, parts[1], [places[n] for n in parts[2].split()]


def babi(folder, data, updates, only):
    rows = []
    for path in sorted((data / "babi_generated").glob("qa*_train.txt.gz"), key=lambda p: int(p.name[2:].split("_")[0])):
        task, name = path.name[2:].split("_")[:2]
        every = list(stories(path))
        sets = {}
        for part, chosen in (("train", every[:800]), ("valid", every[800:])):
            # Facts that came last are those that the story is cut to.
            columns = {"story": [" | ".join(facts) for facts, *_ in chosen],
                       "question": [question for _, question, *_ in chosen],
                       "answer": [answer for *_, answer, _ in chosen],
                       "support": [" ".join(map(str, support)) for *_, support in chosen]}
            sets[part] = {key: lines(folder / f"{task}.{part}.{key}", column) for key, column in columns.items()}
        counts = {len(support) for *_, support in every}
        cells = [f"{task}, {name}"]
        for kind, spec, options in (
                ("soft", "model soft\nuse memory_soft\n", {"D": 20, "K": 3}),
                ("hard", "model hard\nuse memory_hard\n", {"D": 20}),
                ("words", WORDS, {"D": 20, "K": 1})):
            if only and kind not in only:
                continue
            # How many facts to find has to be known ahead.
            if kind == "hard" and len(counts) > 1:
                cells.append("")
                continue
            shown = {key: {k: v for k, v in own.items() if k != "support" or kind == "hard"}
                     for key, own in sets.items()}
            if kind == "hard":
                spec = spec.replace("model hard", f"model hard\ndecode {{ set K = {max(counts)} }}")
            one = Training(folder, f"{task}-{kind}", spec, shown["train"], shown["valid"], updates or 10000,
                           {**options, **ADAM, "train.batch": 32, "train.rate": "step(2500, 0.5, 0.004)"})
            given = {k: v for k, v in shown["valid"].items() if k in ("story", "question")}
            made = [row.split("\t")[-1] for row in one.decode(given)]
            right = sets["valid"]["answer"].read_text().splitlines()
            wrong = sum(a != b for a, b in zip(made, right, strict=True))
            cells += [percent(wrong, len(right))]
        rows.append(cells)
    table(["task", "`memory_soft`", "`memory_hard`, told the facts", "a bag of words"], rows)

# Commands that become actions (SCAN).

def scan(folder, data, updates, only):
    """Of the training commands a tenth is held out; those of `walk` are also said of `jump`, of which the training has
    the word alone."""
    with gzip.open(data / "scan/train_addprim_jump.txt.gz", "rt", encoding="utf-8") as rows:
        pairs = [re.match(r"IN: (.*) OUT: (.*)", row).groups() for row in rows]
    once = sorted(set(pairs))
    held = {pair for pair in once if zlib.crc32(pair[0].encode()) % 10 == 0 and "jump" not in pair[0]}
    jumps = [(a.replace("walk", "jump"), b.replace("WALK", "JUMP")) for a, b in once if "walk" in a.split()]
    parts = {"train": [pair for pair in pairs if pair not in held], "valid": sorted(held)[:500],
             "jump": jumps[::max(1, len(jumps) // 500)]}
    sets = {part: {side: lines(folder / f"{part}.{side}", [pair[at] for pair in chosen])
                   for at, side in enumerate(("src", "tgt"))} for part, chosen in parts.items()}
    rows = []
    for name, options in (("rnnsearch", {"E": 32, "H": 64, "A": 32, "M": 32, **ADAM}),
                          ("seq2seq_start", {"E": 32, "H": 96, "L": 1, **ADAM}),
                          ("transformer", {"L": 2, "D": 64, "K": 4, "F": 128, "train.rate": "noam(D, 400)"})):
        if only and name not in only:
            continue
        spec = f"model commands\nuse {name}\n"
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 8000,
                       {**options, "train.batch": 32})
        cells = [f"`{name}`", minutes(one)]
        for part in ("valid", "jump"):
            made = one.decode({"src": sets[part]["src"]}, "--beam", 1)
            cells.append(equal(made, sets[part]["tgt"].read_text().splitlines()))
        rows.append(cells)
    table(["model", "CPU time", "exact, held out", "exact, `jump` in the place of `walk`"], rows)

# The model's own draws as input.

def scheduled(folder, data, updates, only):
    sets = {}
    for part in ("train", "valid"):
        with gzip.open(data / f"misspellings/{part}.tsv.gz", "rt", encoding="utf-8") as rows:
            pairs = [row.rstrip("\n").split("\t")[:2] for row in rows]
        columns = [[" ".join(word.replace(" ", "_")) for word in column] for column in zip(*pairs, strict=True)]
        sets[part] = {"src": lines(folder / f"{part}.src", columns[0][:1000 if part == "valid" else None]),
                      "tgt": lines(folder / f"{part}.tgt", columns[1][:1000 if part == "valid" else None])}
    rows = []
    spec = "model scheduled\nuse scheduled_sampling\n"
    for name, k in (("scheduled", 1500), ("teacher", 1e9)):
        if only and name not in only:
            continue
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 12000,
                       {"E": 32, "H": 96, "k": k, **ADAM, "train.batch": 64}, "exact",
                       ["--best-by", "exact"])
        right = sets["valid"]["tgt"].read_text().splitlines()
        made = one.decode({"src": sets["valid"]["src"]})
        rows.append([f"`{name}`", minutes(one), f"{one.found['valid_perplexity']:.3f}", equal(made, right),
                     f"{rates(made, right, folder, 'per'):.2f} %"])
    table(["input", "CPU time", "perplexity", "exact", "wrong characters"], rows)

# A large vocabulary.

def sampled(folder, data, updates, only):
    sets = {}
    for part in ("train", "valid"):
        with gzip.open(data / f"tatoeba_en_de/{part}.tsv.gz", "rt", encoding="utf-8") as rows:
            pairs = [[" ".join(re.findall(r"\w+|[^\w\s]", side.lower())) for side in row.rstrip("\n").split("\t")[:2]]
                     for row in rows]
        sets[part] = {side: lines(folder / f"{part}.{side}", [pair[at] for pair in pairs])
                      for at, side in enumerate(("src", "tgt"))}
    rows = []
    for name, options in (("full", {}), ("sampled", {"N": 500})):
        if only and name not in only:
            continue
        spec = f"model {name}\nuse {'rnnsearch' if name == 'full' else 'sampled_softmax'}\n"
        one = Training(folder, name, spec, sets["train"], sets["valid"], updates or 3000,
                       {"E": 64, "H": 64, "A": 64, "M": 64, **ADAM, **options, "train.batch": 64})
        made = one.decode({"src": sets["valid"]["src"]}, "--beam", 1)
        right = sets["valid"]["tgt"].read_text().splitlines()
        rows.append([f"`{name}`", minutes(one), f"{1000 * one.found['cpu'] / one.found['updates']:.0f} ms",
                     f"{one.found['valid_perplexity']:.2f}", f"{rates(made, right, folder, 'bleu'):.1f}"])
    table(["softmax", "CPU time", "CPU time of an update", "perplexity", "BLEU, greedy"], rows)
