"""Hulls, tours, trees and language models in translators: what literature-results measures of them."""

import gzip
import itertools
import math
import random
import re
import shutil
import zlib

from literature.signals import BLIND
from literature.training import ADAM, SEEDS, Training, all_minutes, chosen, lines, rates, spread, table, trials


# Hulls and tours: the outputs are places of the input.

def turn(a, b, c):
    return (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])


def hull(points):
    """Places of the hull against the clock, from the leftmost (Andrew, 1979)."""
    def half(order):
        chain = []
        for k in order:
            while len(chain) > 1 and turn(points[chain[-2]], points[chain[-1]], points[k]) <= 0:
                chain.pop()
            chain.append(k)
        return chain[:-1]
    order = sorted(range(len(points)), key=points.__getitem__)
    return half(order) + half(order[::-1])


def length(points, tour):
    return sum(math.dist(points[a], points[b]) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))


def shortest_tours(sets):
    """Of each set, from the first place and against the clock."""
    found = [None] * len(sets)
    for size in sorted({len(points) for points in sets}):
        chosen = [at for at, points in enumerate(sets) if len(points) == size]
        for at, tour in zip(chosen, shortest_of_size([sets[at] for at in chosen]), strict=True):
            found[at] = tour
    return found


def shortest_of_size(sets):
    """By dynamic programming over subsets (Held and Karp, 1962), for all sets of one size at once."""
    import numpy as np
    points = np.array(sets)
    away = np.sqrt(((points[:, :, None] - points[:, None]) ** 2).sum(-1))
    rest = points.shape[1] - 1  # places besides the first
    least = np.full((1 << rest, len(sets), rest), np.inf)
    last = np.zeros(least.shape, np.int8)
    for k in range(rest):
        least[1 << k, :, k] = away[:, 0, k + 1]
    for subset in range(1, 1 << rest):
        for k in range(rest):
            if subset >> k & 1 and subset != 1 << k:
                ways = least[subset ^ (1 << k)] + away[:, 1:, k + 1]
                last[subset, :, k] = ways.argmin(1)
                least[subset, :, k] = ways.min(1)
    ends = (least[-1] + away[:, 1:, 0]).argmin(1)
    tours = []
    for row, k in enumerate(map(int, ends)):
        subset, tour = (1 << rest) - 1, []
        while subset:
            tour.append(k + 1)
            subset, k = subset ^ (1 << k), int(last[subset, row, k])
        tours.append(anticlockwise(sets[row], [0, *tour]))
    return tours


def anticlockwise(points, tour):
    twice = sum(turn((0, 0), points[a], points[b]) for a, b in zip(tour, tour[1:] + tour[:1], strict=True))
    return tour if twice > 0 else [tour[0], *tour[:0:-1]]


def nearest_tour(points):
    left, tour = set(range(1, len(points))), [0]
    while left:
        tour.append(min(left, key=lambda k: math.dist(points[k], points[tour[-1]])))
        left.remove(tour[-1])
    return tour


def each(answer):
    return lambda sets: [answer(points) for points in sets]


def plane(folder, answers, parts, ends=False, from_left=False):
    """The points of each part, numbered by chance or `from_left`, and files of them and of their `answers`. Where it
    `ends`, the place after the last point ends an answer."""
    draw, sets = random.Random(1), {}
    for part, count, low, high in parts:
        points = [[(draw.random(), draw.random()) for _ in range(draw.randint(low, high))] for _ in range(count)]
        points = list(map(sorted, points)) if from_left else points
        shown = [" ".join(f"{x:.4f},{y:.4f}" for x, y in row) for row in points]
        said = [" ".join(map(str, answer + [len(row)] * ends)) for row, answer in zip(points, answers(points), strict=True)]
        sets[part] = (points, {"point": lines(folder / f"{part}.points", shown),
                               "out": lines(folder / f"{part}.out", said)})
    return sets


def places(row):
    return [int(word) for word in row.split()]


def is_simple(points, polygon):
    """Whether no two sides cross, as those of a hull do not."""
    if len(polygon) < 3 or len(set(polygon)) < len(polygon):
        return False
    corners = [points[k] for k in polygon]
    sides = list(zip(corners, corners[1:] + corners[:1], strict=True))
    return not any(itertools.starmap(cross, itertools.combinations(sides, 2)))


def cross(side, other):
    (a, b), (c, d) = side, other
    return turn(a, b, c) * turn(a, b, d) < 0 and turn(c, d, a) * turn(c, d, b) < 0


