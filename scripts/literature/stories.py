"""Questions about stories (bAbI): what literature-results measures of memory networks."""

import gzip
import re

from literature.alignments import shown
from literature.sentences import regression
from literature.training import ADAM, SEEDS, all_minutes, chosen, lines, spread, table, trials, wrong


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


def linear(every):
    """Per cent of the test questions that a logistic regression of n-grams gets wrong, its penalty chosen by the validation."""
    parts = {"train": every[:720], "valid": every[720:800], "test": every[800:]}
    return 100 - regression(lambda row: dict.fromkeys(ngrams(*row[:2]), 1), parts, lambda row: row[2])


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


SOFT = "model soft\nuse memory_start\n"
HARD = {"D": 20, **ADAM, "train.batch": 32, "train.rate": "step(2500, 0.5, 0.004)"}


# Sukhbaatar et al. (2015) train each network ten times, as some starts end badly.
STARTS = 5


def best(found):
    """The training that its validation chooses."""
    return min(found, key=lambda one: one.found["valid_loss"])


def all_stories(folder, sets, updates):
    """One network for all tasks, with each seed."""
    parts = []
    for part in ("train", "valid"):
        parts.append({key: folder / f"all.{part}.{key}" for key in ("story", "question", "answer")})
        for key, path in parts[-1].items():
            path.write_text("".join(own[part][key].read_text() for own in sets.values()))
    return trials(folder, "all", SOFT, *parts, updates or 27000,
                  {"D": 50, "K": 3, "linear": 4500, "train.rate": "step(6750, 0.5, 0.2)"}, validations=40)


def babi(folder, data, updates, only):
    rows, means, used = [], {}, {}
    heads = {"soft": "`memory_start`", "direct": "without linear start", "starts": "the best of five starts", "all": "all tasks, then each",
             "chosen": "the best by validation", "hard": "`memory_hard`, given the facts"}
    kinds = chosen(("soft", "direct", "starts", "all", "hard"), only)
    every = {path.name[2:].split("_")[0]: (path.name.split("_")[1], list(stories(path))) for path in tasks(data)}
    sets = {task: questions(folder, task, own) for task, (_, own) in every.items()}
    if "all" in kinds:
        used["all"] = before = all_stories(folder, sets, updates)
    for task, (name, own) in every.items():
        right = sets[task]["test"]["answer"].read_text().splitlines()
        given = {key: sets[task]["test"][key] for key in ("story", "question")}
        counts = {len(support) for *_, support in own}
        cells, candidates = [f"{task}, {name}"], [[] for _ in SEEDS]

        def trained(kind, spec, count, options, keys, task=task, **more):
            return trials(folder, f"{task}-{kind}", spec, *({key: sets[task][part][key] for key in keys}
                                                            for part in ("train", "valid")), updates or count, options, **more)
        for kind in kinds:
            # The number of facts to find must be known in advance.
            if kind == "hard" and len(counts) > 1:
                cells.append("")
                continue
            if kind == "hard":
                spec = f"model hard\nuse memory_hard\ndecode {{ set K = {max(counts)} }}\n"
                found = trained(kind, spec, 10000, HARD, ("story", "question", "answer", "support"), validations=40)
            elif kind == "all":
                found = [trained("all", SOFT, 1500, {"D": 50, "K": 3, "linear": 0, "train.rate": "step(400, 0.5, 0.1)"},
                                 ("story", "question", "answer"), validations=20, seeds=[seed],
                                 more=["--weights", one.out / "model.safetensors"])[0]
                         for seed, one in zip(SEEDS, before, strict=True)]
            elif kind == "starts":
                groups = [trained("starts", SOFT, 4000, {"D": 20, "K": 3}, ("story", "question", "answer"), validations=40,
                                  seeds=[seed + 10 * start for start in range(1, STARTS + 1)]) for seed in SEEDS]
                used[kind] = used.get(kind, []) + [one for own in groups for one in own]
                found = [best(own) for own in groups]
            else:
                found = trained(kind, SOFT, 4000, {"D": 20, "K": 3, **({"linear": 0} if kind == "direct" else {})},
                                ("story", "question", "answer"), validations=40)
            if kind != "starts":
                used[kind] = used.get(kind, []) + found
            errors = [wrong([row.split("\t")[-1] for row in one.decode(given)], right) for one in found]
            if kind != "hard":
                for pairs, one, error in zip(candidates, found, errors, strict=True):
                    pairs.append((one.found["valid_loss"], error))
            means.setdefault(kind, []).append(errors)
            cells.append(spread(errors))
            if kind == [other for other in kinds if other != "hard"][-1]:
                # By the loss of the validation, for each seed.
                errors = [min(pairs)[1] for pairs in candidates]
                means.setdefault("chosen", []).append(errors)
                cells.append(spread(errors))
        errors = linear(own)
        means.setdefault("linear", []).append([errors])
        rows.append([*cells, f"{errors:.1f}"])
    rows.append(["mean", *(spread([sum(column) / len(column) for column in zip(*errors)])
                           for errors in means.values())])
    rows.append(["CPU time of all trainings", *(all_minutes(used[kind]) if kind in used else "" for kind in means)])
    table(["task", *(head for kind, head in heads.items() if kind in means), "n-grams, logistic regression"], rows)


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
        figures.setdefault(("linear", 0), []).append((linear(every), 0))

    def means(kind, at):
        return spread([sum(cells[at] for cells in own) / len(own) for (name, _), own in figures.items() if name == kind])
    rows = [[title, all_minutes(trained[kind]), means(kind, 0), means(kind, 1)] for kind, title, _ in kinds]
    table(["model", "CPU time, three seeds", "wrong answers, %", "largest weight on the supporting fact, %"],
          [*rows, ["n-grams, logistic regression", "", means("linear", 0), ""]])
