"""Writes the golden files of eval.test: texts, and what sacreBLEU 2.6.0 says of
them: corpora, single lines, and paired tests of two systems. Needs `pip install sacrebleu==2.6.0`; the test does not.

  python golden.py     writes hyp.txt, ref.0.txt .. ref.2.txt and golden.txt
"""

import io
import pathlib
import random

from sacrebleu.metrics import BLEU, CHRF, TER
from sacrebleu.significance import PairedTest

HERE = pathlib.Path(__file__).resolve().parent

# Hypothesis and three references; what tokenisers and smoothings stumble over.
LINES = [
    ("The cat sat on the mat.", "The cat is on the mat.",
     "There is a cat on the mat.", "A cat sat on the mat."),
    ("It costs $3.50, not 1,000.25!", "It costs $3.50, not 1,000.24!",
     "The price: $3.50; not 1,000.24.", "It's $3.50 (not 1,000.24)."),
    ("\u201eGr\u00fc\u00df Gott!\u201c sagte die \u00c4rztin.",
     "\u201eGr\u00fc\u00df Gott\u201c, sagte die \u00c4rztin.",
     "Die \u00c4rztin sagte: \u201eGr\u00fc\u00df Gott!\u201c",
     "\"Gr\u00fc\u00df Gott\", sagte sie."),
    ("\u6211\u559c\u6b22\u732b\u3002 \u732b\u559c\u6b22\u6211\u3002",
     "\u6211\u5f88\u559c\u6b22\u732b\u3002\u3000\u732b\u4e5f\u559c\u6b22\u6211\u3002",
     "\u732b\u559c\u6b22\u6211\u3002", "\u6211\u559c\u6b22\u732b\u3002"),
    ("\u041a\u043e\u0448\u043a\u0430 \u0441\u0438\u0434\u0438\u0442 "
     "\u043d\u0430 \u043a\u043e\u0432\u0440\u0435 .",
     "\u041a\u043e\u0448\u043a\u0430 \u0441\u0438\u0434\u0435\u043b\u0430 "
     "\u043d\u0430 \u043a\u043e\u0432\u0440\u0435.",
     "\u041a\u043e\u0442 \u043d\u0430 \u043a\u043e\u0432\u0440\u0435.",
     "\u041a\u043e\u0448\u043a\u0430 \u043d\u0430 \u043a\u043e\u0432\u0440\u0435."),
    ("", "Nothing was said.", "Silence.", "(silence)"),
    ("yes", "yes", "Yes", "yes, indeed"),
    ("A &quot;quoted&quot; word &amp; a &lt;tag&gt; <skipped> here",
     "A \"quoted\" word & a <tag> here", "A &quot;quoted&quot; word &amp; a tag",
     "A 'quoted' word"),
    ("the the the the the the the", "the cat is on the mat",
     "there is a cat on the mat", "the mat has the cat"),
    ("state-of-the-art in 1990-2000, e.g. 3-4 times",
     "state of the art in 1990-2000, e.g. 3 to 4 times",
     "state-of-the-art from 1990 to 2000", "best in 1990-2000"),
    ("no\u00a0break  and \ttabs\u2003here", "no break and tabs here",
     "no\u00a0break and tabs", "tabs here"),
    ("caf\u00e9 cafe\u0301 \U0001f600\U0001f3fd ok", "caf\u00e9 caf\u00e9 \U0001f600 ok",
     "cafe\u0301 \U0001f600\U0001f3fd", "ok"),
    ("...,,,--- 1.2.3 .5 5. a.b,c a-b 1-b",
     "... ,,, --- 1.2.3 .5 5. a.b,c a-b 1 - b", "..., 1.2.3", "a.b, c"),
    ("wholly unrelated words", "etwas ganz anderes", "rien du tout", "nada"),
]


def noisy(rng, words):
    """Words with some left out, doubled or exchanged."""
    result = []
    for word in words:
        chance = rng.random()
        if chance < 0.1:
            continue
        result.append(word)
        if chance > 0.95:
            result.append(rng.choice(words))
    return " ".join(result)


def more(count):
    """Longer lines drawn from a few words."""
    rng = random.Random(1)
    words = ("ein eine der die das Haus, Stra\u00dfe Fl\u00fcsse gehen 3.5 \u20ac "
             "sch\u00f6n; (neu) \u2013 immer. wie? \u00fcber").split()
    for _ in range(count):
        right = [rng.choice(words) for _ in range(rng.randint(3, 25))]
        yield tuple(noisy(rng, right) for _ in range(4))


def is_missing(line, which):
    """Where some lines have fewer references: 1, 2 or 3 of them."""
    return which > 0 and line % (which + 1) == 0


