"""Compares the words that docs/LANGUAGE.md lists with those of the lexer.

    doc-words.py REPOSITORY
"""

import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
tokens = (root / "frontends/fov/syntax/Tokens.def").read_text()
page = (root / "docs/LANGUAGE.md").read_text()


def check(what, listed, macros):
    lexer = re.findall(rf"^(?:{macros})\((\w+)\)", tokens, re.M)
    ours = re.search(rf"{listed}: `([^`]+)`", page)[1].split()
    if sorted(ours) == sorted(lexer):
        print(f"{what} agree")
    else:
        print(f"{what}: {sorted(set(ours) ^ set(lexer))}")


check("reserved words", "Reserved words", "KEYWORD|STATEMENT|CONSTANT")
check("reducers", "Reducers", "REDUCER")
check("normalisers", "Normalisers", "NORMALISER")
