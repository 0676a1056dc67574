"""Parsing as translation, beside a grammar of the same trees: what literature-results measures of it."""

import collections
import gzip
import math
import re
import zlib

from literature.training import ADAM, all_minutes, chosen, lines, run, spread, table, trials, wrong


def linear(tree):
    """Tags of the words, and the tree as a translator writes it: brackets with their labels, XX for each word."""
    tags, shown, open_labels = [], [], []
    for bracket, label, word, end in re.findall(r"(\()([^\s()]*)\s*([^\s()]+(?=\)))?|(\))", tree):
        if end:
            label = open_labels.pop()
            if label:
                shown.append(f"){label}")
        elif word:
            tags.append(label)
            shown.append("XX")
            open_labels.append("")
        elif bracket:
            label = re.split(r"[-=]", label)[0] or label
            open_labels.append(label)
            shown.append(f"({label}")
    return tags, shown
# A grammar of trees.

def nested(tags, shown):
    """The tree as (label, children), where a child that is a word is its tag."""
    stack, tags = [("", [])], iter(tags)
    for symbol in shown:
        if symbol[0] == "(":
            stack.append((symbol[1:], []))
        elif symbol[0] == ")":
            node = stack.pop()
            stack[-1][1].append(node)
        else:
            stack[-1][1].append(next(tags))
    return stack[0][1][0]


def rules_of(node, pairs, singles):
    """Counts the rules of a tree with at most two symbols on the right. A chain of single children is one symbol, and
    what is still to come of a longer rule knows its label and the last two children (Klein and Manning, 2003)."""
    if isinstance(node, str):
        singles[node, node] += 1
        return node
    label, children = node
    while len(children) == 1 and not isinstance(children[0], str):
        label, children = f"{label}+{children[0][0]}", children[0][1]
    if len(children) == 1:
        singles[f"{label}+{children[0]}", children[0]] += 1
        return f"{label}+{children[0]}"
    *first, last = [rules_of(child, pairs, singles) for child in children]
    parent = label
    for at, child in enumerate(first):
        rest = last if at == len(first) - 1 else f"{label.split('+')[-1]}|{' '.join(first[max(0, at - 1):at + 1])}"
        pairs[parent, child, rest] += 1
        parent = rest
    return label


class Grammar:
    """Rules with their shares in a treebank, and the likeliest tree by dynamic programming."""

    def __init__(self, trees):
        import numpy as np
        pairs, singles, tops = collections.Counter(), collections.Counter(), collections.Counter()
        for tree in trees:
            tops[rules_of(tree, pairs, singles)] += 1
        totals = collections.Counter()
        for (parent, *_), count in [*pairs.items(), *singles.items()]:
            totals[parent] += count
        self.names = sorted(totals)
        self.at = {name: at for at, name in enumerate(self.names)}
        rules = sorted((self.at[a], self.at[b], self.at[c], math.log(count / totals[a])) for (a, b, c), count in pairs.items())
        self.parent, self.left, self.right = (np.array([rule[k] for rule in rules]) for k in range(3))
        self.chance = np.array([rule[3] for rule in rules])
        self.parents, self.first = np.unique(self.parent, return_index=True)
        self.singles = collections.defaultdict(list)
        for (name, tag), count in singles.items():
            self.singles[tag].append((self.at[name], math.log(count / totals[name])))
        self.tops = [(self.at[name], math.log(count / len(trees))) for name, count in tops.items()]

    def parse(self, tags):
        """Linear, or flat where the grammar has no tree."""
        import numpy as np
        size = len(tags)
        best = np.full((size, size + 1, len(self.names)), -np.inf)
        how = {}
        for at, tag in enumerate(tags):
            for name, chance in self.singles[tag]:
                best[at, at + 1, name] = chance
        for width in range(2, size + 1):
            for start in range(size - width + 1):
                end = start + width
                cuts = range(start + 1, end)
                scores = np.stack([best[start, cut, self.left] + best[cut, end, self.right] for cut in cuts]) + self.chance
                cut, top = scores.argmax(0), scores.max(0)
                best[start, end, self.parents] = np.maximum.reduceat(top, self.first)
                how[start, end] = top, cut + start + 1
        chance, top = max((best[0, size, name] + chance, name) for name, chance in self.tops)
        if chance == -np.inf:
            return ["(ROOT", *["XX"] * size, ")ROOT"]
        return self.written(0, size, top, how)

    def written(self, start, end, name, how):
        import numpy as np
        symbol = self.names[name]
        labels = [] if "|" in symbol else symbol.split("+")
        if end == start + 1:
            inner = ["XX"]
            labels = labels[:-1]
        else:
            top, cut = how[start, end]
            low, high = np.searchsorted(self.parent, name), np.searchsorted(self.parent, name, "right")
            rule = low + top[low:high].argmax()
            inner = (self.written(start, cut[rule], self.left[rule], how)
                     + self.written(cut[rule], end, self.right[rule], how))
        return [*(f"({label}" for label in labels), *inner, *(f"){label}" for label in reversed(labels))]


