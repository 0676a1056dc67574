"""Asks the language server about a model, as an editor does."""

import sys

from client import Client, start

client = Client(sys.argv[1])

# The diagnostics are those of `fovea check`, with the range of the word.
marks = client.open("wrong.fov", """model wrong
data src[S] : sentence
param cell : gru(8)
x[i] = onehot(|slip|srk[i])
y[i] = x[i+1]
w[i] = 1.0
param unused : linear(3)
""")
print("== wrong")
print("codes:", [d["code"] for d in client.diagnostics["wrong.fov"]])
for message in client.messages("wrong.fov"):
    print(message)
everywhere = {"start": start(0), "end": start(99)}
for action in client.of("codeAction", "wrong.fov", range=everywhere,
                        context={"diagnostics": []}):
    [[edit]] = action["edit"]["changes"].values()
    print("fix:", action["title"], "->", edit["newText"])

# A read outside of its range, and its replacement.
client.open("outside.fov", """model outside
data x[S] : real
y[i < S] = x[i+1]
penalty sum[i](y[i])
""")
print("== outside")
for message in client.messages("outside.fov"):
    print(message)
for action in client.of("codeAction", "outside.fov", range=everywhere,
                        context={"diagnostics": []}):
    [[edit]] = action["edit"]["changes"].values()
    print("fix:", action["title"], "->", edit["newText"])

# A file that is mended has none.
client.change("wrong.fov", {"text": """model wrong
data src[S] : sentence
penalty S * 1.0
"""})
print("mended:", client.messages("wrong.fov"))

# What a message asks to add or to write.
for name, text in (("added.fov", """model added
data x[T] : real(4)
param cell : gru(4)
h[t] = cell(h[t-1], x[t])
penalty sum[t](sum(h[t]))
"""), ("signs.fov", "model signs\ndata x[T] : real\ny[t] := x[t]\n")):
    client.open(name, text)
    print("==", *client.messages(name))
    for action in client.of("codeAction", name, range=everywhere,
                            context={"diagnostics": []}):
        [[edit]] = action["edit"]["changes"].values()
        print("fix:", action["title"])
        client.change(name, edit | {"text": edit["newText"]})
    print("mended:", client.messages(name))

# A warning can be said to be meant.
client.open("warned.fov", """model warned
data x[T] : real(3), y : class(4)
param out : linear(4), spare : linear(2)
y ~ categorical(softmax(out(x[0])))
""")
print("== warned")
for message in client.messages("warned.fov"):
    print(message)
for action in client.of("codeAction", "warned.fov", range=everywhere,
                        context={"diagnostics": []}):
    [[edit]] = action["edit"]["changes"].values()
    print("fix:", action["title"], "->", edit["newText"], edit["range"]["start"])

# A model that trains and cannot be decoded is right: a warning.
client.open("trains.fov", """model trains
data y[T] : sentence
param w : vector(y.vocab)
y[t] ~ categorical(w * T)
""")
print("== trains")
for message in client.messages("trains.fov"):
    print(message)

# Names: hover, definitions, references.
text = """# A test.
model small
dim H = 4, E = 3
vocab v
data src[S] : sentence of v
data |tgt|tgt[T] : sentence of v
param embed : embedding(E)
param |cell|cell, back : gru(H)
param out : linear(tgt.vocab)

# What the encoder
# remembers.
f[i] = |use|cell(f[i-1], embed(src[i]));  f[-1] = zeros(H)
|state|s[t] = back(s[t-1], embed(tgt[t-1]));  s[-1] = zeros(H)
e[|binder|t,i] = dot(|reads|s[t], |f|f[i])
|align|align[t] = softmax[i](e[t,i])
c[t] = sum[i](|read|align[t,i] * f[i]) ++ s[t]
tgt[t] ~ categorical(out(c[t]))
decode { beam = 3 }
"""
marks = client.open("small.fov", text)
print("== small", client.messages("small.fov"))
for name in ("read", "f", "state", "cell", "binder", "tgt"):
    print("--", name)
    print(client.hover("small.fov", marks[name]))
for name in ("use", "read", "f"):
    print("definition of", name, [
        (l["uri"].rsplit("/", 1)[1], l["range"]["start"]["line"])
        for l in client.at("definition", "small.fov", marks[name])])
prelude = client.at("definition", "small.fov", {
    "line": 7, "character": len("param cell, back : g")})
print("definition of gru", prelude[0]["uri"].rsplit("/", 1)[1])
with open(prelude[0]["uri"].removeprefix("file://")) as file:
    print(file.read().split("\n")[prelude[0]["range"]["start"]["line"]])
print("references", [l["range"]["start"]["line"] for l in client.at(
    "references", "small.fov", marks["f"], context={"includeDeclaration": True})])

# Renaming edits every place, or gives the reason against it.
edits = client.at("rename", "small.fov", marks["f"], newName="forward")
[edits] = edits["changes"].values()
print("renamed", [(e["range"]["start"]["line"], e["range"]["start"]["character"])
                  for e in edits])


def rename(mark, name):
    return client.refuse("textDocument/rename", {
        "textDocument": {"uri": client.uri("small.fov")},
        "position": marks[mark] if mark in marks else mark, "newName": name})


print(rename("f", "align"))
print(rename("f", "sum"))
print(rename("f", "2f"))
print(client.refuse("textDocument/prepareRename", {
    "textDocument": {"uri": client.uri("small.fov")},
    "position": {"line": 7, "character": len("param cell, back : g")}}))

