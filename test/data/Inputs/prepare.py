"""Checks the promises of `fovea data` for generated lines.

prepare.py split      no key is on two sides; shares; seeds; growing files
prepare.py interrupt  an interrupted command leaves no file
"""

import collections
import pathlib
import random
import signal
import subprocess
import sys
import time


def data(*arguments):
    subprocess.run(["fovea", "data", *map(str, arguments)], check=True,
                   stdout=subprocess.DEVNULL)


def lines(folder, part):
    return pathlib.Path(folder, part + ".tsv").read_text().splitlines()


def split():
    numbers = random.Random(1)
    rows = [f"key {numbers.randrange(2000)}\tvalue {i}" for i in range(10000)]
    pathlib.Path("rows.tsv").write_text("".join(row + "\n" for row in rows))
    shares = {"train": 8, "valid": 1, "test": 1}
    given = ["--split", ",".join(f"{name}={share}" for name, share in shares.items()),
             "--key", 1]
    data("rows.tsv", "--out", "plain", *given)

    # Every line is in one part, in its order, and no key is on two sides.
    parts = {name: lines("plain", name) for name in shares}
    assert sorted(sum(parts.values(), [])) == sorted(rows)
    places = {row: place for place, row in enumerate(rows)}
    for own in parts.values():
        assert own == sorted(own, key=places.get)
    sides = collections.defaultdict(set)
    for name, own in parts.items():
        for row in own:
            sides[row.split("\t")[0]].add(name)
    assert all(len(names) == 1 for names in sides.values())

    # 2000 keys: a share of 0.1 is 200 of them, with a deviation of 13.
    counts = collections.Counter(next(iter(names)) for names in sides.values())
    for name, share in shares.items():
        wanted = len(sides) * share / 10
        assert abs(counts[name] - wanted) < 5 * (wanted * (1 - share / 10)) ** 0.5

    # Another seed is another split, the same seed the same one. A line stays in
    # its part when others come or go.
    data("rows.tsv", "--out", "again", *given)
    data("rows.tsv", "--out", "other", *given, "--seed", 1)
    assert lines("again", "test") == parts["test"]
    assert lines("other", "test") != parts["test"]
    pathlib.Path("half.tsv").write_text("".join(row + "\n" for row in rows[::2]))
    data("half.tsv", "--out", "half", *given)
    assert set(lines("half", "test")) == set(parts["test"]) & set(rows[::2])

    # Shuffling permutes each part, by the seed.
    data("rows.tsv", "--out", "mixed", *given, "--shuffle")
    data("rows.tsv", "--out", "mixed2", *given, "--shuffle")
    for name, own in parts.items():
        mixed = lines("mixed", name)
        assert mixed != own and sorted(mixed) == sorted(own)
        assert lines("mixed2", name) == mixed

    # A repeated line counts once, wherever its first one is.
    pathlib.Path("twice.tsv").write_text("".join(row + "\n" for row in rows + rows[:5000]))
    data("twice.tsv", "--out", "unique", "--drop-repeated")
    assert lines("unique", "data") == rows


def interrupt():
    # A pipe without an end: the command waits for it.
    command = ["bash", "-c", "exec fovea data <(yes 'some words') --out cut --shuffle"]
    process = subprocess.Popen(command)
    deadline = time.monotonic() + 60
    while not list(pathlib.Path(".").glob("cut.part.*")) and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    assert process.wait(timeout=60) == 130, process.returncode
    assert not list(pathlib.Path(".").glob("cut*")), list(pathlib.Path(".").glob("cut*"))


{"split": split, "interrupt": interrupt}[sys.argv[1]]()
