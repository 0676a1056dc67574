#!/usr/bin/env python3
"""Compares the words that docs/LANGUAGE.md lists with those of the sources.

    words.py

Each table of section 11 must have one row for each word, in code: a function, a
module or a helper of the prelude with its whole signature. The table of modules
also lists their parameters. Prints one line per table; fails if a word is missing,
or unknown.
"""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
FRONTEND = ROOT / "frontends/fov"
# What a flag of `linear`, `gru` or `lstm` selects: linear(n, bias = false).
VARIANT = re.compile(r"_(unbiased|scalar|cho|peephole)\b")


def text(name):
    return (FRONTEND / name).read_text()


def strings(source, begin, end="};"):
    """The literals of the list after `begin`."""
    start = source.index(begin) + len(begin)
    return re.findall(r'"(\w+)"', source[start : source.index(end, start)])


def first_of_each(source, begin):
    """The first literal of each entry `{"name", ..}` of the list after `begin`."""
    start = source.index(begin) + len(begin)
    return re.findall(r'^ {6}\{"(\w+)",', source[start : source.index("};", start)], re.M)


def tokens(macro):
    return re.findall(rf"^{macro}\((\w+)\)", text("syntax/Tokens.def"), re.M)


def prelude():
    """The signatures of the modules, and of the functions, of the prelude."""
    modules, functions = [], []
    for part in re.split(r"^(?=def )", text("prelude.fov"), flags=re.M)[1:]:
        # The second parentheses are the arguments, if there are two.
        signature = re.match(r"def (\w+(?:\((?:[^()]|\([^()]*\))*\)){1,2})", part)[1]
        if VARIANT.search(signature.split("(")[0]):
            continue
        (modules if re.search(r"^  param ", part, re.M) else functions).append(signature)
    return modules, functions


def parameters():
    """The paths of the parameters and states of each module of the prelude."""
    result = {}
    for part in re.split(r"^(?=def )", text("prelude.fov"), flags=re.M)[1:]:
        paths = []
        for line in re.findall(r"^  (?:param|state) (.*)$", part, re.M):
            # `a, b : vector(n), c : linear(m, bias = false)`
            for names, kind, rest in re.findall(r"((?:[a-z]\w*, )*[a-z]\w*) : (\w+)(\((?:[^()]|\([^()]*\))*\))", line):
                ends = [""] if kind != "linear" else [".weight"] if "bias = false" in rest else \
                    [".weight", ".bias"]
                paths += [name + end for name in names.split(", ") for end in ends]
        result[re.match(r"def (\w+)", part)[1]] = paths
    return result


def misnamed(page):
    """The modules whose row lists other parameters than the prelude gives them."""
    ours, wrong = parameters(), []
    for signature, _, names in re.findall(r"^\| (`.*?) \| (.*) \| (.*) \|$",
                                          page[page.index("| module |"):page.index("| distribution |")], re.M):
        for name in re.findall(r"`(\w+)\(", signature):
            if name in ours and re.findall(r"`([^`]+)`", names) != ours[name]:
                wrong.append(f"{name} has {', '.join(ours[name])}")
    return wrong


def listed(page, header):
    """The first cells of the table with this header, without their backquotes."""
    rows = re.search(rf"^\| {re.escape(header)} \|.*\n\|[-| ]+\n((?:\|.*\n)+)", page, re.M)
    if not rows:
        return []
    cells = [row.split("|")[1].strip() for row in rows[1].splitlines()]
    return [word for cell in cells for word in re.findall(r"`([^`]+)`", cell)]


def words():
    options, choices = text("Options.cpp"), text("elaborate/ElaborateChoices.cpp")
    modules, functions = prelude()
    reducers = tokens("REDUCER") + tokens("NORMALISER")
    constants = ["vector", "matrix", "tensor", "true", "false", "inf"]
    known = [word for begin in ("std::vector<Distribution> all = {", "std::vector<Component> all = {")
             for word in first_of_each(choices, begin)]
    names = "static constexpr StringRef names[] = {"
    lists = [strings(part, "{") for part in options.split(names.rstrip("{"))[1:]]
    builtins, estimators, treatments, metrics = lists
    return {
        "function": [name for name in builtins if name not in reducers + constants] + functions,
        "reducer": reducers,
        "module": ["vector(n)", "matrix(n, m)", "tensor(n, m, k, ..)", *modules],
        "distribution": sorted(set(known), key=known.index),
        "option of `train`": strings(options, "StringRef train[] = {"),
        "option of `decode`": strings(options, "StringRef decode[] = {"),
        "optimiser": strings(options, '{"optimiser",\n       {', "}"),
        "treatment in `train`": estimators,
        "treatment in `decode`": treatments,
        "metric": metrics,
        "vocabulary": strings(text("elaborate/ElaborateData.cpp"), "StringRef kinds[] = {"),
    }


def main():
    page, is_wrong = (ROOT / "docs/LANGUAGE.md").read_text(), False
    for header, ours in words().items():
        theirs = listed(page, header)
        missing, unknown = ([w for w in a if w not in b] for a, b in ((ours, theirs), (theirs, ours)))
        if missing or unknown or not ours:
            is_wrong = True
            print(f"{header}: missing {missing}, unknown {unknown}")
        else:
            print(f"{header}: {len(ours)} words agree")
    for mistake in misnamed(page):
        is_wrong = True
        print(f"module: {mistake}")
    return is_wrong


if __name__ == "__main__":
    sys.exit(main())
