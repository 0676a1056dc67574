"""Known alignments, tours beside all others, and small grammars: what scripts/literature judges by."""

import collections
import itertools
import pathlib
import random
import struct
import sys
import tempfile

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(sys.argv[1]) / "scripts"))

from literature import page  # noqa: E402
from literature.alignments import command_links, date_links, edit_links, forward, judged  # noqa: E402
from literature.captions import TONE, pointed  # noqa: E402
from literature.languages import KneserNey, batch, perplexity  # noqa: E402
from literature.pictures import moved  # noqa: E402
from literature.scenes import is_near  # noqa: E402
from literature.structures import anticlockwise, delaunay, greedy, hull, length, nearest_tour, shortened  # noqa: E402
from literature.translation import translations  # noqa: E402
from literature.trees import linear, nested, rules_of  # noqa: E402

# What trains everything again knows the tasks and their rows.
assert ("emoji", pathlib.Path("runs/emoji"), ["soft", "switched", "none"]) in page.recorded(pathlib.Path("runs"))
assert ("sorting", pathlib.Path("runs/sorting"), []) in page.recorded(pathlib.Path("runs"))

# Which characters of a date say the digits of year, month and day.
assert date_links("5 Sept 2023", "2023-09-05") == {
    0: {7}, 1: {8}, 2: {9}, 3: {10}, 5: {2, 3, 4, 5}, 6: {2, 3, 4, 5}, 8: {0}, 9: {0}}
assert date_links("3/12/07", "2007-03-12") == {2: {5}, 3: {6}, 5: {0}, 6: {0}, 8: {2}, 9: {3}}
assert date_links("02.04.11", "2011-04-02") == {2: {6}, 3: {7}, 5: {3}, 6: {4}, 8: {0}, 9: {1}}
assert date_links("11/11/11", "2011-11-11") == {}, "month and day may be either number"
assert date_links("MON 3 OCT 1988", "1988-10-03")[5] == {6, 7, 8}

# Which letters a misspelling keeps, whichever of the shortest ways it was made.
assert edit_links("wich", "which") == {0: {0}, 2: {1}, 3: {2}, 4: {3}}
assert edit_links("speling", "spelling") == {0: {0}, 1: {1}, 2: {2}, 5: {4}, 6: {5}, 7: {6}}
assert edit_links("teh", "the") == {0: {0}}

# Each action of a command has its word.
assert command_links("turn left after jump right twice".split(), "I_TURN_RIGHT I_JUMP I_TURN_RIGHT I_JUMP I_TURN_LEFT".split()) == {
    0: {4}, 1: {3}, 2: {4}, 3: {3}, 4: {1}}
assert command_links("walk around left".split(), ["I_TURN_LEFT", "I_WALK"] * 4) == {k: {2 - 2 * (k % 2)} for k in range(8)}

# The second of three symbols looks back; what is behind a text does not count.
assert forward([[[0, 1, 0], [1, 0, 0], [0, 0, 1], [1, 0, 0]], [[1, 0, 0]] * 4], ["a b c", "a"]) == 50

# Rows of a batch are padded on the right, and their lengths follow.
with tempfile.TemporaryDirectory() as folder:
    written = pathlib.Path(folder) / "batch"
    batch(written, [[4, 1], [2, 3, 1]])
    assert struct.unpack("<8q", written.read_bytes()[-64:]) == (4, 1, 0, 2, 3, 1, 2, 3)
assert round(perplexity([0.5, 0.125]), 6) == 4

# One of two letters is found, and the other one missed by a place.
rate, near, share, even = judged([(("ab", "ab"), [[0.8, 0.1, 0.1], [0.6, 0.4, 0.0]])], lambda *_: {0: {0}, 1: {1}})
assert [round(value, 6) for value in (rate, near, share, even)] == [50, 100, 60, 33.333333]

# A thing at the top left of a box, and weights that are half there and half at the other end.
thing = {"x": 0, "y": 0, "size": 10}
there = [place for place in range(144) if is_near(place, thing)]
row = [0.6] + [0] * 142 + [0.4]
near, share, even = pointed([[row, row]], [[there]], ["red ring"], ["red ring"])
assert (near, round(share, 6), even) == (100, 60, 100 * len(there) / 144)
assert pointed([[row, row]], [[there]], ["red ring"], ["red bar"]) == [0, 0, 0], "only correct captions count"

assert TONE.fullmatch("ear , medium - dark skin tone").groups() == ("ear", "medium - dark")
assert TONE.fullmatch("couple , dark skin tone , light skin tone")[1] == "couple , dark skin tone"
assert not TONE.fullmatch("ear")

draw = random.Random(1)
for _ in range(5):
    inside = moved(draw, bytes([7]) * 784)
    rows = {inside[first:first + 60].strip(b"\0") for first in range(0, 60 * 60, 60)}
    assert len(inside) == 60 * 60 and rows == {b"", bytes([7]) * 28}, "the digit moves as a whole"
for _ in range(20):
    points = [(draw.random(), draw.random()) for _ in range(6)]
    best = min(length(points, [0, *way]) for way in itertools.permutations(range(1, 6)))
    tour = shortened(points)
    assert best <= length(points, tour) + 1e-9 <= length(points, nearest_tour(points)) + 2e-9
    assert tour == anticlockwise(points, tour) == anticlockwise(points, [0, *tour[:0:-1]])
    corners = hull(points)
    assert anticlockwise(points, corners) == corners
    # As many triangles as Euler's formula says.
    assert len(delaunay(points)) == len(greedy(points)) == 2 * len(points) - 2 - len(corners)
# A circle of the triangles at the shortest diagonal holds the fourth corner.
corners = [(5, 1), (6, 3), (2, 0), (3, 6)]
assert greedy(corners) == [(0, 1, 2), (1, 2, 3)] and delaunay(corners) == [(0, 1, 3), (0, 2, 3)]

# After every beginning, the chances of all words sum to one.
text = [[str(int(draw.paretovariate(0.7))) for _ in range(draw.randint(1, 9))] for _ in range(300)]
grams = KneserNey(text)
words = [gram[0] for gram in grams.counts[0]]
for before in ("<s>",), ("1", "2"), ("x", "1"), ("<s>", "1", "2", "1"):
    assert abs(sum(grams.chance((*before, word)) for word in words) - 1) < 1e-12

# A tree is written, read, and taken apart.
tags, shown = linear("(ROOT (S (NP-SBJ (DT the) (NN dog)) (VP (VBZ barks)) (. .)))")
assert tags == ["DT", "NN", "VBZ", "."]
assert " ".join(shown) == "(ROOT (S (NP XX XX )NP (VP XX )VP XX )S )ROOT"
assert nested(tags, shown) == ("ROOT", [("S", [("NP", ["DT", "NN"]), ("VP", ["VBZ"]), "."])])
pairs, singles = collections.Counter(), collections.Counter()
assert rules_of(nested(tags, shown), pairs, singles) == "ROOT+S"
assert pairs == {("ROOT+S", "NP", "S|NP"): 1, ("NP", "DT", "NN"): 1, ("S|NP", "VP+VBZ", "."): 1}
assert singles["VP+VBZ", "VBZ"] == 1

# Words that are said together translate each other.
said = [("the house".split(), "das haus".split()), ("the book".split(), "das buch".split()),
        ("a book".split(), "ein buch".split())]
assert translations(said) == [("a", "ein"), ("book", "buch"), ("house", "haus"), ("the", "das")]
print("agreed")
