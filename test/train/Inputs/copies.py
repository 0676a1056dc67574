"""copies.py COUNT SEED: lines `word<TAB>word` of one to five letters a to e."""

import random
import sys

numbers = random.Random(int(sys.argv[2]))
for _ in range(int(sys.argv[1])):
    word = "".join(numbers.choices("abcde", k=numbers.randint(1, 5)))
    print(f"{word}\t{word}")
