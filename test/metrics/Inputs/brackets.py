"""Writes brackets.txt: pairs of trees, and what PYEVALB (0.1.3 of PyPI; the test does not need it) says of each and
of all. It knows nothing of punctuation, functions and labels that are one, and counts a label that stands
twice over the same words once: there is none of these here.

  python brackets.py > brackets.txt
"""

import random

from PYEVALB import parser, scorer

DRAW = random.Random(5)
LABELS = ["S", "NP", "VP", "PP", "SBAR", "ADJP"]
WORDS = ["Haus", "größe", "的", "naïve", "the", "cat", "sat", "mat", "the", "a"]


def tree(first, end, above=()):
    """A random tree over the words first .. end-1: (label, children), a word is its number."""
    label = DRAW.choice([known for known in LABELS if known not in above])
    if end - first == 1:
        inner = [first] if DRAW.random() < 0.6 or len(above) > 1 else [tree(first, end, (*above, label))]
        return label, inner
    cuts = sorted(DRAW.sample(range(first + 1, end), DRAW.randint(1, min(2, end - first - 1))))
    parts = list(zip([first, *cuts], [*cuts, end]))
    return label, [a if b - a == 1 and DRAW.random() < 0.7 else tree(a, b) for a, b in parts]


def text(node, words):
    if isinstance(node, int):
        return f"(T {words[node]})"
    return f"({node[0]} {' '.join(text(child, words) for child in node[1])})"


def main():
    total = [0, 0, 0]
    for _ in range(40):
        words = [DRAW.choice(WORDS) for _ in range(DRAW.randint(1, 9))]
        gold, test = (text(tree(0, len(words)), words) for _ in range(2))
        if DRAW.random() < 0.2:
            test = gold
        one = scorer.Scorer().score_trees(*map(parser.create_from_bracket_string, (gold, test)))
        counts = [one.matched_brackets, one.test_brackets, one.gold_brackets]
        total = [a + b for a, b in zip(total, counts)]
        print(gold, test, *counts, sep="\t")
    print(*(f"{value:.4f}" for value in (200 * total[0] / (total[1] + total[2]), 100 * total[0] / total[1],
                                         100 * total[0] / total[2])), sep="\t")


main()