def area(points, polygon):
    corners = [points[k] for k in polygon]
    return abs(sum(a[0] * b[1] - a[1] * b[0] for a, b in zip(corners, corners[1:] + corners[:1], strict=True))) / 2


# The decoder sees directions: from the last corner to each point, and of the last side. The end has that to the first corner.
AIMED = """model aimed
use pointer
away[t, i < N+1] = if t == 0 then zeros(2) else (if i < N then point[i] else point[out[0]]) - point[out[t-1]]
far[t,i] = sqrt(dot(away[t,i], away[t,i]) + 0.000001)
way[t,i] = away[t,i] / far[t,i]
last[t]  = if t < 2 then zeros(2) else way[t-1,out[t-1]]
x[t]     = point[out[t-1]] ++ last[t];   x[0] = start ++ zeros(2)
param w3 : linear(H, bias = false)
energy[t, i < N+1] = dot(v, tanh(w1(note[i]) + w2(d[t]) + w3(way[t,i])))
"""


def hulls(folder, data, updates, only):
    sets = plane(folder, each(hull), (("train", 300000, 5, 10), ("valid", 500, 5, 10), ("test", 1000, 5, 10),
                                      ("more", 500, 12, 15)), ends=True)
    rows = []
    for name, label, spec, count in chosen((
            ("pointer", "`pointer`", "model hulls\nuse pointer\n", 16000),
            ("aimed", "the same, which sees directions", AIMED, 16000), ("blind", "`blind`", BLIND, 16000)), only):
        found = trials(folder, name, spec, sets["train"][1], sets["valid"][1], updates or count,
                       {"H": 128, **ADAM, "train.batch": 64, "train.rate": f"cosine({count}, 0.002)"})
        cells = [label, all_minutes(found)]
        for part in ("test", "more"):
            points, files = sets[part]
            wanted = [row[:-1] for row in map(places, files["out"].read_text().splitlines())]
            cells += hull_figures(points, wanted, [one.decode({"point": files["point"]}) for one in found])
        rows.append(cells)
    head = ["exact", "polygons", "of the area"]
    table(["model", "CPU time, three seeds",
           *(f"{what}, {size} points, %" for size in ("5 to 10", "12 to 15") for what in head)], rows)


def hull_figures(points, wanted, trained):
    """How many are exact and how many are polygons, and the area that these cover. The paper takes an area for nothing
    where the polygon is none."""
    exact, polygons, covered = [], [], []
    for made in trained:
        hulls_made = list(map(places, made))
        areas = [area(p, own) / area(p, hull(p)) for p, own in zip(points, hulls_made, strict=True) if is_simple(p, own)]
        exact.append(100 * sum(a == b for a, b in zip(hulls_made, wanted, strict=True)) / len(points))
        polygons.append(100 * len(areas) / len(points))
        covered.append(100 * sum(areas) / max(1, len(areas)))
    return map(spread, (exact, polygons, covered))


def shortened(points):
    """That of going to the nearest place, and turning parts round while that makes it shorter (Croes, 1958)."""
    tour, count = nearest_tour(points), len(points)
    gains = True
    while gains:
        gains = False
        for i, j in itertools.combinations(range(1, count), 2):
            a, b, c, d = tour[i - 1], tour[i], tour[j], tour[(j + 1) % count]
            before = math.dist(points[a], points[b]) + math.dist(points[c], points[d])
            if math.dist(points[a], points[c]) + math.dist(points[b], points[d]) < before - 1e-9:
                tour[i:j + 1] = tour[i:j + 1][::-1]
                gains = True
    return anticlockwise(points, tour)


# A place is chosen once, in training too: what was chosen has a logit of -inf, and so has the end before the last place.
ONCE = """model tour
use pointer
gone[t,i] = if i < N then any[u where u < t](out[u] == i) else t < N
energy[t, i < N+1] = if gone[t,i] then -inf else score[t,i]
decode { valid[t] = true }
"""
POINTED = ONCE + "score[t, i < N+1] = dot(v, tanh(w1(note[i]) + w2(d[t])))\n"
BLIND_TOUR = ONCE + "param place : matrix(64, H)\nscore[t, i < N+1] = dot(place[min(i, 63)], d[t])\n"


