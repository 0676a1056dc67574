"""Checks that each C++ and TableGen excerpt of docs/NEW_BACKEND.md is in targets/test.

    new_backend.py SOURCE_DIRECTORY
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
sources = [path.read_text() for path in sorted((root / "targets/test").iterdir())]
excerpts = re.findall(r"```(?:cpp|tablegen)\n(.*?)```", (root / "docs/NEW_BACKEND.md").read_text(), re.S)
for excerpt in excerpts:
    if not any(excerpt in source for source in sources):
        sys.exit(f"targets/test does not contain:\n{excerpt}")
print(f"{len(excerpts)} excerpts")
