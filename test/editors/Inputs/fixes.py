"""Applies the first quick fix to the wrong examples of docs/errors, and says what
is left."""

import pathlib
import re
import sys

from client import Client, start

client = Client(sys.argv[1])
for page in sorted(pathlib.Path(sys.argv[2], "docs/errors").glob("*.md")):
    sections = re.findall(r"^## (\w+):.*?^Wrong:\n\n```fovea\n(.*?)```", page.read_text(), re.M | re.S)
    for code, text in sections:
        name = f"{code}.fov"
        client.open(name, text)
        actions = client.of("codeAction", name, range={"start": start(0), "end": start(99)},
                            context={"diagnostics": []})
        actions = [one for one in actions if one["title"] != "Mark this as intended"]
        if not actions:
            continue
        [[edit]] = actions[0]["edit"]["changes"].values()
        client.change(name, edit | {"text": edit["newText"]})
        left = [one["message"] for one in client.diagnostics[name] if one["severity"] == 1]
        print(f"{code}: {actions[0]['title']}: {left[0] if left else 'mended'}")
client.end()
