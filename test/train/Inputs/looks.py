"""How many captions are right, and how many words look at what they say.

    looks.py SEED SAID WEIGHTS

The pictures of captions.py, what was said of them, and the weights of the
attention for each word.
"""

import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import read  # noqa: E402

seed, said, weights = sys.argv[1:]
pictures, align = read(f"{seed}.safetensors")["a"], read(weights)["align"]
with open(f"{seed}.txt") as wanted, open(said) as given:
    wanted, given = wanted.read().splitlines(), given.read().splitlines()
count, places, size = pictures.shape
right = sum(a == b for a, b in zip(wanted, given, strict=True))
looks = 0
for n in range(count):
    things = [pictures.values[(n * places + i) * size :][: size - places] for i in range(places)]
    shown = [i for i, values in enumerate(things) if max(values) > 0.6]
    for t, place in enumerate(shown):
        row = align.values[(n * align.shape[1] + t) * places :][:places]
        looks += row.index(max(row)) == place
print(f"right words: {100 * right / count:.0f} %")
print(f"right places: {100 * looks / (2 * count):.0f} %")
