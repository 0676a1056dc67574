"""A language model of words beside n-grams: what literature-results measures of it."""

import collections
import gzip
import math

from literature.training import ADAM, all_minutes, chosen, lines, spread, table, trials

ORDER = 5
FREQUENT = 3000  # words of the vocabulary


def articles(path):
    """Sentences of each article. A line of the file that begins with one = is a title."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        for row in rows:
            words = row.split()
            if words[:1] == ["="] and words[1] != "=":
                yield []
            start = 0
            for at, word in enumerate(words):
                if word in (".", "?", "!") or at == len(words) - 1:
                    yield words[start:at + 1]
                    start = at + 1


def parted(path):
    """Every tenth article is to choose by, and every tenth to test. Words that the training rarely has are unknown."""
    parts, number = {"train": [], "valid": [], "test": []}, 0
    for sentence in articles(path):
        number += not sentence
        if sentence:
            parts[{4: "valid", 9: "test"}.get(number % 10, "train")].append(sentence)
    counts = collections.Counter(word for sentence in parts["train"] for word in sentence)
    known = {word for word, _ in counts.most_common(FREQUENT)}
    return {part: [[word if word in known else "<unk>" for word in sentence] for sentence in own]
            for part, own in parts.items()}


def grams_of(sentence, size):
    row = ["<s>", *sentence, "</s>"]
    return (tuple(row[at:at + size]) for at in range(len(row) - size + 1))


class KneserNey:
    """Modified and interpolated (Chen and Goodman, 1999)."""

    def __init__(self, sentences):
        seen = [collections.Counter(gram for sentence in sentences for gram in grams_of(sentence, size))
                for size in range(1, ORDER + 1)]
        self.counts = [collections.Counter() for _ in seen]
        self.counts[-1] = seen[-1]
        for size in range(ORDER - 1):
            # Of shorter grams it counts how many words they follow; nothing is before the beginning.
            for gram in seen[size + 1]:
                self.counts[size][gram[1:]] += 1
            for gram, count in seen[size].items():
                if gram[0] == "<s>" and size:
                    self.counts[size][gram] = count
        self.discounts, self.contexts = [], []
        for counts in self.counts:
            often = collections.Counter(counts.values())
            share = often[1] / (often[1] + 2 * often[2])
            self.discounts.append([0, *(k - (k + 1) * share * often[k + 1] / often[k] for k in (1, 2, 3))])
            contexts = {}
            for gram, count in counts.items():
                whole = contexts.setdefault(gram[:-1], [0, 0])
                whole[0] += count
                whole[1] += self.discounts[-1][min(count, 3)]
            self.contexts.append(contexts)

    def chance(self, gram):
        if not gram:
            return 1 / len(self.counts[0])
        size = len(gram) - 1
        lower = self.chance(gram[1:])
        whole, taken = self.contexts[size].get(gram[:-1], (0, 0))
        if not whole:
            return lower
        count = self.counts[size][gram]
        return (count - self.discounts[size][min(count, 3)] + taken * lower) / whole

    def perplexity(self, sentences):
        total = count = 0
        for sentence in sentences:
            row = ["<s>", *sentence, "</s>"]
            for at in range(1, len(row)):
                total -= math.log(self.chance(tuple(row[max(0, at - ORDER + 1):at + 1])))
                count += 1
        return math.exp(total / count)


def language(folder, data, updates, only):
    parts = parted(data / "lm/wikitext2_valid.txt.gz")
    sets = {part: {"word": lines(folder / f"{part}.txt", map(" ".join, own))} for part, own in parts.items()}
    count = sum(len(sentence) + 1 for sentence in parts["test"])
    rows = []
    for name, options in chosen((
            ("rnnlm", {"E": 128, "H": 128, "drop": 0.3, "train.clip": 5, "train.rate": "cosine(3000, 0.003)"}),
            ("decoder_lm", {"L": 2, "D": 128, "K": 4, "N": 256, "train.rate": "cosine(3000, 0.001)"})), only):
        found = trials(folder, name, f"model language\nuse {name}\n", sets["train"], sets["valid"], updates or 3000,
                       {**ADAM, "train.batch": 20, **options}, validations=6)
        figures = [math.exp(-sum(row["logp"] for row in one.score(sets["test"])) / count) for one in found]
        rows.append([f"`{name}`", all_minutes(found), spread(figures)])
    rows.append([f"{ORDER}-grams, Kneser-Ney", "", f"{KneserNey(parts['train']).perplexity(parts['test']):.1f}"])
    table(["model", "CPU time, three seeds", "perplexity"], rows)
