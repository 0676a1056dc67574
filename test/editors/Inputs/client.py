"""A client of the Language Server Protocol for tests: what an editor says.

Files are given as text with marks: `|name|` is taken out, and `marks[name]` is
its position in units of UTF-16.
"""

import json
import pathlib
import re
import subprocess


def marked(text):
    marks, lines = {}, []
    for number, line in enumerate(text.split("\n")):
        while match := re.search(r"\|(\w+)\|", line):
            before = line[:match.start()]
            marks[match[1]] = {"line": number,
                               "character": len(before.encode("utf-16-le")) // 2}
            line = before + line[match.end():]
        lines.append(line)
    return "\n".join(lines), marks


def frame(message):
    body = json.dumps(message).encode()
    return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)


def start(line, character=0):
    return {"line": line, "character": character}


class Client:
    def __init__(self, folder, program="fovea"):
        self.folder = pathlib.Path(folder).resolve()
        self.process = subprocess.Popen([program, "lsp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)
        self.next_id = 1
        self.diagnostics = {}  # by name of the file
        self.mistakes = []     # replies without an id
        self.capabilities = self.ask("initialize", {
            "processId": None, "rootUri": None, "capabilities": {}})["capabilities"]
        self.notify("initialized", {})

    def uri(self, name):
        return (self.folder / name).as_uri()

    def send_bytes(self, data):
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def send(self, message):
        self.send_bytes(frame({"jsonrpc": "2.0", **message}))

    def notify(self, method, params):
        self.send({"method": method, "params": params})

    def receive(self):
        length = None
        while (line := self.process.stdout.readline()) != b"\r\n":
            assert line, "the server has gone"
            if line.startswith(b"Content-Length:"):
                length = int(line.split(b":")[1])
        return json.loads(self.process.stdout.read(length))

    def take(self, message):
        """Keeps what was not asked for; returns whether it was that."""
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            name = params["uri"].rsplit("/", 1)[1]
            self.diagnostics[name] = params["diagnostics"]
        elif message.get("id") is None:
            self.mistakes.append(message["error"])
        else:
            return False
        return True

    def reply(self, method, params):
        number, self.next_id = self.next_id, self.next_id + 1
        self.send({"id": number, "method": method, "params": params})
        while self.take(message := self.receive()):
            pass
        assert message["id"] == number, message
        return message

    def ask(self, method, params):
        message = self.reply(method, params)
        assert "result" in message, message
        return message["result"]

    def refuse(self, method, params):
        """What the server says against it."""
        return self.reply(method, params)["error"]["message"]

    def open(self, name, text):
        """Writes and opens a file with marks, and returns them."""
        text, marks = marked(text)
        (self.folder / name).write_text(text)
        self.notify("textDocument/didOpen", {"textDocument": {
            "uri": self.uri(name), "languageId": "fovea", "version": 1,
            "text": text}})
        self.settle(name)
        return marks

    def change(self, name, *changes):
        self.notify("textDocument/didChange", {
            "textDocument": {"uri": self.uri(name), "version": 2},
            "contentChanges": list(changes)})
        self.settle(name)

    def settle(self, name):
        """Waits until all is known of the file as it is now; returns it."""
        return self.of("diagnostic", name)["items"]

    def at(self, what, name, position, **more):
        return self.ask("textDocument/" + what, {
            "textDocument": {"uri": self.uri(name)}, "position": position, **more})

    def of(self, what, name, **more):
        return self.ask("textDocument/" + what,
                        {"textDocument": {"uri": self.uri(name)}, **more})

    def hover(self, name, position):
        hover = self.at("hover", name, position)
        return hover and hover["contents"]["value"]

    def messages(self, name):
        return [f"{d['range']['start']['line']}:{d['range']['start']['character']}"
                f"-{d['range']['end']['character']} {d['severity']} {d['message']}"
                for d in self.diagnostics[name]]

    def formatted(self, name):
        [edit] = self.of("formatting", name,
                         options={"tabSize": 2, "insertSpaces": True})
        return edit["newText"]

    def end(self):
        self.ask("shutdown", None)
        self.notify("exit", None)
        assert self.process.wait(10) == 0
