"""What the editor does while the server checks: it withdraws requests, types on, and ends."""

import subprocess
import sys
import time

from client import Client, frame, start

client = Client(sys.argv[1])

# A check of this text takes longer than `soon`.
lines = "".join(f"h{i}[t] = tanh(h{i - 1}[t] + x[t]) * 2.0\n" for i in range(1, 12000))
text = "model long\ndata x[T] : real(8)\nh0[t] = x[t]\n" + lines
uri = client.uri("long.fov")
soon = 0.02


def message(method, params, number=None):
    body = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        body["id"] = number
    return frame(body)


def opened(version=1):
    return message("textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "fovea", "version": version, "text": text}})


def changed(version, new):
    return message("textDocument/didChange", {
        "textDocument": {"uri": uri, "version": version},
        "contentChanges": [{"text": new}]})


def hover(number):
    return message("textDocument/hover", {
        "textDocument": {"uri": uri}, "position": start(1, 5)}, number)


def cancel(number):
    return message("$/cancelRequest", {"id": number})


def replies(count):
    found = []
    while len(found) < count:
        if "id" in (answer := client.receive()):
            found.append((answer["id"], answer["error"]["code"] if "error" in answer
                          else "result"))
    return found


def published():
    """The version whose diagnostics come next."""
    while "diagnostics" not in (params := client.receive().get("params", {})):
        pass
    return params["version"], len(params["diagnostics"])


# A request that is being answered.
client.send_bytes(opened() + hover(101))
time.sleep(soon)
client.send_bytes(cancel(101))
print("running:", replies(1))

# Requests that wait for it: answers keep their order.
client.send_bytes(hover("a") + hover(102) + hover(103) + cancel(103) + hover(104) + cancel("x"))
print("queued:", replies(4))

# A request that waits for lowering.
client.send_bytes(changed(2, text + "# more\n") +
                  message("textDocument/diagnostic", {"textDocument": {"uri": uri}}, 105) +
                  hover(106))
first = replies(1)
client.send_bytes(cancel(105))
print("waiting for lowering:", first, replies(1))

# A newer text ends the check of the older one, which says nothing.
client.send_bytes(changed(3, text.replace("real(8)", "real(9)")))
time.sleep(soon)
client.send_bytes(changed(4, "model short\ndata x[T] : real(8)\n"))
print("newer:", published())

# What is cancelled too late, or never was, changes nothing.
client.send_bytes(hover(107))
late = replies(1)
client.send_bytes(cancel(107) + cancel(99) + message("$/cancelRequest", {"id": None}) +
                  message("$/cancelRequest", None) + hover(108))
print("late:", late, replies(1))

# The end, in the middle of a check.
client.send_bytes(changed(5, text))
time.sleep(soon)
client.end()
print("ended")
process = subprocess.Popen(["fovea", "lsp"], stdin=subprocess.PIPE,
                           stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
assert process.stdin
process.stdin.write(message("initialize", {"capabilities": {}}, 1) + opened())
process.stdin.flush()
time.sleep(10 * soon)
process.stdin.close()
print("gone:", process.wait(60))