# What may come next, so that the output is a tree of all words. Symbol 3 is a word; then come the opening brackets, and in
# the same order the closing ones.
WHOLE = """model whole
{base}
dim n = {count}
opens[k < tgt.vocab]  = if 4 <= k < 4 + n then 1 else 0
closes[k < tgt.vocab] = if 4 + n <= k then 1 else 0
label[k < tgt.vocab]  = (k - 4) mod n
word[t]  = if tgt[t] == 3 then 1 else 0
up[t]    = opens[tgt[t]];                              up[-1] = 0
depth[t] = depth[t-1] + up[t] - closes[tgt[t]];        depth[-1] = 0
said[t]  = said[t-1] + word[t];                        said[-1] = 0
more[t]  = if said[t] < S - 1 then 1 else 0;           more[-1] = 1
chain[t] = if up[t] == 1 then chain[t-1] + 1 else 0;   chain[-1] = 0
fits[t]  = all[u where u < t and depth[u] == depth[t-1] and all[k where u < k and k < t](depth[k] >= depth[t-1])](
  up[u] == 0 or label[tgt[u]] == label[tgt[t]])
decode {{
  valid[t] = (if tgt[t] == 1 then more[t-1] == 0 and depth[t-1] == 0
              else (if word[t] == 1 then more[t-1] == 1 and depth[t-1] > 0
              else (if up[t] == 1 then more[t-1] == 1 and chain[t-1] < 6 and (t == 0 or depth[t-1] > 0)
              else closes[tgt[t]] == 1 and up[t-1] == 0 and depth[t-1] > 0 and (more[t-1] == 0 or depth[t-1] > 1) and fits[t])))
}}
"""


# The published translator with dropout: so few trees are learnt by heart.
DROPPED = """use rnnsearch
const drop = 0.3
x[i]      = dropout(embed_src(src[i]), drop)
y[t]      = dropout(embed_tgt(tgt[t-1]), drop)
logits[t] = out(dropout(readout(s[t] ++ y[t] ++ c[t]), drop))
"""


def treebank(folder, data):
    """Trees of 3 to 20 words are compared, and longer ones trained too; a grammar is read off all of them. Weights are
    chosen by other documents."""
    rows = {}
    for name in "train", "dev":
        with gzip.open(data / f"gum_constituency/{name}.tsv.gz", "rt", encoding="utf-8") as found:
            rows[name] = [row.rstrip("\n").split("\t") for row in found]
    parts = {"train": [], "valid": [], "test": [linear(tree) for _, tree in rows["dev"]]}
    for document, tree in rows["train"]:
        parts["valid" if zlib.crc32(document.encode()) % 14 == 0 else "train"].append(linear(tree))
    parts["grammar"] = parts["train"]
    most = {"train": 30, "grammar": 60, "valid": 20, "test": 20}
    return {part: [(tags, shown) for tags, shown in trees if 3 <= len(tags) <= most[part]]
            for part, trees in parts.items()}


def f1(made, right, folder):
    said = run("eval", "bracket-f1", "--hyp", lines(folder / "hyp", made), "--ref", right, "--digits", 1)[0]
    found = re.search(r"= ([0-9.]+) .*; ([0-9]+) of ([0-9]+) lines", said)
    return float(found[1]), 100 * int(found[2]) / int(found[3])


def parsing(folder, data, updates, only):
    parts = treebank(folder, data)
    # The source is read backward, as in the paper.
    sets = {part: {"src": lines(folder / f"{part}.src", [" ".join(reversed(tags)) for tags, _ in own]),
                   "tgt": lines(folder / f"{part}.tgt", [" ".join(shown) for _, shown in own])}
            for part, own in parts.items()}
    labels = sorted({word[1:] for _, shown in parts["train"] for word in shown if word[0] == "("})
    symbols = lines(folder / "symbols", ["<s>", "</s>", "<unk>", "XX", *(sign + label for sign in "()" for label in labels)])
    right, rows = sets["test"]["tgt"], []
    wanted = right.read_text().splitlines()

    def row(title, time, outputs):
        scores, trees = zip(*(f1(made, right, folder) for made in outputs), strict=True)
        exact = [100 - wrong(made, wanted) for made in outputs]
        cells = (scores, trees, exact)
        rows.append([title, time, *(map(spread, cells) if len(outputs) > 1 else (f"{cell[0]:.1f}" for cell in cells))])

    for name, title, base, options in chosen((
            ("attention", "`rnnsearch` with dropout", DROPPED, {"E": 32, "H": 96, "A": 64, "M": 64}),
            ("none", "no attention, `seq2seq_start`", "use seq2seq_start\n", {"L": 1, "E": 32, "H": 96})), only):
        found = trials(folder, name, f"model {name}\n{base}", sets["train"], sets["valid"], updates or 2500,
                       {**options, **ADAM, "train.batch": 32, "train.rate": "cosine(2500, 0.003)"}, "bracket-f1",
                       more=["--best-by", "bracket-f1", "--vocab", f"tgt={symbols}"])
        whole = lines(folder / "specs" / f"{name}-whole.fov", [WHOLE.format(base=base, count=len(labels))])
        given = {"src": sets["test"]["src"]}
        row(title, all_minutes(found), [one.decode(given, "--beam", 4) for one in found])
        row("the same, trees of all words", "", [one.decode_by(whole, given, "--beam", 4) for one in found])
        others = [word for one in found[1:] for word in ("--weights", one.out / "model.safetensors")]
        row("the same, three seeds together", "", [found[0].decode_by(whole, given, "--beam", 4, *others)])
    grammar = Grammar([nested(*pair) for pair in parts["grammar"]])
    row("a grammar of the same trees and longer ones", "", [[" ".join(grammar.parse(tags)) for tags, _ in parts["test"]]])
    table(["model", "CPU time, three seeds", "labelled F1", "trees, %", "exact, %"], rows)
