"""From the encoder-decoder to an ensemble, and Luong's attentions: what literature-results measures of translation."""

import collections
import functools
import gzip
import random
import re
import zlib

from literature.training import ADAM, SEEDS, all_minutes, chosen, lines, rates, spread, table, trials

LENGTHS = (1, 6), (7, 12), (13, 36)  # words of a source
FREQUENT, LARGE = 1000, 5000  # words of a small vocabulary and of a large one
UPDATES, LONG = 3000, 12000
SIZES = {"E": 48, "H": 64, **ADAM, "train.batch": 32, "train.rate": "cosine(3000, 0.002)"}
SEARCH = {"A": 48, "M": 48}
SEARCHED = "--beam", 4, "--length-norm", "per_symbol"


def pairs_of(path):
    """Lower case, words and punctuation apart."""
    with gzip.open(path, "rt", encoding="utf-8") as rows:
        return [[re.findall(r"\w+|[^\w\s]", side.lower()) for side in row.rstrip("\n").split("\t")[:2]] for row in rows]


def joined(pairs):
    """Each pair alone, and in another order in twos and in threes: the sentences of the data are short."""
    made = []
    for count in 1, 2, 3:
        for at in range(0, len(pairs) - count + 1, count):
            made.append([sum(sides, []) for sides in zip(*pairs[at:at + count], strict=True)])
        random.Random(count).shuffle(pairs)
    return made


def corpus(folder, data):
    """The pairs of the training, of what weights are chosen by (sentences that the training has not), and of the test;
    and files of them."""
    pairs = pairs_of(data / "tatoeba_en_de/train.tsv.gz")
    parts = {"train": [], "valid": [], "test": pairs_of(data / "tatoeba_en_de/valid.tsv.gz")}
    for pair in pairs:
        parts["valid" if zlib.crc32(" ".join(pair[0]).encode()) % 80 == 0 else "train"].append(pair)
    return parts, {part: {side: lines(folder / f"{part}.{side}", [" ".join(pair[at]) for pair in own])
                          for at, side in enumerate(("src", "tgt"))}
                   for part, own in ((part, joined(list(pairs))) for part, pairs in parts.items())}


def translations(pairs):
    """Of each word what translates it best in both directions, by IBM's model 1 (Brown et al., 1993)."""
    def learnt(pairs):
        chances = {}
        for _ in range(4):
            counts, totals = collections.Counter(), collections.Counter()
            for given, said in pairs:
                for word in said:
                    weights = [chances.get((one, word), 1e-9) if chances else 1 for one in given]
                    whole = sum(weights)
                    for one, weight in zip(given, weights, strict=True):
                        counts[one, word] += weight / whole
                        totals[one] += weight / whole
            chances = {pair: count / totals[pair[0]] for pair, count in counts.items()}
        return chances
    ahead, behind = learnt(pairs), learnt([pair[::-1] for pair in pairs])
    best = {}
    for (given, said), chance in ahead.items():
        both = chance * behind[said, given]
        if both > best.get(given, (0, ""))[0]:
            best[given] = both, said
    return [(given, said) for given, (_, said) in sorted(best.items())]


def spec_of(base, words):
    count = f"({words})" if words else ""
    return (f"model translator\nuse {base}\nvocab english : words{count}, german : words{count}\n"
            "data src[S] : sentence of english\ndata tgt[T] : sentence of german\n")


def figures(made, sets, folder):
    """BLEU of the whole test, and of the sources of each length."""
    sources, right = (sets["test"][side].read_text(encoding="utf-8").splitlines() for side in ("src", "tgt"))
    found = [rates(made, right, folder, "bleu", "--tokenise", "none")]
    for low, high in LENGTHS:
        chosen = [(own, wanted) for own, wanted, source in zip(made, right, sources, strict=True)
                  if low <= len(source.split()) <= high]
        found.append(rates(*zip(*chosen, strict=True), folder, "bleu", "--tokenise", "none"))
    return found


