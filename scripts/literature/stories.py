"""Questions about stories (bAbI): what literature-results measures of memory networks."""

import gzip
import re

from literature.alignments import shown
from literature.training import ADAM, all_minutes, chosen, lines, spread, table, trials, wrong

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


def ngrams(facts, question):
    """Words of the question; words and pairs of words of the facts that share a word with it (Weston et al., 2015)."""
    asked = question.split()
    found = {f"? {word}" for word in asked}
    for fact in facts:
        said = fact.split()
        if set(said) & set(asked):
            found |= set(said) | {" ".join(pair) for pair in zip(said, said[1:])}
    return found


def linear(train, test):
    """Answers of a logistic regression of n-grams, by numpy."""
    import numpy as np
    names = {name: at for at, name in enumerate(sorted({n for facts, question, *_ in train for n in
                                                        ngrams(facts, question)}))}
    answers = sorted({answer for _, _, answer, _ in train})

    def inputs(examples):
        array = np.zeros((len(examples), len(names) + 1))
        array[:, -1] = 1
        for row, (facts, question, *_) in zip(array, examples):
            row[[names[name] for name in ngrams(facts, question) if name in names]] = 1
        return array

    x, y = inputs(train), np.eye(len(answers))[[answers.index(answer) for _, _, answer, _ in train]]
    weights = np.zeros((x.shape[1], len(answers)))
    for _ in range(300):
        scores = x @ weights
        p = np.exp(scores - scores.max(1, keepdims=True))
        weights -= 0.5 * (x.T @ (p / p.sum(1, keepdims=True) - y) / len(x) + 1e-4 * weights)
    return [answers[at] for at in (inputs(test) @ weights).argmax(1)]


def tasks(data):
    return sorted((data / "babi_generated").glob("qa*_train.txt.gz"), key=lambda path: int(path.name[2:].split("_")[0]))


def questions(folder, task, every):
    """Of 1,000 questions of a task, 720 to train, 80 to choose weights by, and 200 to test."""
    sets = {}
    for part, own in (("train", every[:720]), ("valid", every[720:800]), ("test", every[800:])):
        columns = {"story": [" | ".join(facts) for facts, *_ in own], "question": [question for _, question, *_ in own],
                   "answer": [answer for *_, answer, _ in own],
                   "support": [" ".join(map(str, support)) for *_, support in own]}
        sets[part] = {key: lines(folder / f"{task}.{part}.{key}", column) for key, column in columns.items()}
    return sets


def babi(folder, data, updates, only):
    rows, means, used = [], {}, {"soft": [], "direct": [], "hard": []}
    heads = {"soft": "`memory_start`", "direct": "without linear start", "chosen": "the better of both",
             "hard": "`memory_hard`, given the facts"}
    for path in tasks(data):
        task, name = path.name[2:].split("_")[:2]
        every = list(stories(path))
        sets = questions(folder, task, every)
        right = sets["test"]["answer"].read_text().splitlines()
        given = {key: sets["test"][key] for key in ("story", "question")}
        counts = {len(support) for *_, support in every}
        cells, trained = [f"{task}, {name}"], {}
        for kind, spec, options, count in chosen((
                ("soft", "model soft\nuse memory_start\n", {"D": 20, "K": 3}, 4000),
                ("direct", "model soft\nuse memory_start\n", {"D": 20, "K": 3, "linear": 0}, 4000),
                ("hard", "model hard\nuse memory_hard\n",
                 {"D": 20, **ADAM, "train.batch": 32, "train.rate": "step(2500, 0.5, 0.004)"}, 10000)), only):
            # The number of facts to find must be known in advance.
            if kind == "hard" and len(counts) > 1:
                cells.append("")
                continue
            shown = [{key: path for key, path in sets[part].items() if key != "support" or kind == "hard"}
                     for part in ("train", "valid")]
            if kind == "hard":
                spec = spec.replace("model hard", f"model hard\ndecode {{ set K = {max(counts)} }}")
            found = trials(folder, f"{task}-{kind}", spec, *shown, updates or count, options, validations=40)
            used[kind] += found
            errors = [wrong([row.split("\t")[-1] for row in one.decode(given)], right) for one in found]
            trained[kind] = [(one.found["valid_loss"], error) for one, error in zip(found, errors, strict=True)]
            means.setdefault(kind, []).append(errors)
            cells.append(spread(errors))
            if kind == "direct" and "soft" in trained:
                # By the loss of the validation, for each seed.
                errors = [min(pair)[1] for pair in zip(trained["soft"], trained["direct"], strict=True)]
                means.setdefault("chosen", []).append(errors)
                cells.append(spread(errors))
        errors = wrong(linear(every[:720], every[800:]), right)
        means.setdefault("linear", []).append([errors])
        rows.append([*cells, f"{errors:.1f}"])
    rows.append(["mean", *(spread([sum(column) / len(column) for column in zip(*errors)])
                           for errors in means.values())])
    table(["task", *(head for kind, head in heads.items() if kind in means), "n-grams, logistic regression"], rows)
    print("CPU time of all trainings:", ", ".join(f"{kind} {all_minutes(each)}" for kind, each in used.items()))


# A fact that is not known is summed over. The spec of the paper does not know the order of the facts; with ages, it does.
LATENT = "model facts\nuse memory_latent\nweight[m] = softmax[m](dot(u, key[m]))\n"
AGES = """param age : matrix(50, D)
key[m] = sum[j < W[m]](embed(story[m,j])) + age[min(M-1-m, 49)]
"""


def supporting(folder, data, updates, only):
    """The tasks of bAbI whose answers are in one fact. Weights are judged by the largest one."""
    kinds = chosen((("latent", "`memory_latent`", ""), ("aged", "the same, which knows the ages of facts", AGES)), only)
    trained, figures, path = {kind: [] for kind, *_ in kinds}, {}, folder / "weight.safetensors"
    for file in tasks(data):
        task, every = file.name[2:].split("_")[0], list(stories(file))
        if any(len(support) != 1 for *_, support in every):
            continue
        sets = questions(folder, task, every)
        right, places = sets["test"]["answer"].read_text().splitlines(), [support[0] for *_, support in every[800:]]
        inputs, given = [{key: sets[part][key] for key in ("story", "question", "answer")} for part in ("train", "valid")], {
            key: sets["test"][key] for key in ("story", "question")}
        for kind, _, ages in kinds:
            found = trials(folder, f"{task}-{kind}", LATENT + ages, *inputs, updates or 2000,
                           {"D": 20, "train.batch": 32, "train.rate": "step(1000, 0.5, 0.005)"}, validations=8)
            trained[kind] += found
            for seed, one in enumerate(found):
                made = [row.split("\t")[-1] for row in one.decode(given, "--show", f"weight={path}")]
                rows = [weights for weights, in shown(path, "weight")]
                largest = sum(max(range(len(row)), key=row.__getitem__) == place for row, place in zip(rows, places, strict=True))
                figures.setdefault((kind, seed), []).append((wrong(made, right), 100 * largest / len(places)))
        figures.setdefault(("linear", 0), []).append((wrong(linear(every[:720], every[800:]), right), 0))

    def means(kind, at):
        return spread([sum(cells[at] for cells in own) / len(own) for (name, _), own in figures.items() if name == kind])
    rows = [[title, all_minutes(trained[kind]), means(kind, 0), means(kind, 1)] for kind, title, _ in kinds]
    table(["model", "CPU time, three seeds", "wrong answers, %", "largest weight on the supporting fact, %"],
          [*rows, ["n-grams, logistic regression", "", means("linear", 0), ""]])
