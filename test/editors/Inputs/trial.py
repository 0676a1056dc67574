"""What the language server finds by lowering, in a process of its own."""

import os
import signal
import sys
import time

from client import Client

client = Client(sys.argv[1])


def trials():
    """The processes in which the server lowers models."""
    pid = client.process.pid
    with open(f"/proc/{pid}/task/{pid}/children") as file:
        return [int(child) for child in file.read().split()]


def wait_for_trial():
    while not trials():
        time.sleep(0.002)
    return trials()


# Long enough that its lowering can be watched.
lines = "".join(f"h{i}[t] = tanh(h{i - 1}[t] + x[t])\n" for i in range(1, 1500))
text = "model long\ndata x[T] : real(8)\nh0[t] = x[t]\n" + lines

uri = client.uri("long.fov")
document = {"uri": uri, "languageId": "fovea", "version": 1, "text": text}
client.notify("textDocument/didOpen", {"textDocument": document})
client.at("hover", "long.fov", {"line": 2, "character": 0})
print("after the front end:", client.messages("long.fov"))
[first] = wait_for_trial()

# A key ends it, and the new text is tried.
client.notify("textDocument/didChange", {
    "textDocument": {"uri": uri, "version": 2},
    "contentChanges": [{"text": text + "# more\n"}]})
client.at("hover", "long.fov", {"line": 2, "character": 0})
[second] = wait_for_trial()
print("another trial:", first != second, not os.path.exists(f"/proc/{first}"))
print("in the end:", client.settle("long.fov"), trials())

# A fault in it is reported; the server goes on.
client.notify("textDocument/didChange", {
    "textDocument": {"uri": uri, "version": 3}, "contentChanges": [{"text": text}]})
[third] = wait_for_trial()
os.kill(third, signal.SIGKILL)
client.settle("long.fov")
print("fault:", client.messages("long.fov"))
client.change("long.fov", {"text": text + "# more\n"})
print("mended:", client.messages("long.fov"))

# What it said of a line holds until the next trial, wherever the line goes.
client.open("trains.fov", """model trains
data y[T] : sentence
param w : vector(y.vocab)
y[t] ~ categorical(w * T)
""")
print("tried:", client.messages("trains.fov"))
client.notify("textDocument/didChange", {
    "textDocument": {"uri": client.uri("trains.fov"), "version": 2},
    "contentChanges": [{"range": {"start": {"line": 1, "character": 0},
                                  "end": {"line": 1, "character": 0}},
                        "text": "# one line more\n"}]})
client.of("documentSymbol", "trains.fov")
print("kept:", client.messages("trains.fov"))
client.settle("trains.fov")
print("tried:", client.messages("trains.fov"))
client.end()
