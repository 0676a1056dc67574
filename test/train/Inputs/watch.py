"""Looks at the page of a training.

  watch.py train FOLDER ARGUMENT..   starts `fovea train .. --serve 0`, and looks while it trains
  watch.py serve FOLDER              starts `fovea serve`, and looks at what is finished
  watch.py sample FOLDER             says why there are no samples
  watch.py browser FOLDER            the same in a headless Chromium: what its script has drawn
  watch.py grid FOLDER NAME          where the pictures of NAME stand, by layer and head
  watch.py events FOLDER             reads the files of TensorBoard
"""

import glob
import json
import os
import re
import socket
import struct
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request


def get(address, path="", host=None):
    request = urllib.request.Request(address + path, headers={"Host": host} if host else {})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read().decode(), answer.headers


def look(address):
    """What stands there whoever serves it."""
    page, headers = get(address)
    print("page:", re.search("<title>(.*)</title>", page)[1])
    print("elsewhere:", sorted(set(re.findall(r'(?:src|href)="([^"]*)"', page))))
    print("policy:", headers["Content-Security-Policy"].split(";")[0])
    for name in ("watch.js", "watch.css"):
        assert len(get(address, name)[0]) > 500
    try:
        get(address, host="example.org")
    except urllib.error.HTTPError as error:
        print("another host:", error.code)
    try:
        get(address, "../../etc/passwd")
    except urllib.error.HTTPError as error:
        print("another file:", error.code)
    # Nobody else reaches it.
    port = int(address.split(":")[-1].strip("/"))
    own = socket.gethostbyname(socket.gethostname())
    if not own.startswith("127."):
        with socket.socket() as other:
            assert other.connect_ex((own, port)) != 0


def start(*command, stream):
    process = subprocess.Popen(command, text=True, **{stream: subprocess.PIPE})
    line = getattr(process, stream).readline()
    assert stream == "stdout" or line.startswith("follow it at "), line
    return process, re.search(r"http://127\.0\.0\.1:\d+/", line)[0]


def log(address):
    text, headers = get(address, "log?from=0")
    assert headers["X-From"] == "0" and int(headers["X-End"]) == len(text.encode())
    return [json.loads(line) for line in text.splitlines()], len(text)


def train(folder, *arguments):
    process, address = start("fovea", "train", *arguments, "--out", folder, "--serve", "0", stream="stderr")
    look(address)
    entries = []
    while not any("valid_loss" in entry for entry in entries):
        entries, size = log(address)
        time.sleep(0.05)
    about = json.loads(get(address, "about")[0])
    print("live:", about["live"], "memory:", about["memory"] > 10 << 20)
    rest, headers = get(address, f"log?from={size}")
    assert int(headers["X-From"]) == size
    again, headers = get(address, f"log?from={10 ** 9}")
    print("a log that is shorter:", headers["X-From"])
    process.send_signal(2)
    process.stderr.read()
    print("ended with", process.wait())


def serve(folder):
    process, address = start("fovea", "serve", folder, stream="stdout")
    try:
        look(address)
        about = json.loads(get(address, "about")[0])
        print("model:", about["model"], "live:", about["live"], "pictures:", about["shows"])
        print("reports:", len(log(address)[0]) > 3)
        found = json.loads(get(address, "samples?show=align")[0])
        print("samples:", [list(example) for example in found["examples"]])
        print("picture:", ">align<" in found["picture"] and ">b<" in found["picture"])
        # What a killed server has left; no process has so large a number.
        left = os.path.join(tempfile.gettempdir(), "fovea-watch-99999999-left")
        os.makedirs(os.path.join(left, "inner"), exist_ok=True)
        get(address, "samples?show=")
        print("left:", os.path.exists(left))
        print("no picture:", json.loads(get(address, "samples?show=nothing")[0])["error"])
        port = address.split(":")[-1].strip("/")
        taken = subprocess.run(["fovea", "serve", folder, "--port", port], capture_output=True, text=True)
        print("taken:", taken.returncode, taken.stderr.replace(port, "N").strip())
    finally:
        process.terminate()
        process.wait()


def sample(folder):
    process, address = start("fovea", "serve", folder, stream="stdout")
    print(json.loads(get(address, "samples?show=")[0])["error"])
    process.terminate()
    process.wait()


def browser(folder):
    process, address = start("fovea", "serve", folder, stream="stdout")
    try:
        page = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--virtual-time-budget=8000", "--dump-dom",
             address], capture_output=True, text=True, timeout=120).stdout
        print("title:", re.search('id="title">([^<]*):', page)[1])
        print("charts:", re.findall('data-name="([^"]*)"', page))
        print("best:", bool(re.search(r"<title>best: [0-9.e-]+, update \d+", page)))
        print("curves:", len(re.findall("<polyline", page)) >= 5)
        print("samples:", len(re.findall("<dt>generated", page)))
    finally:
        process.terminate()
        process.wait()


