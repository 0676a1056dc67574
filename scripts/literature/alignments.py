"""Where attention looks, beside alignments that are known: what literature-results measures of dates and misspellings."""

import gzip
import json
import math
import re
import struct

from literature.texts import COMMANDED, commands
from literature.training import all_minutes, chosen, lines, spread, table, trials

MONTHS = "jan feb mar apr may jun jul aug sep oct nov dec".split()


def shown(path, name):
    """The weights that a decoding showed: for each example, a row for each symbol of the output, or one row."""
    raw = path.read_bytes()
    size, = struct.unpack("<Q", raw[:8])
    about = json.loads(raw[8:8 + size])[name]
    examples, *rows, width = about["shape"]
    symbols = math.prod(rows)
    first = 8 + size + about["data_offsets"][0]
    values = struct.unpack(f"<{examples * symbols * width}d", raw[first:first + 8 * examples * symbols * width])
    return [[values[at:at + width] for at in range(one * symbols * width, (one + 1) * symbols * width, width)]
            for one in range(examples)]


def date_fields(date, iso):
    """Of a date as people write it, the places of year, month and day; None where equal numbers leave them open."""
    numbers = [found.span() for found in re.finditer(r"\d+", date)]
    year = next((span for span in numbers if span[1] - span[0] == 4), numbers[-1])
    numbers.remove(year)
    name = re.search(rf"\b({'|'.join(MONTHS)})[a-z]*", date.lower())
    if name:
        return year, name.span(), numbers[0]
    said = [int(date[slice(*span)]) for span in numbers]
    if said[0] == said[1]:
        return None
    return (year, *numbers) if said[0] == int(iso[5:7]) else (year, *numbers[::-1])


def date_links(date, iso):
    """For each digit of year, month and day the places that say it."""
    found, fields = {}, date_fields(date, iso)
    for (start, end), first, count in zip(fields or (), (0, 5, 8), (4, 2, 2), strict=False):
        width = end - start
        for k in range(count):
            if date[start:end].isdigit() and width > 1:
                if k >= count - width:
                    found[first + k] = {start + k - (count - width)}
            else:
                found[first + k] = set(range(start, end))
    return found


def edit_links(wrong, right):
    """For each letter of `right` the letter of `wrong` that every shortest way to edit leaves in its place."""
    def costs(a, b):
        rows = [list(range(len(b) + 1))]
        for i, x in enumerate(a):
            row = [i + 1]
            for j, y in enumerate(b):
                row.append(min(rows[i][j] + (x != y), rows[i][j + 1] + 1, row[j] + 1))
            rows.append(row)
        return rows
    ahead = costs(wrong, right)
    behind = [row[::-1] for row in costs(wrong[::-1], right[::-1])[::-1]]
    least = ahead[-1][-1]
    ways = {j: {i for i, x in enumerate(wrong) if x == y and ahead[i][j] + behind[i + 1][j + 1] == least}
            for j, y in enumerate(right)}
    def is_forced(j):
        """Whether no shortest way writes this letter in the place of another or anew."""
        return not any(ahead[i][j] + 1 + behind[i][j + 1] == least for i in range(len(wrong) + 1)) and not any(
            ahead[i][j] + 1 + behind[i + 1][j + 1] == least for i, x in enumerate(wrong) if x != right[j])
    return {j: places for j, places in ways.items() if len(places) == 1 and is_forced(j)}


def command_links(words, actions):
    """For each action of a SCAN command the place of its word: in the part before or after `and` or `after` that says it."""
    cut = next((k for k, word in enumerate(words) if word in ("and", "after")), len(words))
    parts = [range(cut), range(cut + 1, len(words))]
    if "after" in words:
        parts.reverse()
    found = {}
    for part in parts:
        own = {words[k]: k for k in part}
        turns = 4 if "around" in own else 2 if "opposite" in own else 1 if own.keys() & {"left", "right"} else 0
        once = turns if "turn" in own else 2 * turns if "around" in own else turns + 1
        for _ in range(once * (2 if "twice" in own else 3 if "thrice" in own else 1) if own else 0):
            found[len(found)] = {own[re.sub("I_(TURN_)?", "", actions[len(found)]).lower()]}
    return found


