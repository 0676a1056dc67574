"""less.py FILE OTHER LEAST: fails unless the number in FILE is less than that in
OTHER, by LEAST at least."""

import sys

first, second = (float(open(name).read()) for name in sys.argv[1:3])
if second - first < float(sys.argv[3]):
    sys.exit(f"{first} is less than {second} by {second - first}")
