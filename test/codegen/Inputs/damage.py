"""Damages every entry of a cache in one way: damage.py WAY FOLDER."""

import pathlib
import sys

way, folder = sys.argv[1:]
entries = sorted(pathlib.Path(folder).glob("llvmcache-*"))
contents = [entry.read_bytes() for entry in entries]
for number, entry in enumerate(entries):
    content = contents[number]
    if way == "cut":
        content = content[:-1]
    elif way == "flip":
        content = content[:-9] + bytes([content[-9] ^ 1]) + content[-8:]
    elif way == "empty":
        content = b""
    elif way == "exchange":
        content = contents[number - 1]
    entry.write_bytes(content)
