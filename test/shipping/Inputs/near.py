"""near.py OLD NEW: compares the words of two files; numbers may differ by 1e-4."""

import itertools
import sys

old, new = (open(name).read().split() for name in sys.argv[1:])
for before, after in itertools.zip_longest(old, new):
    try:
        is_same = abs(float(before) - float(after)) <= 1e-4
    except (TypeError, ValueError):
        is_same = before == after
    assert is_same, (before, after)
