"""The comparison of the golden tests never calls NaN equal to anything."""

import math

from tensors import difference, difference_of_largest

for bad in math.nan, math.inf, -math.inf:
    for got, want in ([bad], [1.0]), ([1.0], [bad]), ([bad], [bad]), ([1.0, bad, 1.0], [1.0, 2.0, 1.0]):
        assert difference(got, want) == math.inf, (got, want)
        assert difference_of_largest(got, want) == math.inf, (got, want)
assert difference([1.0], [1.0, 2.0]) == math.inf
assert difference([1.0, 2.0], [1.0, 2.0 + 1e-9]) > 1e-10
assert difference([1.0, 2.0], [1.0, 2.0]) == 0
assert difference_of_largest([1.0], [1.0, 2.0]) == math.inf
assert difference_of_largest([100.0, 0.1], [100.0, 0.0]) <= 1e-3
