"""Writes evalb.txt: pairs of trees with what EVALB leaves out or takes for one (punctuation, functions, empty elements,
PRT, TOP), some over other words, and one without words; the last line is what EVALB (Sekine and Collins; the test does
not need it) says with COLLINS.prm: precision, recall, F1, lines that it compares.

  python evalb.py EVALB COLLINS.prm > evalb.txt
"""

import random
import subprocess
import sys
import tempfile

DRAW = random.Random(7)
LABELS = ["S", "NP-SBJ", "NP", "VP", "PP=2", "SBAR", "ADVP", "PRT", "WHNP-1"]
TAGS = ["NN", "DT", "VB", ".", ",", "``", "''", ":", "-NONE-", "-LRB-"]


def tree(first, end, words, depth=0):
    if end - first == 1 and (depth > 2 or DRAW.random() < 0.6):
        return "({} {})".format(*words[first])
    label = DRAW.choice(LABELS)
    if end - first == 1:
        return f"({label} {tree(first, end, words, depth + 1)})"
    cuts = sorted(DRAW.sample(range(first + 1, end), DRAW.randint(1, min(2, end - first - 1))))
    parts = [tree(a, b, words, depth + 1) for a, b in zip([first, *cuts], [*cuts, end])]
    return f"({label} {' '.join(parts)})"


def main():
    evalb, rules = sys.argv[1:]
    pairs = [("(TOP (S (NN a)))", "(TOP (S (. a)))")]
    for number in range(39):
        words = [(DRAW.choice(TAGS), f"w{DRAW.randrange(9)}") for _ in range(DRAW.randint(1, 8))] + [("NN", "end")]
        other = list(words)
        if number % 8 == 5:
            other[-1] = ("NN", "fin")
        if number % 8 == 6:
            other.append(("NN", "more"))
        gold = f"(TOP {tree(0, len(words), words)})"
        pairs.append((gold, gold if number % 8 == 3 else f"(TOP {tree(0, len(other), other)})"))
    with tempfile.TemporaryDirectory() as folder:
        paths = [f"{folder}/{name}" for name in ("gold", "test")]
        for path, side in zip(paths, zip(*pairs)):
            with open(path, "w") as file:
                file.write("\n".join(side) + "\n")
        said = subprocess.run([evalb, "-e", "1000", "-p", rules, *paths], capture_output=True, text=True).stdout
    figures = dict(line.split(" = ") for line in said.split("-- All --")[1].split("-- len")[0].splitlines() if " = " in line)
    figures = {key.strip(): value.strip() for key, value in figures.items()}
    for gold, test in pairs:
        print(f"{test}\t{gold}")
    print("\t".join(figures[key] for key in ("Bracketing Precision", "Bracketing Recall", "Bracketing FMeasure",
                                             "Number of Valid sentence")))


main()
