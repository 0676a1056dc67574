"""Pictures of six places, two of which show a thing, and what they show from the
first place to the last. The mean of a picture says what is shown, but not in
which order: a captioner has to look, at one place for each word.

    captions.py COUNT SEED FOLDER

writes FOLDER/SEED.safetensors, the pictures, and FOLDER/SEED.txt, the words.
"""

import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, write  # noqa: E402

THINGS = "ant bee cat dog elk fox".split()
PLACES, SIZE = 6, 12  # a thing, and which place it is


def picture(draw):
    shown = draw.sample(range(len(THINGS)), 2)
    places = sorted(draw.sample(range(PLACES), 2))
    values = [[draw.gauss(0, 0.1) for _ in range(SIZE)] for _ in range(PLACES)]
    for place in range(PLACES):
        values[place][len(THINGS) + place] += 1
    for thing, place in zip(shown, places):
        values[place][thing] += 1
    return [v for row in values for v in row], " ".join(THINGS[k] for k in shown)


count, seed, folder = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
draw = random.Random(seed)
pictures, words = zip(*(picture(draw) for _ in range(count)))
write(f"{folder}/{seed}.safetensors", {
    "a": Tensor("F64", [count, PLACES, SIZE], [v for p in pictures for v in p]),
    "a.length": Tensor("I64", [count], [PLACES] * count)})
with open(f"{folder}/{seed}.txt", "w") as file:
    file.write("\n".join(words) + "\n")
