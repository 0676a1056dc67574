"""Compares the words of the editor's grammar with those of the lexer.

    editor-words.py REPOSITORY
"""

import json
import pathlib
import re
import sys

root = pathlib.Path(sys.argv[1])
tokens = (root / "frontends/fov/syntax/Tokens.def").read_text()
editor = root / "editors/vscode"
grammar = json.loads((editor / "syntaxes/fovea.tmLanguage.json").read_text())
json.loads((editor / "language-configuration.json").read_text())
package = json.loads((editor / "package.json").read_text())
for part in package["contributes"]["languages"]:
    assert (editor / part["configuration"]).is_file() and ".fov" in part["extensions"]
for part in package["contributes"]["grammars"]:
    assert (editor / part["path"]).is_file()
    assert part["scopeName"] == grammar["scopeName"]


def check(group, lexer, theirs):
    if set(lexer) == set(theirs) and lexer:
        print(f"{group}: {len(lexer)} words agree")
    else:
        print(f"{group}: lexer only {sorted(set(lexer) - set(theirs))}, "
              f"editor only {sorted(set(theirs) - set(lexer))}")


for macro, group in [("STATEMENT", "statement"), ("KEYWORD", "word"),
                     ("CONSTANT", "constant"), ("REDUCER", "reducer"),
                     ("NORMALISER", "normaliser")]:
    listed = re.search(r"\(([a-z_|]+)\)", grammar["repository"][group]["match"])
    check(group, re.findall(rf"^{macro}\((\w+)\)", tokens, re.M),
          listed[1].split("|"))

declarations = (root / "frontends/fov/syntax/ParseDeclarations.cpp").read_text()
types = re.search(r"typeWords\[\] = \{(.*?)\}", declarations, re.S)[1]
listed = re.search(r"\(([a-z|]+)\)", grammar["repository"]["type"]["match"])
check("type", re.findall(r'"(\w+)"', types), listed[1].split("|"))

# Every sign that the editor colours is a sign, and every operator is coloured.
operators = [text for name, text in re.findall(r'^SIGN\((\w+), "(.+)"\)', tokens, re.M)
             if text not in ";,.()[]{}"]
coloured = re.compile(grammar["repository"]["sign"]["match"])
check("sign", operators, [text for text in operators if coloured.fullmatch(text)])
