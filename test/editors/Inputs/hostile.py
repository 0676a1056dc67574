"""What no editor says: the server answers what it can, and goes on."""

import random
import subprocess
import sys

from client import Client, frame, start

client = Client(sys.argv[1])


def alive(what):
    client.open("alive.fov", "model alive\ndata x[S] : real\n|y|y[i] = x[i]\n")
    print(what, "->", [m["code"] for m in client.mistakes])
    client.mistakes.clear()


# Messages that are none.
client.send_bytes(b"Content-Length: 9\r\n\r\nnot json!")
alive("no JSON")
client.send_bytes(b"Content-Length: x\r\n\r\n")
alive("no length")
client.send_bytes(b"Content-Length: 99999999999\r\n\r\n")
alive("a length that is no message's")
client.send_bytes(b"Content-Length: 5\r\n\r\n[1,2]")
alive("an array")
client.send_bytes(frame([{"jsonrpc": "2.0", "id": 1, "method": "shutdown"}]))
alive("a batch")
client.send_bytes(frame({"jsonrpc": "1.0", "id": 1, "method": "shutdown"}))
alive("another version")
client.send_bytes(frame({"jsonrpc": "2.0", "id": {"a": 1}, "method": "shutdown"}))
alive("an object for an id")
client.send_bytes(frame({"jsonrpc": "2.0", "id": 7, "result": 3}))
alive("an answer to nothing")
client.send_bytes(b"Content-Length: 400000\r\n\r\n" + b"[" * 400000)
alive("deep nesting")
client.send_bytes(b"Content-Length: 20\r\n\r\n" +
                  frame({"jsonrpc": "2.0", "method": "initialized"})[:20])
client.send_bytes(b"\r\n\r\n")
alive("a short length")
client.send_bytes(b"\x00\xff\xfe garbage " * 10000 + b"\r\n")
alive("garbage")

# Half a message, the other half later.
whole = frame({"jsonrpc": "2.0", "method": "initialized", "params": {}})
for byte in whole:
    client.send_bytes(bytes([byte]))
alive("one byte after the other")

# Requests that make no sense.
for method, params in [("textDocument/hover", None), ("textDocument/hover", []),
                       ("textDocument/hover", {"textDocument": {"uri": 3}}),
                       ("textDocument/hover", {
                           "textDocument": {"uri": "http://example.com/a"},
                           "position": start(0)}),
                       ("textDocument/hover", {
                           "textDocument": {"uri": "file:///not/open.fov"},
                           "position": start(0)}),
                       ("textDocument/rename", {
                           "textDocument": {"uri": client.uri("alive.fov")},
                           "position": start(2), "newName": ""}),
                       ("no/such/method", {})]:
    assert client.refuse(method, params)
alive("requests without sense")

# Positions beyond the end, before the begin, and turned around.
outside = [start(-5), start(0, -1), start(0, 10**6), start(10**6), start(10**6, 5),
           start(2**31 - 1, 2**31 - 1)]
for position in outside:
    for question in ("hover", "definition", "completion"):
        client.at(question, "alive.fov", position)
    client.of("inlayHint", "alive.fov",
              range={"start": position, "end": start(0)})
client.open("edited.fov", "model edited\n")
client.change("edited.fov",
              {"range": {"start": start(10**6), "end": start(10**6 + 1)},
               "text": "data x[S] : real\n"},
              {"range": {"start": start(5), "end": start(0)}, "text": "# end\n"},
              {"range": {"start": start(-1, -1), "end": start(-1, -1)},
               "text": "# begin\n"})
client.change("edited.fov")
print("edited ->", client.messages("edited.fov"),
      [s["name"] for s in client.of("documentSymbol", "edited.fov")])

# Units of UTF-16: the letter takes two, the accent one.
marks = client.open("wide.fov", """model wide  # \U0001d54f é
data x[S] : real; y[i] = |name|x[i]  # \U0001d54f
# \U0001d54f\U0001d54f |wrong|
""")
print("wide ->", client.hover("wide.fov", marks["name"]).split("\n")[0])
line = 'z = "\U0001d54f" + unknown'
client.change("wide.fov", {"range": {"start": start(2), "end": start(3)},
                           "text": line + "\n"})
print(client.messages("wide.fov")[0])
# Between the halves of a letter.
client.change("wide.fov", {"range": {"start": start(2, 6), "end": start(2, 6)},
                           "text": "a"})
print(client.messages("wide.fov")[0])

# Random edits, against the same in Python.
random.seed(3)
text = "model m\ndata x[S] : real\ny[i] = x[i] + 1\n"
client.open("random.fov", text)
units = text
pieces = ["x", "\U0001d54f", "[", "]", "\n", "é", " = ", "def f(", "{", "}", '"', "",
          "param a : gru(2)", "use m", "a.", "\t", "\r\n", "~", "\x00", "softmax[i]("]
for number in range(300):
    lines = text.split("\n")
    row = random.randrange(len(lines))
    column = random.randrange(len(lines[row]) + 1)
    length = random.randrange(4)
    offset = sum(len(l) + 1 for l in lines[:row]) + column
    end = min(len(text), offset + length)
    before = text[:end].split("\n")

    def position(row, column, line):
        # Before a '\r' that ends the line is where the line ends.
        prefix = line[:column]
        return start(row, len(prefix.encode("utf-16-le")) // 2)

    if "\r" in text[max(0, offset - 1):end + 1]:
        continue
    piece = random.choice(pieces)
    change = {"range": {"start": position(row, column, lines[row]),
                        "end": position(len(before) - 1, len(before[-1]),
                                        lines[len(before) - 1])},
              "text": piece}
    text = text[:offset] + piece + text[end:]
    client.change("random.fov", change)
    client.hover("random.fov", start(row, column))
    client.at("completion", "random.fov", start(row, column))
    client.of("foldingRange", "random.fov")
    client.of("codeAction", "random.fov", context={"diagnostics": []},
              range={"start": start(0), "end": start(10**6)})
    client.of("inlayHint", "random.fov",
              range={"start": start(0), "end": start(10**6)})
fresh = Client(sys.argv[1])
fresh.open("same.fov", text.replace("|", " "))
client.change("random.fov", {"text": text.replace("|", " ")})
assert fresh.messages("same.fov") == client.messages("random.fov")
fresh.end()
alive("random edits")

# A file that uses itself, and one that is not there.
client.open("itself.fov", "model itself\nuse itself\nuse nowhere\n")
for message in client.messages("itself.fov"):
    print(message.replace(str(client.folder), "FOLDER"))
client.end()

# The editor goes away in the middle of a message.
process = subprocess.Popen(["fovea", "lsp"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL)
process.communicate(b"Content-Length: 100\r\n\r\n{")
print("gone ->", process.returncode)
