"""Checks that each promise of docs/RELIABILITY.md names a test that exists and runs.

  promises.py REPOSITORY

A promise is a row of a table. The last column links to a test, or to a folder of tests; a script
that it names has to exist.
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
page = root / "docs/RELIABILITY.md"
promises = wrong = 0
for number, line in enumerate(page.read_text(encoding="utf-8").splitlines(), 1):
    if not line.startswith("| ") or line.startswith("| promise |"):
        continue
    promises += 1
    checked = line.strip("|").split(" | ")[-1]
    tests = [(page.parent / link).resolve() for link in re.findall(r"\]\((\.\./test/[^)#]+|errors)\)", checked)]
    problems = [f"{test.relative_to(root.resolve())} is no test" for test in tests
                if not (test.is_dir() and any(test.iterdir()))
                and not (test.is_file() and "RUN:" in test.read_text(encoding="utf-8"))]
    problems += [f"{script} does not exist" for script in re.findall(r"`(scripts/[\w-]+)", line)
                 if not (root / script).exists()]
    if not tests and "`scripts/" not in checked and "same test" not in checked:
        problems.append("it names no test")
    for problem in problems:
        print(f"{page.name}:{number}: {problem}: {line[:60]}")
    wrong += bool(problems)
print(f"{promises} promises, {wrong} without a test")
sys.exit(wrong > 0)