def judged(examples, links):
    """Alignment error rate of the largest weights (Och and Ney, 2003), the share of weight on the right places, what an
    even one would have, and how often the largest weight is at most one place beside them. In per cent."""
    hits = near = share = even = count = sure = sure_hits = 0
    for (source, target), weights in examples:
        for place, right in links(source, target).items():
            row = weights[place]
            best = max(range(len(row)), key=row.__getitem__)
            count += 1
            hits += best in right
            near += any(abs(best - k) <= 1 for k in right)
            share += sum(row[k] for k in right)
            even += len(right) / (len(source) + 1)
            sure += len(right) == 1
            sure_hits += len(right) == 1 and best in right
    return [100 * (1 - (sure_hits + hits) / max(1, count + sure)),
            *(100 * value / max(1, count) for value in (near, share, even))]


def forward(weights, made):
    """Of all symbols but the first of each text, how many have their largest weight not before that of the last symbol, in per cent."""
    count = kept = 0
    for rows, text in zip(weights, made, strict=True):
        places = [max(range(len(row)), key=row.__getitem__) for row in rows[:len(text.split())]]
        count += max(0, len(places) - 1)
        kept += sum(a <= b for a, b in zip(places, places[1:]))
    return 100 * kept / max(1, count)


# For each task its model, settings, updates, and right places.
JUDGED = {"dates": ("spelling", {}, 1000, date_links), "misspellings": ("spelling", {}, 3000, edit_links),
          "commands": ("rnnsearch", {**COMMANDED, "train.batch": 32}, 8000,
                       lambda said, done: command_links(said, done.split()))}


def pairs_of(name, data):
    if name == "commands":
        return {part: pairs for part, pairs in commands(data).items() if part != "jump"}
    pairs = {}
    for part, own in (("train", "train"), ("test", "valid")):
        with gzip.open(data / f"{name}/{own}.tsv.gz", "rt", encoding="utf-8") as texts:
            pairs[part] = [tuple(row.rstrip("\n").split("\t")[:2]) for row in texts]
    pairs["valid"] = pairs["train"][::40][:250]
    held = {right for _, right in pairs["valid"]}
    pairs["train"] = [pair for pair in pairs["train"] if pair[1] not in held]
    pairs["test"] = pairs["test"][:1000]
    return pairs


def prepared(folder, data, name):
    """Pairs of source and target to train, to choose by and to test, and files of them."""
    pairs = pairs_of(name, data)
    return pairs, {part: {side: lines(folder / f"{name}.{part}.{side}", [pair[at] for pair in own])
                          for at, side in enumerate(("src", "tgt"))} for part, own in pairs.items()}


def alignments(folder, data, updates, only):
    rows = []
    for name, (model, options, count, links) in chosen(JUDGED.items(), only):
        pairs, sets = prepared(folder, data, name)
        found = trials(folder, name, f"model aligned\nuse {model}\n", sets["train"], sets["valid"], updates or count, options)
        figures, exact = [], []
        for one in found:
            path = folder / f"{name}.safetensors"
            made = one.decode({"src": sets["test"]["src"]}, "--show", f"align={path}")
            right = [((pair[0].split() if name == "commands" else pair[0], pair[1]), weights)
                     for pair, weights, own in zip(pairs["test"], shown(path, "align"), made, strict=True) if own == pair[1]]
            exact.append(100 * len(right) / len(made))
            figures.append(judged(right, links))
        rows.append([name, all_minutes(found), spread(exact), *map(spread, zip(*figures, strict=True))])
    table(["task", "CPU time, three seeds", "exact, %", "alignment error rate, %", "at most one place beside, %",
           "weight on the right places, %", "of an even one, %"], rows)