HEADS = ["BLEU", *(f"{low} to {high} words" for low, high in LENGTHS)]


def decoded(found, sets, folder, *more):
    """Mean and range of BLEU, and the means of each length."""
    rows = [figures(one.decode({"src": sets["test"]["src"]}, *SEARCHED, *more),
                    sets, folder) for one in found]
    whole, *parts = zip(*rows, strict=True)
    return [spread(whole), *(f"{sum(part) / len(part):.1f}" for part in parts)]


def together(found, sets, folder, *more):
    """BLEU of all trainings as one ensemble."""
    others = [word for one in found[1:] for word in ("--weights", one.out / "model.safetensors")]
    made = found[0].decode_by(found[0].spec, {"src": sets["test"]["src"]}, *SEARCHED, *more, *others)
    return [f"{value:.1f}" for value in figures(made, sets, folder)]


def survey(folder, data, updates, only):
    """The steps of Table I of Cho, Courville and Bengio (2015)."""
    parts, sets = corpus(folder, data)

    @functools.cache
    def replaced():
        dictionary = lines(folder / "dictionary", map("\t".join, translations(parts["train"])))
        return "--replace-unknown", "align", "--dictionary", dictionary
    kinds, rows = chosen(("plain", "search", "sampled", "full"), only), []

    def trained(name, base, words, options, seeds=None):
        return trials(folder, f"long-{name}", spec_of(base, words), sets["train"], sets["valid"], updates or LONG,
                      {**SIZES, "train.rate": f"cosine({LONG}, 0.002)", **options}, validations=12, seeds=seeds or SEEDS)
    if "plain" in kinds:
        plain = trained("plain", "seq2seq", FREQUENT, {"L": 1})
        rows.append(["encoder-decoder, `seq2seq`", all_minutes(plain), *decoded(plain, sets, folder)])
    if "search" in kinds:
        search = trained("search", "rnnsearch", FREQUENT, SEARCH)
        rows.append(["attention, `rnnsearch`", all_minutes(search), *decoded(search, sets, folder)])
        rows.append(["+ unknown words replaced", "", *decoded(search, sets, folder, *replaced())])
        rows.append(["+ ensemble of three", "", *together(search, sets, folder, *replaced())])
    if "sampled" in kinds:
        sampled = trained("sampled", "sampled_softmax", LARGE, {**SEARCH, "N": 1000}, (*SEEDS, 4))
        rows.append(["+ large vocabulary, `sampled_softmax`", all_minutes(sampled[:3]), *decoded(sampled[:3], sets, folder, *replaced())])
        rows.append(["+ ensemble of four", "", *together(sampled, sets, folder, *replaced())])
    if "full" in kinds:
        full = trained("full", "rnnsearch", LARGE, SEARCH)
        rows.append(["large vocabulary, full softmax", all_minutes(full), *decoded(full, sets, folder, *replaced())])
    table(["system", "CPU time, three seeds", *HEADS], rows)


def scores(folder, data, updates, only):
    """The six attentions of Luong, Pham and Manning (2015), beside additive attention with and without coverage."""
    _, sets = corpus(folder, data)
    rows = []
    for name, base, options in chosen((
            *((name, name, {"L": 1}) for name in ("luong_location", "luong_dot", "luong", "luong_concat")),
            ("luong_local_m", "luong_local_m", {"L": 1, "D": 3}), ("luong_local_p", "luong_local_p", {"L": 1, "D": 10}),
            ("search", "rnnsearch", SEARCH), ("coverage", "coverage", SEARCH)), only):
        found = trials(folder, name, spec_of(base, FREQUENT), sets["train"], sets["valid"], updates or UPDATES,
                       {**SIZES, **options}, validations=6)
        perplexities = spread([one.found["valid_perplexity"] for one in found], 2)
        rows.append([f"`{base}`", all_minutes(found), perplexities, *decoded(found, sets, folder)])
    table(["attention", "CPU time, three seeds", "perplexity", *HEADS], rows)
