"""Cuts the power during a training, on paper, and resumes what a disk would have.

  power_cut.py [--every N] [--unsynced] COPY.FOV

strace says what a training writes, renames and syncs. After each of these calls a disk may have
different things, as nothing is certain before it is synced:
  kept     all that was written, as if the process alone had ended
  lost     what was synced, and the names of synced folders
  renamed  all names, and what was synced of their content
  torn     all names, and the first half of what was not synced
Each such folder is made, and the training goes on in it. It has to end with the weights of one
that nothing disturbed. --every N takes each N-th of these folders.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys

TRAIN = ("fovea train copy.fov --data src=a.tsv:1,tgt=a.tsv:2 --valid src=a.tsv:1,tgt=a.tsv:2 --metric exact "
         "--valid-every 2 --report-every 1 --save-every 2 --quiet --threads 1 --out run --steps")
CALLS = "openat,write,pwrite64,writev,rename,renameat,renameat2,unlink,unlinkat,mkdir,ftruncate,fsync,lseek"
TEXT = r'"((?:\\x[0-9a-f]{2})*)"'
FILE = r"(\d+)<((?:\\x[0-9a-f]{2})*)>"


def bytes_of(text):
    return bytes.fromhex(text.replace("\\x", ""))


def path_of(text):
    return os.path.abspath(bytes_of(text).decode())


class Disk:
    """What processes see, and what is synced: names of files, and contents of files by number."""

    def __init__(self, folder, syncs=True):
        self.folder, self.syncs = str(folder.resolve()), syncs
        self.seen, self.synced = {}, {}
        self.content, self.safe = {}, {}
        self.offsets = {}
        for path in sorted(folder.rglob("*")):
            self.make(str(path.resolve()), path.read_bytes() if path.is_file() else None)
        self.synced, self.safe = dict(self.seen), dict(self.content)

    def make(self, path, content=b""):
        number = len(self.content)
        self.seen[path], self.content[number], self.safe[number] = number, content, content and b""

    def owns(self, path):
        return path.startswith(self.folder + "/")

    def write(self, path, offset, bytes):
        number = self.seen[path]
        old = self.content[number].ljust(offset, b"\0")
        self.content[number] = old[:offset] + bytes + old[offset + len(bytes):]

    def sync(self, path):
        if path == self.folder or self.content[self.seen[path]] is None:
            for names in (self.synced, self.seen):
                kept = {name: number for name, number in names.items() if os.path.dirname(name) == path}
                if names is self.synced:
                    for name in kept:
                        del self.synced[name]
                else:
                    self.synced.update(kept)
        else:
            number = self.seen[path]
            self.safe[number] = self.content[number]

    def take(self, line):
        """Does what a call did. Returns its name if it changed a disk."""
        found = re.match(r"\d+ +(\w+)\((.*)\) += (\d+)", line)
        if not found:
            return None
        call, arguments, result = found[1], found[2], int(found[3])
        # A call with paths has no other texts.
        is_of_file = call in ("write", "pwrite64", "ftruncate", "fsync", "lseek", "writev")
        paths = [] if is_of_file else [path_of(text) for text in re.findall(TEXT, arguments)]
        file = re.match(FILE, arguments)
        if call == "openat":
            self.offsets[result] = 0
            if not self.owns(paths[0]) or "O_CREAT" not in arguments or paths[0] in self.seen:
                return None
            self.make(paths[0])
        elif call in ("rename", "renameat", "renameat2"):
            if not self.owns(paths[1]):
                return None
            self.seen[paths[1]] = self.seen.pop(paths[0])
        elif call in ("unlink", "unlinkat"):
            if self.seen.pop(paths[0], None) is None:
                return None
        elif call == "mkdir":
            if not self.owns(paths[0]):
                return None
            self.make(paths[0], None)
        else:
            place = path_of(file[2])
            if call == "lseek":
                self.offsets[int(file[1])] = result
                return None
            if place != self.folder and place not in self.seen:
                return None
            if call == "fsync":
                if self.syncs:
                    self.sync(place)
            elif call == "ftruncate":
                size = int(arguments.split()[-1])
                number = self.seen[place]
                self.content[number] = self.content[number][:size].ljust(size, b"\0")
            elif call == "write":
                offset = self.offsets[int(file[1])]
                self.write(place, offset, bytes_of(re.search(TEXT, arguments)[1])[:result])
                self.offsets[int(file[1])] += result
            elif call == "pwrite64":
                self.write(place, int(arguments.split()[-1]), bytes_of(re.search(TEXT, arguments)[1])[:result])
            else:
                sys.exit(f"power_cut: nothing is known of {call}")
        return call

    def states(self):
        """The folders that a cut may leave, as contents by name."""

        def torn(number):
            new, old = self.content[number], self.safe[number]
            return new if new == old or new is None else new[:len(new) // 2]

        for how, names, contents in (("kept", self.seen, self.content.get), ("lost", self.synced, self.safe.get),
                                     ("renamed", self.seen, self.safe.get), ("torn", self.seen, torn)):
            yield how, {name: contents(number) for name, number in names.items() if self.is_in(name, names)}

    def is_in(self, name, names):
        """A name in a folder that has no name is nowhere."""
        folder = os.path.dirname(name)
        return folder == self.folder or (folder in names and self.is_in(folder, names))


def write(state, before, folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    for name in sorted(state):
        path = folder / os.path.relpath(name, before)
        if state[name] is None:
            path.mkdir()
        else:
            path.write_bytes(state[name])


def train(steps, folder, prefix=()):
    resume = ["--resume"] if (folder / "run/last/state.safetensors").exists() else []
    return subprocess.run([*prefix, *TRAIN.split(), str(steps), *resume], cwd=folder, capture_output=True, text=True)


def cut(start, steps, options):
    """Cuts one training everywhere; returns how many folders were tried, and were wrong."""
    whole, cutting = pathlib.Path("whole"), pathlib.Path("cut")
    shutil.rmtree(whole, ignore_errors=True)
    shutil.copytree(start, whole)
    disk = Disk(whole, not options.unsynced)
    trace = pathlib.Path("trace").resolve()
    done = train(steps, whole, ["strace", "-f", "-qq", "-y", "-xx", "-s", "10000000", "-e", "trace=" + CALLS, "-o", trace])
    if done.returncode != 0:
        sys.exit(done.stderr)
    wanted = (whole / "run/model.safetensors").read_bytes()
    os.chdir(whole)
    seen, states = set(), []
    for number, line in enumerate(trace.read_text().splitlines()):
        call = disk.take(line)
        if call:
            for how, state in disk.states():
                key = tuple(sorted(state.items(), key=lambda one: one[0]))
                if key not in seen:
                    seen.add(key)
                    states.append((f"{call} {number}, {how}", state))
    os.chdir("..")
    if not any(how.endswith(" kept") for how, _ in states):
        sys.exit("power_cut: the training has written nothing")
    wrong = 0
    for what, state in states[::options.every]:
        write(state, disk.folder, cutting)
        done = train(steps, cutting)
        if done.returncode != 0 or (cutting / "run/model.safetensors").read_bytes() != wanted:
            wrong += 1
            print(f"{what}: exit code {done.returncode}: {done.stderr.strip()[-200:]}", flush=True)
    return len(states[::options.every]), wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--unsynced", action="store_true")
    options = parser.parse_args()
    start = pathlib.Path("start")
    shutil.rmtree(start, ignore_errors=True)
    start.mkdir()
    shutil.copy(options.spec, start / "copy.fov")
    (start / "a.tsv").write_text("".join(f"{word}\t{word}\n" for word in ("ab", "ba", "abc", "c", "cab", "bc")))
    for steps in 4, 6:
        tried, wrong = cut(start, steps, options)
        print(f"{steps} steps: {tried} folders after a cut, {wrong} wrong", flush=True)
        # The second training goes on where the first one ended.
        shutil.rmtree(start)
        shutil.copytree("whole", start)


main()
