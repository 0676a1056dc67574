"""Asks the page of a training what no browser should: bodies, requests of other
pages, heads without an end. Prints what each gets, and what becomes of the
training.

  watch_hostile.py FOLDER ARGUMENT..   starts `fovea train ARGUMENT.. --out FOLDER --serve 0`
"""

import os
import re
import signal
import socket
import subprocess
import sys
import time

folder, arguments = sys.argv[1], sys.argv[2:]


def start():
    process = subprocess.Popen(["fovea", "train", *arguments, "--out", folder, "--serve", "0"], text=True,
                               stderr=subprocess.PIPE)
    line = process.stderr.readline()
    port = int(re.search(r"http://127\.0\.0\.1:(\d+)/", line)[1])
    with open(f"/proc/{process.pid}/task/{process.pid}/children") as file:
        (page,) = map(int, file.read().split())
    return process, port, page


def ask(text, body=0):
    """The status that a request gets, and all of the answer."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as client:
        sent = 0
        try:
            client.sendall(text.replace("\n", "\r\n").encode())
            while sent < body:
                sent += client.send(b"x" * min(body - sent, 1 << 20))
        except OSError:
            pass
        answer = b""
        try:
            while part := client.recv(1 << 16):
                answer += part
        except ConnectionError:
            pass
    return answer.decode().split(" ")[1] if answer else "closed", answer, sent


def get(path="/log?from=0", host=None, **headers):
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return ask("\n".join([*lines, "", ""]))[0]


def megabytes(process):
    with open(f"/proc/{process}/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGESIZE") >> 20


def lines():
    path = os.path.join(folder, "log.jsonl")
    if not os.path.exists(path):  # the page may be ready before the first update
        return 0
    with open(path) as file:
        return len(file.readlines())


def grows():
    before, end = lines(), time.monotonic() + 30
    while time.monotonic() < end:
        if lines() > before:
            return True
        time.sleep(0.02)
    return False


process, port, page = start()
own = f"127.0.0.1:{port}"
opened = time.monotonic()
late = socket.create_connection(("127.0.0.1", port))
late.sendall(b"GET / HTTP/1.1\r\n")
before = megabytes(process.pid), megabytes(page)

# A body of 500 MB: next to nothing of it is read.
status, _, sent = ask(f"POST /log HTTP/1.1\nHost: {own}\nContent-Length: 500000000\n\n", body=500000000)
after = megabytes(process.pid), megabytes(page)
print("POST:", status if status == "405" else status, "sent little:", sent < 20_000_000,
      "memory stays:", all(new < old + 40 for new, old in zip(after, before)))
print("PUT, DELETE:", *(ask(f"{method} / HTTP/1.1\nHost: {own}\n\n")[0] for method in ("PUT", "DELETE")))
print("GET with a body:", get(Content_Length=5), get(Transfer_Encoding="chunked"))
status, answer, _ = ask(f"HEAD / HTTP/1.1\nHost: {own}\n\n")
print("HEAD:", status, "no body:", answer.endswith(b"\r\n\r\n"))
print("other hosts:", get(host=f"evil.example:{port}"), get(host="127.0.0.1"),
      ask(f"GET / HTTP/1.1\nHost: {own}\nHost: evil.example\n\n")[0], ask("GET / HTTP/1.1\n\n")[0])
print("other pages:", get(Origin="http://evil.example"), get(Origin="null"), get(Sec_Fetch_Site="cross-site"),
      get(Sec_Fetch_Site="same-site", Sec_Fetch_Mode="no-cors"))
print("this page:", get(Origin=f"http://{own}", Sec_Fetch_Site="same-origin"), get("/", Sec_Fetch_Site="none"),
      get(host=f"localhost:{port}"), get("/", Sec_Fetch_Site="cross-site", Sec_Fetch_Mode="navigate"))
print("no HTTP:", ask("hello\n\n")[0], ask(f"GET http://{own}/ HTTP/1.1\nHost: {own}\n\n")[0],
      ask(f"GET / HTTP/1.1\nHost: {own}\nno header\n\n")[0])
print("long head:", ask(f"GET / HTTP/1.1\nHost: {own}\nX: {'x' * 9000}\n\n")[0])

# Clients that never come to an end block nobody.
slow = []
for number in range(200):
    client = socket.create_connection(("127.0.0.1", port))
    client.sendall(b"GET / HTTP/1.1\r\nX: ")
    slow.append(client)
begin = time.monotonic()
print("beside 200 slow clients:", get(), "at once:", time.monotonic() - begin < 2)
late.settimeout(20)
try:
    ended = late.recv(1) == b""
except ConnectionError:
    ended = True
print("a slow client is closed:", ended, time.monotonic() - opened < 15)

# What becomes of the page does not matter to the training.
os.kill(page, signal.SIGKILL)
print("without the page:", grows())
process.send_signal(signal.SIGINT)
process.stderr.read()
print("ended with", process.wait())

# A page does not outlive its training.
arguments.append("--resume")
process, port, page = start()
process.kill()
process.wait()
end = time.monotonic() + 20
while os.path.exists(f"/proc/{page}") and time.monotonic() < end:
    time.sleep(0.01)
print("the page has ended:", not os.path.exists(f"/proc/{page}"))
