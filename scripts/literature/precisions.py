"""Weights in fewer bits: what literature-results measures of models that train in f32 or bf16, and decode in less."""

from literature.alignments import prepared
from literature.training import all_minutes, chosen, equality, rates, spread, table, trials
from literature.translation import FREQUENT, SEARCH, SEARCHED, SIZES, UPDATES, corpus, spec_of

PRECISIONS = "f32", "bf16", "int8", "int4"


def translator(folder, data):
    _, sets = corpus(folder, data)
    right = sets["test"]["tgt"].read_text(encoding="utf-8").splitlines()

    def judged(one, *more):
        made = one.decode({"src": sets["test"]["src"]}, *SEARCHED, *more)
        return rates(made, right, folder, "bleu", "--tokenise", "none")
    return ((spec_of("rnnsearch", FREQUENT), sets["train"], sets["valid"], UPDATES, {**SIZES, **SEARCH}),
            "`rnnsearch`, English to German: BLEU", judged)


def speller(folder, data):
    pairs, sets = prepared(folder, data, "misspellings")
    right = [pair[1] for pair in pairs["test"]]
    return (("model aligned\nuse spelling\n", sets["train"], sets["valid"], 3000, {}),
            "`spelling`, misspellings: exact, %",
            lambda one, *more: equality(one.decode({"src": sets["test"]["src"]}, *more), right))


def precisions(folder, data, updates, only):
    rows = []
    for name, make in chosen((("translation", translator), ("misspellings", speller)), only):
        (spec, train, valid, count, settings), title, judged = make(folder, data)
        for trained in PRECISIONS[:2]:
            found = trials(folder, f"{name}-{trained}", spec, train, valid, updates or count, settings,
                           more=("--precision", trained))
            rows.append([title, all_minutes(found), trained,
                         *(spread([judged(one, "--precision", own) for one in found], 2) for own in PRECISIONS)])
    table(["model and task", "CPU time, three seeds", "trained in", *(f"decoded in {own}" for own in PRECISIONS)], rows)
