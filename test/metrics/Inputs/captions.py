"""Writes captions.txt: what the scorers of captions say of hyp.txt and its references.
Needs pycocoevalcap (1.2) of PyPI, numpy, and Java for its METEOR 1.5; the test does not. PyPI's
'Cider' is CIDEr-D; CIDEr is the same without its two lines for that. 'meteor-all' is of meaning.*,
with the synonyms of the folder wordnet, in the form that METEOR has, and paraphrases.txt.

  python captions.py
"""

import gzip
import pathlib
import subprocess
import tempfile

import numpy as np
import pycocoevalcap
from pycocoevalcap.bleu.bleu_scorer import BleuScorer
from pycocoevalcap.cider.cider_scorer import CiderScorer
from pycocoevalcap.rouge.rouge import Rouge

HERE = pathlib.Path(__file__).resolve().parent


def meteor(hyp, refs, *options):
    """What METEOR says with the option -norm, as coco-caption gives it. The best reference counts, so that
    the first one fills up the lines with fewer."""
    most = max(map(len, refs))
    jar = pathlib.Path(pycocoevalcap.__path__[0]) / "meteor" / "meteor-1.5.jar"
    with tempfile.NamedTemporaryFile() as lines:
        lines.write("".join("\n".join(all_refs + all_refs[:1] * (most - len(all_refs))) + "\n"
                            for all_refs in refs).encode())
        lines.flush()
        said = subprocess.run(["java", "-Xmx2G", "-jar", jar, HERE / hyp, lines.name, "-l", "en", "-norm", "-q",
                               "-r", str(most), *options], capture_output=True, text=True, check=True).stdout
    return 100 * float(said)


def meteor_all(refs):
    """With meanings as METEOR has them: a word and the numbers of its meanings in turn, a word and its forms in turn."""
    meanings, forms = {}, {}
    for path in sorted((HERE / "wordnet").iterdir()):
        for line in path.read_text().splitlines():
            words = line.split()
            if path.suffix == ".exc":
                forms.setdefault(words[1], []).append(words[0])
            elif not line.startswith(" "):
                meanings.setdefault(words[0], []).append(words[-1])
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, table in ("synsets", meanings), ("exceptions", forms), ("relations", {}):
            (folder / f"english.{name}").write_text("".join(f"{k}\n{' '.join(v)}\n" for k, v in table.items()))
        (folder / "table.gz").write_bytes(gzip.compress((HERE / "paraphrases.txt").read_bytes()))
        return meteor("meaning.hyp.txt", refs, "-d", folder, "-a", folder / "table.gz")


def clean(line):
    """Only spaces between words, as coco-caption has them from its tokeniser."""
    return " ".join(line.split())


def plain_cider(hyps, refs):
    """CIDEr: a cosine without clipping, and without a penalty of lengths."""

    total = []
    cooked = [(ngrams(h), [ngrams(r) for r in all_refs]) for h, all_refs in zip(hyps, refs)]
    df = {}
    for _, all_refs in cooked:
        for gram in set(g for ref in all_refs for order in ref for g in order):
            df[gram] = df.get(gram, 0) + 1

    def weigh(counts):
        return [{g: c * (np.log(len(hyps)) - np.log(max(1, df.get(g, 0)))) for g, c in order.items()}
                for order in counts]

    for hyp, all_refs in cooked:
        ours, score = weigh(hyp), 0
        for ref in all_refs:
            theirs = weigh(ref)
            for a, b in zip(ours, theirs):
                norms = np.sqrt(sum(v * v for v in a.values())) * np.sqrt(sum(v * v for v in b.values()))
                if norms:
                    score += sum(v * b.get(g, 0) for g, v in a.items()) / norms / 4
        total.append(10 * score / len(all_refs))
    return np.mean(total)


def ngrams(line):
    words, result = line.split(), []
    for n in range(1, 5):
        counts = {}
        for i in range(len(words) - n + 1):
            gram = tuple(words[i:i + n])
            counts[gram] = counts.get(gram, 0) + 1
        result.append(counts)
    return result


def main():
    def read(name):
        return [clean(line) for line in (HERE / name).read_bytes().decode().split("\n")[:-1]]

    hyps = read("hyp.txt")
    columns = [read(f"ref.{i}.txt") for i in range(3)]
    lines = []
    for used in 1, 2, 3, "var":
        count = 3 if used == "var" else used
        refs = [list(all_refs) for all_refs in zip(*columns[:count])]
        if used == "var":
            # 1, 2 or 3 references: as golden.py leaves them out.
            refs = [[ref for which, ref in enumerate(all_refs) if not which or number % (which + 1)]
                    for number, all_refs in enumerate(refs)]
        figures = {}
        bleu = BleuScorer(n=4)
        for hyp, all_refs in zip(hyps, refs):
            bleu += (hyp, all_refs)
        scores, _ = bleu.compute_score(option="closest")
        figures.update({f"bleu-{n + 1}": 100 * score for n, score in enumerate(scores)})
        cider = CiderScorer()
        for hyp, all_refs in zip(hyps, refs):
            cider += (hyp, all_refs)
        figures["cider-d"] = cider.compute_score()[0]
        figures["cider"] = plain_cider(hyps, refs)
        rouge = Rouge()
        figures["rouge-l-coco"] = 100 * np.mean([rouge.calc_score([h], r) for h, r in zip(hyps, refs)])
        figures["meteor"] = meteor("hyp.txt", refs, "-m", "exact stem")
        if count < 3:
            meanings = [(HERE / f"meaning.ref.{i}.txt").read_text().splitlines() for i in range(used)]
            figures["meteor-all"] = meteor_all([list(all_refs) for all_refs in zip(*meanings)])
        lines += [f"0\t{len(hyps)}\t{used}\t{name}\t{value:.8f}" for name, value in figures.items()]
    (HERE / "captions.txt").write_text("\n".join(lines) + "\n")


main()
