"""Runs the examples of docs/errors/: each wrong one gives the code of its
section, and each right one gives no error and no warning.

  explain.py PAGES CODES.def FOLDER
"""

import concurrent.futures
import pathlib
import re
import subprocess
import sys

SECTION = re.compile(
    r"^## (\w+): .*\n\n(?:.+\n)+\nWrong:\n\n```(fovea|sh)\n([^`]*)```\n\n"
    r"Right:\n\n```\2\n([^`]*)```\n", re.M)
FOUND = re.compile(r"(?:error|warning): .*\[([EW]\d{4})\]$", re.M)


def run(name, language, text, folder):
    """Returns what an example prints on standard error, and its exit code."""
    if language == "sh":
        own = folder / name
        own.mkdir()
        (own / "models").symlink_to(folder / "models")
        command, where = ["sh", "-ec", text], own
    else:
        (folder / f"{name}.fov").write_text(text)
        command, where = ["fovea", "check", f"{name}.fov"], folder
    result = subprocess.run(command, cwd=where, capture_output=True, text=True)
    return result.stderr, result.returncode


def check(section, folder):
    """Returns the faults of a section."""
    code, language, wrong, right = section
    said, exit_code = run(code + "-wrong", language, wrong, folder)
    faults = []
    if code not in FOUND.findall(said) or (exit_code == 0) == (code[0] == "E"):
        faults.append(f"{code}: the wrong example gives\n{said}")
    said, exit_code = run(code + "-right", language, right, folder)
    if "error:" in said or "warning:" in said or exit_code != 0:
        faults.append(f"{code}: the right example gives\n{said}")
    return faults


def main():
    pages, codes, folder = map(pathlib.Path, sys.argv[1:])
    sections = [match.groups() for page in sorted(pages.glob("*.md"))
                for match in SECTION.finditer(page.read_text())]
    declared = re.findall(r"^CODE\((\w+), \w+\)", codes.read_text(), re.M)
    explained = [section[0] for section in sections]
    faults = [f"{code} is declared, but not explained once"
              for code in declared if explained.count(code) != 1]
    faults += [f"{code} is explained, but not declared"
               for code in explained if code not in declared]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        for found in pool.map(lambda each: check(each, folder), sections):
            faults += found
    print("\n".join(faults) or f"{len(sections)} codes")
    return bool(faults)


if __name__ == "__main__":
    sys.exit(main())
