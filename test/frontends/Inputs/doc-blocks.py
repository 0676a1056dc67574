"""Writes each ```fovea block of a page to a file of a folder.

    doc-blocks.py PAGE FOLDER

A block without a header gets one, on the line of its fence.
"""

import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1]).read_text()
folder = pathlib.Path(sys.argv[2])
folder.mkdir(parents=True, exist_ok=True)
for old in folder.iterdir():
    old.unlink()
for number, match in enumerate(re.finditer(r"^```fovea\n(.*?)^```$", page, re.M | re.S)):
    text = match[1]
    if not re.search(r"^model ", text, re.M):
        text = "model block\n" + text
    (folder / f"{number}.fov").write_text(text)
