"""A page of the site for each spec in models/: the equations with shape and
meaning of every name, what the model was measured to do, and, if `scripts/zoo` has
trained it, the model itself.

Meaning comes from the language server, so a page says what an editor shows.
"""

import html
import json
import pathlib
import re
import subprocess

ROOT = pathlib.Path(__file__).resolve().parent.parent
RECORD = ROOT / "docs" / "figures" / "results.json"

#: Pictures of docs/ that a model has drawn, and what they show.
PICTURES = {
    "spelling": ("alignment.svg", "Three alignments of a spelling corrector"),
    "caption_hard": ("look.svg", "Where a captioning model looks for each word"),
    "graves": ("pen.svg", "Four letters that the model has written, with its window"),
    "draw": ("canvas.svg", "A digit that the model draws step by step"),
}


class Server:
    """`fovea lsp` with one open spec."""

    def __init__(self, fovea, spec):
        self.process = subprocess.Popen([fovea, "lsp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.uri = spec.resolve().as_uri()
        self.number = 0
        self.call("initialize", {"capabilities": {}, "processId": None, "rootUri": None})
        self.send({"method": "textDocument/didOpen", "params": {"textDocument": {
            "uri": self.uri, "languageId": "fovea", "version": 1,
            "text": spec.read_text(encoding="utf-8")}}})
        # The answer comes when it is known what decoding does with each equation.
        self.call("textDocument/diagnostic", {"textDocument": {"uri": self.uri}})

    def send(self, message):
        body = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        self.process.stdin.flush()

    def read(self):
        length = 0
        while line := self.process.stdout.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def call(self, method, params=None):
        self.number += 1
        self.send({"id": self.number, "method": method, "params": params})
        while (answer := self.read()).get("id") != self.number:
            pass
        return answer.get("result")

    def hover(self, line, column):
        """What an editor shows at a place, without its code; None without a name there."""
        found = self.call("textDocument/hover", {
            "textDocument": {"uri": self.uri},
            "position": {"line": line, "character": column}})
        return found and meaning(found["contents"]["value"])

    def close(self):
        self.call("shutdown")
        self.send({"method": "exit"})
        self.process.communicate()


def meaning(markdown):
    """The name, what it is, and the lines about it."""
    text = re.sub(r"```.*?```", "", markdown, flags=re.S)
    name, kind = re.match(r"\*\*(.+?)\*\*: (.+)", text).groups()
    lines = [line.strip().replace("`", "") for line in text.splitlines()[1:] if line.strip()]
    return name, kind, lines


def equations(lexer, server, text):
    """The spec as HTML, whose names have tips, and the meaning of each name."""
    from pygments.token import STANDARD_TYPES
    starts = [0]
    for line in text.splitlines(keepends=True):
        starts.append(starts[-1] + len(line))
    names, parts, row = {}, [], 0
    for at, kind, word in lexer.get_tokens_unprocessed(text):
        while starts[row + 1] <= at:
            row += 1
        found = server.hover(row, at - starts[row]) if re.fullmatch(r"[^\W\d]\w*", word) else None
        style = STANDARD_TYPES.get(kind, "")
        tip = ""
        if found:
            name, what, lines = found
            tip = f' title="{html.escape(chr(10).join([f"{name}: {what}", *lines]))}"'
            if what in ("data", "equation", "parameter"):
                names.setdefault(name, (what, lines))
        word = html.escape(word)
        style = f' class="{style}"' if style else ""
        parts.append(f"<span{style}{tip}>{word}</span>" if style or tip else word)
    return "".join(parts), names


def table(heads, rows):
    def row(cells):
        return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"
    return [row(heads), "|" + "---|" * len(heads), *map(row, rows), ""]


def named(names):
    """The names without a mouse: for phones and screen readers."""
    def shape(name, line):
        return line.removeprefix(f"{name}: ").removeprefix(f"{name}.")
    rows = [[f"`{name}`", what, "<br>".join(f"`{shape(name, line)}`" for line in lines)]
            for name, (what, lines) in names.items()]
    return ["## Names", "", *table(["name", "is", "shape, and how decoding treats it"], rows)]


def figures(name, record):
    """The rows of docs/RESULTS.md about the spec, with the others of their tables."""
    lines = []
    for task, one in record.items():
        if any(f"(../models/{name}.fov)" in row[0] for row in one["rows"]):
            lines += [f"**{task}**", "",
                      *table(one["heads"], [[re.sub(r"\]\(\.\./models/", "](", cell) for cell in row]
                                            for row in one["rows"]])]
    if not lines:
        return []
    return ["## Figures", "", "[RESULTS.md](../docs/RESULTS.md) describes each task and has its command.", "", *lines]


def trained(fovea, zoo):
    """Which models of a folder of `scripts/zoo` run in a page: their folders, by each model of models/ that their
    spec is or uses."""
    found = {}
    for page in sorted(zoo.glob("*/index.html")) if zoo else []:
        spec = subprocess.run([fovea, "compile", page.parent, "--emit", "spec"], check=True, capture_output=True,
                              text=True).stdout
        for name in re.findall(r"^model (\w+)", spec, re.M):
            if (ROOT / "models" / f"{name}.fov").exists():
                found.setdefault(name, []).append(page.parent)
    return found


def running(name, folders):
    lines = []
    for folder in folders:
        at = f"../zoo/{folder.name}/index.html"
        lines += ["## Run it", "", f"`{folder.name}`, trained by `scripts/zoo {folder.name}`, runs in this page, on your "
                  "machine.", "", f'<iframe class="zoo" loading="lazy" src="{at}" title="{folder.name}"></iframe>', "",
                  f"[The page alone]({at})", ""]
    return lines


def page(fovea, lexer, spec, record, folders, is_checked):
    """The page of a spec, in Markdown."""
    name, text = spec.stem, spec.read_text(encoding="utf-8")
    server = Server(fovea, spec)
    code, names = equations(lexer, server, text)
    server.close()
    paper = re.match(r"# (.*)", text)
    edit = f' <a href="../check.html#spec={name}">Change it and see what the compiler says.</a>' if is_checked else ""
    lines = [f"# {name}", "", paper[1] if paper else "", "",
             "## Equations", "", f"Point at a name to see its shape and meaning.{edit}", "",
             f'<div class="highlight"><pre><code>{code}</code></pre></div>', ""]
    if name in PICTURES:
        picture, what = PICTURES[name]
        lines += [f"![{what}](../docs/figures/{picture})", "", f"{what} ([how it is drawn](../docs/PICTURES.md)).", ""]
    lines += [*running(name, folders), *figures(name, record), *named(names)]
    return "\n".join(lines)
