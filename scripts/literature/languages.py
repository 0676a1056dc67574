"""A language model of words beside n-grams: what literature-results measures of it."""

import collections
import functools
import gzip
import json
import math
import struct

from literature.alignments import shown
from literature.training import ADAM, all_minutes, chosen, lines, run, spread, table, trials

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

    def chances(self, sentences):
        """Of each word, and of each end."""
        rows = [["<s>", *sentence, "</s>"] for sentence in sentences]
        return [self.chance(tuple(row[max(0, at - ORDER + 1):at + 1])) for row in rows for at in range(1, len(row))]

    def perplexity(self, sentences):
        return perplexity(self.chances(sentences))


def perplexity(chances):
    return math.exp(-sum(map(math.log, chances)) / len(chances))


# The log-probability of each word that is there.
OWN = """model language
use rnnlm
said[t < T] = log_softmax(out(h[L-1,t]))
own[t < T] = said[t,word[t]]
"""


def batch(path, rows):
    """Writes numbers of words, padded on the right."""
    width = max(map(len, rows))
    values = [value for row in rows for value in [*row, *[0] * (width - len(row))]] + [len(row) for row in rows]
    about = {"word": [len(rows), width], "word.length": [len(rows)]}
    middle, end = 8 * len(rows) * width, 8 * len(values)
    header = json.dumps({name: {"dtype": "I64", "shape": about[name], "data_offsets": bounds} for name, bounds in (
        ("word", [0, middle]), ("word.length", [middle, end]))}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + struct.pack(f"<{len(values)}q", *values))


def chances(one, folder, sentences):
    """Of each word, and of each end, by a trained `rnnlm`."""
    spec = lines(folder / "specs/own.fov", OWN.splitlines())
    raw = (one.out / "model.safetensors").read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    known = json.loads(raw[8:8 + size])["__metadata__"]["vocabulary.word"].split("\n")[1:]
    numbers = {symbol: number for number, symbol in enumerate(known)}
    sets = [word for key, value in one.sets.items() if not key.startswith("train.") for word in ("--set", f"{key}={value}")]
    found = []
    for start in range(0, len(sentences), 100):
        rows = [[numbers[word] for word in (*sentence, "</s>")] for sentence in sentences[start:start + 100]]
        batch(folder / "batch.safetensors", rows)
        run("run", spec, "--weights", one.out / "model.safetensors", *sets, "--data", folder / "batch.safetensors",
            "--get", "own", "-o", folder / "own.safetensors", "--threads", 1, "--dtype", "f64")
        values, = zip(*shown(folder / "own.safetensors", "own"), strict=True)
        found += [math.exp(value) for row, own in zip(rows, values, strict=True) for value in own[:len(row)]]
    return found


def language(folder, data, updates, only):
    parts = parted(data / "lm/wikitext2_valid.txt.gz")
    sets = {part: {"word": lines(folder / f"{part}.txt", map(" ".join, own))} for part, own in parts.items()}
    count = sum(len(sentence) + 1 for sentence in parts["test"])
    rows = []

    @functools.cache
    def grams():
        return KneserNey(parts["train"]).chances(parts["test"])
    for name, options in chosen((
            ("rnnlm", {"E": 128, "H": 128, "drop": 0.3, "train.clip": 5, "train.rate": "cosine(3000, 0.003)"}),
            ("decoder_lm", {"L": 2, "D": 128, "K": 4, "N": 256, "train.rate": "cosine(3000, 0.001)"})), only):
        found = trials(folder, name, f"model language\nuse {name}\n", sets["train"], sets["valid"], updates or 3000,
                       {**ADAM, "train.batch": 20, **options}, validations=6)
        figures = [math.exp(-sum(row["logp"] for row in one.score(sets["test"])) / count) for one in found]
        rows.append([f"`{name}`", all_minutes(found), spread(figures)])
        if name == "rnnlm":
            mixed = [[(a + b) / 2 for a, b in zip(chances(one, folder, parts["test"]), grams(), strict=True)] for one in found]
            rows.append([f"the same and {ORDER}-grams, half of each", "", spread([perplexity(each) for each in mixed])])
    rows.append([f"{ORDER}-grams, Kneser-Ney", "", f"{perplexity(grams()):.1f}"])
    table(["model", "CPU time, three seeds", "perplexity"], rows)
