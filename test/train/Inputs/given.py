"""given.py FILE KEY=JSON: changes an entry of a JSON object."""

import json
import sys

key, value = sys.argv[2].split("=", 1)
with open(sys.argv[1]) as file:
    given = json.load(file)
given[key] = json.loads(value)
with open(sys.argv[1], "w") as file:
    json.dump(given, file)