# The file as a whole.
print("symbols", [s["name"] for s in client.of("documentSymbol", "small.fov")])
print("hints", [(h["position"]["line"], h["label"]) for h in client.of(
    "inlayHint", "small.fov", range=everywhere)])
print("folds", [(f["startLine"], f["endLine"], f["kind"])
                for f in client.of("foldingRange", "small.fov")])


def labels(position, name="small.fov"):
    return [i["label"] for i in client.at("completion", name, position)["items"]]


# Highlights: where a name is given, and where it is read.
print("highlights", [(h["range"]["start"]["line"], h["range"]["start"]["character"],
                      h["kind"])
                     for h in client.at("documentHighlight", "small.fov", marks["f"])])


def words(name):
    """Each word that a file has, with its kind and marks."""
    legend = client.capabilities["semanticTokensProvider"]["legend"]
    with open(client.folder / name) as file:
        lines = file.read().split("\n")
    data, line, character = client.of("semanticTokens/full", name)["data"], 0, 0
    for i in range(0, len(data), 5):
        down, right, length, kind, bits = data[i:i + 5]
        line, character = line + down, right + (0 if down else character)
        marks = [mark for bit, mark in enumerate(legend["tokenModifiers"])
                 if bits >> bit & 1]
        yield (line, lines[line][character:character + length],
               " ".join([legend["tokenTypes"][kind], *marks]))


for line in (0, 4, 7, 14, 15, 17):
    print("words", line, [(text, kind) for at, text, kind in words("small.fov")
                          if at == line])

# Symbols of all files, by letters of their names.
print("all symbols", [(s["name"], s["containerName"],
                       s["location"]["uri"].rsplit("/", 1)[1])
                      for s in client.ask("workspace/symbol", {"query": "SR"})])


def signature(equation):
    """The def of the call at the end of an equation, and what is written there."""
    client.change("typed.fov", {"text": typed + equation})
    lines = (typed + equation).split("\n")
    help = client.at("signatureHelp", "typed.fov",
                     start(len(lines) - 1, len(lines[-1])))
    if not help:
        return None
    [signature] = help["signatures"]
    begin, end = signature["parameters"][help["activeParameter"]]["label"]
    return signature["label"], signature["label"][begin:end]


typed = """model typed
data x[T] : real(8)
param cell : gru(8)
param many[l < 2] : gru(8)
def near(n, width = 3)(a[n], b) = a * b * width
"""
client.open("typed.fov", typed)
print("== signatures")
for equation in ("h[t] = cell(", "h[t] = cell(h[t-1], ", "h[t] = many[0](h[t-1, ",
                 "param c : conv1d(", "param c : conv1d(8, 3, pad = ",
                 "y[t] = near(8, ", "y[t] = near(8)(x[t], ", "y[t] = near(8)(x[",
                 "y[t] = near(8)(tanh(x[t]), 1, ", "y[t] = tanh(", "y[t] = (1, ",
                 "y[t] = cell(x[t]) + "):
    print(equation, "->", signature(equation))
here = labels(marks["read"])
print("completes", [n for n in ("align", "cell", "gru", "softmax", "where", "beam")
                    if n in here])
print("in decode", "beam" in labels({"line": 18, "character": 11}))
client.change("small.fov", {"range": {"start": start(17, 0), "end": start(17, 0)},
                            "text": "p = cell.\n"})
print("after a dot", labels({"line": 17, "character": 9}))
# Shapes of the last text without mistakes stay.
print("still known:", client.hover("small.fov", marks["align"]).split("\n")[2])

# What the words of the language compute.
client.open("empty.fov", "model empty\n")
words = [item["label"] for item in client.at("completion", "empty.fov", start(1))["items"]
         if item["kind"] == 3 and not item.get("detail")]
words += ["concat", "stack", "categorical", "mixture"]
client.open("words.fov", "model words\n" + "\n".join(words))
print("words without a formula", [
    word for line, word in enumerate(words)
    if f"**{word}**: builtin" not in (client.hover("words.fov", start(line + 1)) or "")])
softmax = client.hover("words.fov", start(words.index("softmax") + 1))
print("softmax:", softmax.split("\n")[-2])
client.open("comment.fov", "model comment\n# softmax\nx.softmax\n")
print("no word", client.hover("comment.fov", start(1, 3)), client.hover("comment.fov", start(2, 3)))

# Layout.
client.open("untidy.fov", "model untidy\ndata x[ S ]:real\ny[i]=x[i]+1\n")
print("== layout")
print(client.formatted("untidy.fov"), end="")

# Other files: unsaved text counts, and mistakes are reported at the `use`.
client.open("part.fov", "model part\ndata x[S] : real\ny[i] = 2 * x[i]\n")
marks = client.open("whole.fov", """model whole
data v[S] : real
use p = |use|part(|their|x = v)
z[i] = p.|member|y[i] + 1
""")
print("== whole", client.messages("whole.fov"))
for name in ("use", "their", "member"):
    print("definition of", name, [
        (l["uri"].rsplit("/", 1)[1], l["range"]["start"]["line"])
        for l in client.at("definition", "whole.fov", marks[name])])
edits = client.at("rename", "whole.fov", marks["member"], newName="double")
print("renamed in", sorted(
    (uri.rsplit("/", 1)[1], len(e)) for uri, e in edits["changes"].items()))
client.change("part.fov", {"text": "model part\ndata x[S] : real\ny[i] = u[i]\n"})
client.settle("whole.fov")
for message in client.messages("whole.fov"):
    print(message)
client.end()
print("ended")