def per_line(options, metric, hyp, refs):
    """The score of each line alone."""
    scores = [metric.sentence_score(line, [ref[number] for ref in refs])
              for number, line in enumerate(hyp)]
    return f"{options} --per-line\t" + " ".join(f"{s.score:.8f}" for s in scores)


def paired(options, metric, systems, refs):
    """Both tests of the second system against the first, to four digits."""
    tests = {kind: PairedTest(list(systems.items()), {"it": metric}, refs, kind)
             for kind in ("bs", "ar")}
    found = {kind: test()[1] for kind, test in tests.items()}
    name = list(found["bs"])[1]
    results = {kind: scores[name] for kind, scores in found.items()}
    text = ""
    for system, bs, ar in zip(systems, results["bs"], results["ar"]):
        text += f" {system} = {bs.score:.4f} (mean {bs.mean:.4f} +- {bs.ci:.4f})"
        if bs.p_value is not None:
            text += (f" p = {bs.p_value:.4f} (bootstrap), "
                     f"{ar.p_value:.4f} (randomisation)")
    return (f"{options} --paired\t{name}|{metric.get_signature()}"
            f"|bs:1000|ar:10000|seed:12345{text}")


def main():
    lines = LINES + list(more(40))
    names = ["hyp.txt", "ref.0.txt", "ref.1.txt", "ref.2.txt"]
    for column, name in enumerate(names):
        text = "".join(line[column] + "\n" for line in lines)
        (HERE / name).write_bytes(text.encode())
    columns = []
    for name in names:
        with io.open(HERE / name, encoding="utf-8", newline="\n") as file:
            columns.append([line.rstrip("\n") for line in file])
    golden = []
    bleus = [("", {})]
    bleus += [(f" --tokenise {name}", {"tokenize": name})
              for name in ("none", "char", "intl")]
    bleus += [(" --lowercase", {"lowercase": True})]
    bleus += [(" --smooth none", {"smooth_method": "none"}),
              (" --smooth floor", {"smooth_method": "floor"}),
              (" --smooth add-k", {"smooth_method": "add-k"}),
              (" --smooth add-k --smooth-value 0.5",
               {"smooth_method": "add-k", "smooth_value": 0.5})]
    for used in (1, 2, 3):
        for options, keywords in bleus:
            golden.append(("bleu" + options, used, BLEU(**keywords)))
        golden.append(("chrf", used, CHRF()))
        golden.append(("chrf++", used, CHRF(word_order=2)))
        golden.append(("ter", used, TER()))
    written = []
    # The whole, and lines alone: where smoothing matters.
    for first, last in [(0, len(lines))] + [(i, i + 1) for i in range(14)]:
        for options, used, metric in golden:
            # A few suffice for lines alone.
            if last - first == 1 and (used == 2 or options in (
                    "bleu --tokenise none", "bleu --tokenise char",
                    "bleu --tokenise intl", "bleu --lowercase", "ter", "chrf++",
                    "bleu --smooth none", "bleu --smooth add-k")):
                continue
            hyp = columns[0][first:last]
            refs = [column[first:last] for column in columns[1:used + 1]]
            score = metric.corpus_score(hyp, refs)
            text = score.format(width=8, signature=str(metric.get_signature()))
            written.append(f"{first}\t{last}\t{used}\t{options}\t{text}\n")
    # Lines with different numbers of references.
    refs = [[None if is_missing(number, which) else line
             for number, line in enumerate(column)]
            for which, column in enumerate(columns[1:])]
    for options, metric in [*(("bleu" + text, BLEU(**keywords))
                              for text, keywords in bleus), ("chrf", CHRF()),
                            ("chrf++", CHRF(word_order=2)), ("ter", TER())]:
        score = metric.corpus_score(columns[0], refs)
        text = score.format(width=8, signature=str(metric.get_signature()))
        written.append(f"0\t{len(lines)}\tvar\t{options}\t{text}\n")
    everything = [("bleu", BLEU(effective_order=True)), ("chrf", CHRF()),
                  ("chrf++", CHRF(word_order=2)), ("ter", TER())]
    for options, metric in everything:
        written.append(f"0\t{len(lines)}\t2\t"
                       f"{per_line(options, metric, columns[0], columns[1:3])}\n")
    systems = {"hyp.txt": columns[0], "ref.2.txt": columns[3]}
    for options, metric in [("bleu", BLEU()), *everything[2:]]:
        written.append(f"0\t{len(lines)}\t2\t"
                       f"{paired(options, metric, systems, columns[1:3])}\n")
    (HERE / "golden.txt").write_text("".join(written))


main()
