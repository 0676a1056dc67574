"""serving.py SERVER..: starts a server of a training, and prints its answers.

A request may fail once: its connection ends, or the answer is a sentence. The second time it has
to be answered. If it is refused again, with a sentence, that is an error with exit code 1.
"""

import os
import re
import signal
import subprocess
import sys
import urllib.error
import urllib.request

PATHS = ("", "watch.js", "log?from=0", "about", "samples?show=align")


def ask(address, path):
    """The answer, and whether it is one."""
    try:
        with urllib.request.urlopen(address + path, timeout=30) as answer:
            text = answer.read().decode()
    except urllib.error.HTTPError as error:
        return error.read().decode().strip() or "no sentence", False
    except OSError as error:  # the connection has ended
        return f"{type(error).__name__}: {error}", None
    failed = re.match(r'{"error":"(.*)"}', text)
    return (failed[1], False) if failed else (text, True)


def answers(server, address):
    for path in PATHS:
        text, good = ask(address, path)
        if not good and server.poll() is None:
            text, good = ask(address, path)
        if good:
            print(path, text, flush=True)
        elif good is None:
            return f"lost: '{path}': {text}"
        else:
            return f"error: '{path}': {text}"
    return ""


def main():
    server = subprocess.Popen(sys.argv[1:], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                              start_new_session=True)
    try:
        address = server.stdout.readline().strip()
        said = answers(server, address) if address.startswith("http://") else ""
        if not said and address:
            os.killpg(server.pid, signal.SIGTERM)  # strace would keep it for itself
        elif said:
            try:  # it may be about to end
                server.wait(2)
            except subprocess.TimeoutExpired:
                print(said, file=sys.stderr)
                return 1 if said.startswith("error: ") else 4
        _, text = server.communicate(timeout=20)
        print(text, end="", file=sys.stderr)
        code = server.returncode
        return 0 if code == -signal.SIGTERM else code if code > 0 else 128 - code
    finally:
        try:
            os.killpg(server.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass


sys.exit(main())