def tours(folder, data, updates, only):
    sets = plane(folder, shortest_tours, (("train", 60000, 5, 10), ("valid", 300, 5, 10), ("test", 500, 5, 10),
                                          ("five", 500, 5, 5), ("ten", 500, 10, 10), ("more", 300, 12, 12)), ends=True,
                 from_left=True)
    tested = ("test", "five", "ten", "more")
    rows = []
    for name, spec in chosen((("pointer", POINTED), ("blind", BLIND_TOUR)), only):
        found = trials(folder, name, spec, sets["train"][1], sets["valid"][1], updates or 5000,
                       {"H": 128, **ADAM, "train.batch": 64, "train.rate": "cosine(5000, 0.002)"})
        cells = [f"`{name}`", all_minutes(found)]
        for part in tested:
            points, files = sets[part]
            made = [list(map(places, one.decode({"point": files["point"]}))) for one in found]
            cells.append(spread([longer(points, own, files) for own in made], 3))
        rows.append(cells)
    for name, rule in (("the nearest place that is left", nearest_tour), ("the same, parts turned round", shortened)):
        rows.append([name, "", *(f"{longer(points, each(rule)(points), files):.3f}"
                                 for points, files in (sets[part] for part in tested))])
    table(["model", "CPU time, three seeds", "5 to 10 points", "5 points", "10 points", "12 points"], rows)


def longer(points, made, files):
    """The length of all tours by that of the shortest."""
    best = [places(row)[:-1] for row in files["out"].read_text().splitlines()]
    assert all(sorted(tour) == list(range(len(p))) for p, tour in zip(points, made, strict=True))
    return sum(map(length, points, made)) / sum(map(length, points, best))


def long_tours(folder, data, updates, only):
    sets = plane(folder, each(shortened), (("train", 60000, 5, 20), ("valid", 300, 5, 20), ("test", 500, 5, 20),
                                           ("twenty", 300, 20, 20)), ends=True, from_left=True)
    chosen(("pointer",), only)
    found = trials(folder, "pointer", POINTED, sets["train"][1], sets["valid"][1], updates or 5000,
                   {"H": 128, **ADAM, "train.batch": 64, "train.rate": "cosine(5000, 0.002)"})
    cells, near = ["`pointer`", all_minutes(found)], ["the nearest place that is left", ""]
    for part in ("test", "twenty"):
        points, files = sets[part]
        made = [list(map(places, one.decode({"point": files["point"]}))) for one in found]
        cells.append(spread([longer(points, own, files) for own in made], 3))
        near.append(f"{longer(points, each(nearest_tour)(points), files):.3f}")
    table(["model", "CPU time, three seeds", "5 to 20 points", "20 points"], [cells, near])


# Triangulations: the points may be chosen again.

FREE = "decode { valid[t] = true }\n"


def delaunay(points):
    """The triangles whose circle has no other point in it, in the order of their places."""
    def inside(a, b, c, d):
        rows = [(p[0] - d[0], p[1] - d[1], (p[0] - d[0]) ** 2 + (p[1] - d[1]) ** 2) for p in (a, b, c)]
        (x1, y1, z1), (x2, y2, z2), (x3, y3, z3) = rows
        volume = x1 * (y2 * z3 - y3 * z2) - y1 * (x2 * z3 - x3 * z2) + z1 * (x2 * y3 - x3 * y2)
        return volume * turn(a, b, c) > 0
    return [triple for triple in itertools.combinations(range(len(points)), 3)
            if not any(inside(*(points[k] for k in triple), points[other])
                       for other in range(len(points)) if other not in triple)]


def greedy(points):
    """The triangles of the shortest edges that cross no shorter one."""
    edges = set()
    pairs = itertools.combinations(range(len(points)), 2)
    for a, b in sorted(pairs, key=lambda pair: math.dist(points[pair[0]], points[pair[1]])):
        if not any(cross((points[a], points[b]), (points[c], points[d])) for c, d in edges):
            edges.add((a, b))

    def within(corners, point):
        a, b, c = corners
        return len({turn(*pair, point) > 0 for pair in ((a, b), (b, c), (c, a))}) == 1
    return [triple for triple in itertools.combinations(range(len(points)), 3)
            if edges.issuperset(itertools.combinations(triple, 2))
            and not any(within([points[k] for k in triple], points[other]) for other in range(len(points)) if other not in triple)]


