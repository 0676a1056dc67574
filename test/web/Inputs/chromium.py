"""A headless Chromium, asked over a pipe by its own protocol (CDP)."""

import json
import os
import subprocess
import time


class Chromium:
    def __init__(self, folder):
        to_read, own_write = os.pipe()
        own_read, to_write = os.pipe()

        def arrange():
            # The browser reads from 3 and writes to 4; the numbers may be taken.
            high = [os.dup2(to_read, 100), os.dup2(to_write, 101)]
            for number, descriptor in zip((3, 4), high):
                os.dup2(descriptor, number)

        self.process = subprocess.Popen(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--remote-debugging-pipe",
             f"--user-data-dir={folder}", "about:blank"],
            preexec_fn=arrange, close_fds=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(to_read)
        os.close(to_write)
        self.input, self.output = os.fdopen(own_write, "wb"), os.fdopen(own_read, "rb")
        self.count, self.buffer, self.session, self.requests, self.logged = 0, b"", None, [], []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Network", "Log", "Accessibility"):
            self.call(domain + ".enable")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        # Its own processes write to the folder until it has ended.
        self.session = None
        try:
            self.call("Browser.close")
            self.process.wait(timeout=10)
        except (AssertionError, OSError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()

    def receive(self):
        while b"\0" not in self.buffer:
            piece = os.read(self.output.fileno(), 1 << 16)
            assert piece, "the browser has ended"
            self.buffer += piece
        message, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(message)

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        self.input.write(json.dumps(message).encode() + b"\0")
        self.input.flush()
        while True:
            answer = self.receive()
            if answer.get("method") == "Network.requestWillBeSent":
                self.requests.append(answer["params"]["request"]["url"])
            if answer.get("method") in ("Log.entryAdded", "Runtime.exceptionThrown"):
                self.logged.append(json.dumps(answer["params"]))
            if answer.get("id") == self.count:
                assert "error" not in answer, (method, answer["error"])
                return answer["result"]

    def open(self, path, fragment=""):
        # A page that is there already would only scroll.
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url="file://" + os.path.abspath(path) + fragment)

    def evaluate(self, code):
        result = self.call("Runtime.evaluate", expression=code, returnByValue=True, awaitPromise=True)
        assert "exceptionDetails" not in result, result
        return result["result"].get("value")

    def wait(self, code, seconds=60):
        """Waits until an expression holds."""
        end = time.time() + seconds
        while not self.evaluate(f"Boolean({code})"):
            assert time.time() < end, f"never: {code}: " + str(self.evaluate("document.body.innerText")) + str(self.logged)
            time.sleep(0.02)

    def type(self, element, text):
        """As somebody types: the field is empty before."""
        self.evaluate(f"(() => {{ const field = {element}; field.focus(); field.select(); }})()")
        self.call("Input.insertText", text=text)