def grid(folder, name):
    import os
    import tempfile
    sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "web", "Inputs"))
    from chromium import Chromium
    process, address = start("fovea", "serve", folder, stream="stdout")
    try:
        with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile, Chromium(profile) as page:
            page.call("Page.navigate", url=address)
            page.wait(f"[...document.querySelectorAll('#show option')].some((one) => one.value === '{name}')")
            page.evaluate(f"find('show').value = '{name}'; find('show').dispatchEvent(new Event('change'))")
            image = "document.querySelector('#picture img')"
            page.wait(f"{image} && {image}.alt.startsWith('{name} ') && {image}.naturalWidth > 0")
            samples = page.evaluate("document.querySelectorAll('#samples dl').length")
            panels = page.evaluate(
                "[...new DOMParser().parseFromString(decodeURIComponent(" + image + ".src.replace(/^[^,]*,/, '')), "
                "'image/svg+xml').querySelectorAll('svg > g[transform]')].map((one) => [one.querySelector('text')"
                ".textContent, ...one.getAttribute('transform').match(/[0-9.]+/g).map(Number)])")
        print(f"drawn: {page.logged == []} of {samples} samples")
        titles = [re.search(rf"({name}\.\d+).*\[(\d+)\]", title) for title, _, _ in panels]
        first = {(title[1], title[2]): (x, y) for title, (_, x, y) in reversed([*zip(titles, panels)]) if title}
        above = None
        for layer in sorted({layer for layer, _ in first}):
            row = {first[layer, head][1] for one, head in first if one == layer}
            heads = sum(one == layer for one, _ in first)
            print(f"{layer}: {heads} {'beside each other' if len(row) == 1 else 'anywhere'}"
                  + (", below" if above is not None and min(row) > above else ""))
            above = max(row)
        print("columns:", len({x for x, _ in first.values()}))
    finally:
        process.terminate()
        process.wait()


def checksum(data):
    total = 0xFFFFFFFF
    for byte in data:
        total ^= byte
        for _ in range(8):
            total = (total >> 1) ^ (0x82F63B78 if total & 1 else 0)
    total ^= 0xFFFFFFFF
    return (((total >> 15) | (total << 17)) + 0xA282EAD8) & 0xFFFFFFFF


def fields(data):
    """The fields of a message of protobuf: (number, value)."""
    at = 0

    def varint():
        nonlocal at
        value = shift = 0
        while True:
            value |= (data[at] & 127) << shift
            at, shift = at + 1, shift + 7
            if data[at - 1] < 128:
                return value
    while at < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            size = varint()
            yield key >> 3, data[at:at + size]
            at += size
        else:
            size = 8 if key & 7 == 1 else 4
            yield key >> 3, data[at:at + size]
            at += size


def events(folder):
    assert checksum(b"123456789") == ((0xE3069283 >> 15 | 0xE3069283 << 17) + 0xA282EAD8) & 0xFFFFFFFF
    found = {}
    for path in glob.glob(folder + "/events.out.tfevents.*"):
        data = open(path, "rb").read()
        first = True
        while data:
            (size,) = struct.unpack("<Q", data[:8])
            body = data[12:12 + size]
            assert struct.unpack("<I", data[8:12])[0] == checksum(data[:8])
            assert struct.unpack("<I", data[12 + size:16 + size])[0] == checksum(body)
            data = data[16 + size:]
            event = dict(fields(body))
            if first:
                print("version:", event[3].decode())
                first = False
                continue
            for _, value in fields(event[5]):
                value = dict(fields(value))
                found.setdefault(value[1].decode(), []).append((event[2], struct.unpack("<f", value[2])[0]))
    print("tags:", sorted(found))
    lines = [json.loads(line) for line in open(sys.argv[3])]
    for tag, key in (("train/loss", "loss"), ("valid/loss", "valid_loss")):
        wanted = [(line["step"], line[key]) for line in lines if key in line]
        same = [(step, f"{value:.5g}") for step, value in wanted] == [(step, f"{value:.5g}") for step, value in found[tag]]
        print(tag, "as in the log:", same, len(wanted) > 1)


if sys.argv[1] == "events":
    events(sys.argv[2])
else:
    {"train": train, "serve": serve, "sample": sample, "browser": browser, "grid": grid}[sys.argv[1]](*sys.argv[2:])
