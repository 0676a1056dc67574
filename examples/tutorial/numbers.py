#!/usr/bin/env python3
"""Writes numbers as English and German say them, in two columns: what
docs/TUTORIAL.md learns to translate. German says the ones before the tens.

  numbers.py TRAIN.tsv VALID.tsv [COUNT]     COUNT pairs to train on (20000)
"""

import random
import sys

ENGLISH = ("zero one two three four five six seven eight nine ten eleven twelve "
           "thirteen fourteen fifteen sixteen seventeen eighteen nineteen").split()
ENGLISH_TENS = ". . twenty thirty forty fifty sixty seventy eighty ninety".split()
GERMAN = ("null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf "
          "dreizehn vierzehn fünfzehn sechzehn siebzehn achtzehn neunzehn").split()
GERMAN_TENS = ". . zwanzig dreißig vierzig fünfzig sechzig siebzig achtzig neunzig".split()


def english(n):
    if n >= 1000:
        return english(n // 1000) + ["thousand"] + (english(n % 1000) if n % 1000 else [])
    if n >= 100:
        return [ENGLISH[n // 100], "hundred"] + (english(n % 100) if n % 100 else [])
    if n < 20:
        return [ENGLISH[n]]
    return [ENGLISH_TENS[n // 10]] + ([ENGLISH[n % 10]] if n % 10 else [])


def german(n, last="eins"):
    """`eins` is `ein` before tens, hundreds and thousands."""
    if n >= 1000:
        return german(n // 1000, "ein") + ["tausend"] + (german(n % 1000) if n % 1000 else [])
    if n >= 100:
        return [german(n // 100, "ein")[0], "hundert"] + (german(n % 100, last) if n % 100 else [])
    if n < 20:
        return [last if n == 1 else GERMAN[n]]
    ones = [german(n % 10, "ein")[0], "und"] if n % 10 else []
    return ones + [GERMAN_TENS[n // 10]]


def main():
    train, valid = sys.argv[1:3]
    count = int(sys.argv[3]) if len(sys.argv) > 3 else 20000
    drawn = random.Random(1).sample(range(1000000), count + 500)
    for path, numbers in ((train, drawn[500:]), (valid, drawn[:500])):
        with open(path, "w", encoding="utf-8") as file:
            for n in numbers:
                file.write(" ".join(english(n)) + "\t" + " ".join(german(n)) + "\n")


main()