def triangles(folder, data, updates, only):
    sets = plane(folder, each(lambda points: [k for triple in delaunay(points) for k in triple]),
                 (("train", 60000, 5, 7), ("valid", 300, 5, 7), ("test", 500, 5, 5), ("seven", 500, 7, 7),
                  ("more", 300, 8, 8)), ends=True, from_left=True)
    chosen(("pointer",), only)
    found = trials(folder, "pointer", f"model triangles\nuse pointer\n{FREE}", sets["train"][1], sets["valid"][1],
                   updates or 5000, {"H": 128, **ADAM, "train.batch": 64, "train.rate": "cosine(5000, 0.002)"})
    rows = [["`pointer`", all_minutes(found)], ["the shortest edges that cross no shorter one", ""]]
    for part in "test", "seven", "more":
        points, files = sets[part]
        wanted = list(map(delaunay, points))
        network = []
        for one in found:
            made = map(places, one.decode({"point": files["point"]}))
            network.append([[tuple(row[at:at + 3]) for at in range(0, len(row) - 2, 3)] for row in made])
        for row, answers in zip(rows, (network, [list(map(greedy, points))]), strict=True):
            row += map(spread, zip(*(triangle_figures(made, wanted) for made in answers), strict=True))
    table(["model", "CPU time, three seeds",
           *(f"{size} points, {what}, %" for size in (5, 7, 8) for what in ("exact", "triangles found"))], rows)


def triangle_figures(made, wanted):
    """Per cent of the triangulations that are exact, and of all triangles that are found."""
    exact = sum(set(a) == set(b) for a, b in zip(made, wanted, strict=True))
    found = sum(len(set(a) & set(b)) for a, b in zip(made, wanted, strict=True))
    return 100 * exact / len(wanted), 100 * found / sum(map(len, wanted))


# A translator with a language model.

SHALLOW = """use nmt = rnnsearch(src = src, tgt = tgt) from "nmt/model.safetensors" frozen
use lm  = rnnlm(word = tgt)               from "lm/model.safetensors"  frozen
data src[S] : sentence
data tgt[T] : sentence of lm.word.vocab
tgt[t] ~ categorical(nmt.logits[t] + 0.2 * lm.out(lm.h[lm.L-1, t]))
"""


def fusion(folder, data, updates, only):
    with gzip.open(data / "tatoeba_en_fr_5k/train.tsv.gz", "rt", encoding="utf-8") as rows:
        pairs = [[" ".join(re.findall(r"\w+|[^\w\s]", side.lower())) for side in row.split("\t")[:2]] for row in rows]
    # Sources that the training has are not translated; a quarter of the others chooses weights.
    held = {src for src, _ in pairs[::12]}
    parts = {"train": [], "valid": [], "test": []}
    for pair in pairs:
        parts[("valid" if zlib.crc32(pair[0].encode()) % 4 == 0 else "test") if pair[0] in held else "train"].append(pair)
    sets = {part: {side: lines(folder / f"{part}.{side}", [pair[at] for pair in own])
                   for at, side in enumerate(("src", "tgt"))} for part, own in parts.items()}
    told = {part: {"word": own["tgt"]} for part, own in sets.items()}
    right = sets["test"]["tgt"].read_text().splitlines()
    sizes, small = {"E": 48, "H": 64, "A": 64, "M": 48}, {"E": 48, "H": 64}
    inner = {f"{use}.{key}": value for use, own in (("nmt", sizes), ("lm", small)) for key, value in own.items()}
    kinds = chosen((("nmt", "none, `rnnsearch`", "use rnnsearch\n", {**sizes, **ADAM, "train.batch": 32}, 1500),
                    # Nothing of it is trained: an update finds the vocabularies, and validates.
                    ("shallow", "shallow: 0.2 times its logits added", SHALLOW, inner, 0),
                    ("deep", "`deep_fusion`: its state through a gate, both frozen", "use deep_fusion\n",
                     {**inner, "M": 48, **ADAM, "train.batch": 32}, 1500)), only)
    found = {name: [] for name, *_ in kinds}
    for seed in SEEDS:
        own = folder / str(seed)  # the specs name the weights that they take
        own.mkdir(exist_ok=True)

        def trained(name, spec, parts, count, options, own=own, seed=seed):
            return Training(own, name, f"model {name}\n{spec}", parts["train"], parts["valid"],
                            min(updates or count, count), options, more=["--seed", seed])
        before = trained("lm", "use rnnlm\n", told, 1000, {**small, **ADAM, "train.batch": 32, "drop": 0.2})
        for name, _, spec, options, count in kinds:
            one = trained(name, spec, sets, max(1, count), options)
            found[name].append(one)
            if name == "nmt":
                for part in (before, one):
                    shutil.copytree(part.out, own / "specs" / part.out.name, dirs_exist_ok=True)
    rows = [[title, all_minutes(found[name]), spread([one.found["valid_perplexity"] for one in found[name]], 2),
             spread([rates(one.decode({"src": sets["test"]["src"]}, "--beam", 4), right, folder, "bleu")
                     for one in found[name]])] for name, title, *_ in kinds]
    table(["language model", "CPU time, three seeds", "perplexity", "BLEU"], rows)
