"""Lets every system call of a command fail, one per run, and looks at what is left.

  fault_loop.py [--every N] [--most N] [--only NAME,..]
                [--allocations LIBRARY | --driver FOLDER DRIVER | --interrupted] COPY.FOV

Each command runs in a copy of a prepared folder. Whichever call fails, the command
either does its work, with the same results as ever, or ends with exit code 1 or 3 and an
error. Afterwards the same command, without faults, has the results of one that nothing
disturbed. `serve` is a server that is asked for its pages; `program`, `library` and
`python` use what Fovea compiles. Python, which needs packages, runs if --only names it.
--every N takes each N-th call only, and --most N only N of a kind. With --allocations, it
is allocations of memory that fail, and with --driver, calls of CUDA's driver. With
--interrupted, a signal interrupts a call once (EINTR): then the command does its work.
"""

import argparse
import collections
import filecmp
import pathlib
import re
import shutil
import subprocess
import sys

# Calls that touch files, folders, memory, threads and sockets, and the error of each. A failed brk has
# none: it returns another end of the memory than it was asked for.
ERRORS = {"openat": "EACCES", "read": "EIO", "pread64": "EIO", "write": "ENOSPC", "pwrite64": "ENOSPC",
          "fsync": "EIO", "rename": "EIO", "mkdir": "ENOSPC", "unlink": "EIO", "ftruncate": "ENOSPC",
          "getdents64": "EIO", "newfstatat": "EIO", "fstat": "EIO", "lseek": "EIO", "mmap": "ENOMEM",
          "brk": "retval=0", "clone3": "EAGAIN", "memfd_create": "ENFILE", "fallocate": "ENOSPC",
          "copy_file_range": "EIO", "chmod": "EPERM", "fchmod": "EPERM", "pipe2": "EMFILE",
          "vfork": "EAGAIN", "link": "EIO", "symlink": "EIO", "readlink": "EIO", "fcntl": "EIO",
          "socket": "EMFILE", "bind": "EACCES", "listen": "EADDRINUSE", "getsockname": "ENOBUFS",
          "setsockopt": "ENOBUFS", "eventfd2": "EMFILE", "accept4": "EMFILE", "recvfrom": "ECONNRESET",
          "sendto": "EPIPE", "poll": "ENOMEM"}

TRAIN = ("fovea train copy.fov --data src=a.tsv:1,tgt=a.tsv:2 --valid src=a.tsv:1,tgt=a.tsv:2 --metric exact "
         "--valid-every 2 --report-every 1 --save-every 2 --quiet --threads 1 --out")
COMMANDS = {
    "check": "fovea check copy.fov",
    "train": f"{TRAIN} new --steps 4",
    "resume": f"{TRAIN} run --steps 6 --resume",
    "decode": "fovea decode run --data src=src.txt --show align=align.svg --threads 1 --quiet",
    "score": "fovea score run --data src=a.tsv:1,tgt=a.tsv:2 --threads 1 --quiet",
    "run": "fovea run run --data src=a.tsv:1,tgt=a.tsv:2 --get align -o align.safetensors --threads 1 --quiet",
    "compile": "fovea compile run --emit obj -o copy.o",
    "plot": "fovea plot run -o curves.png",
    "eval": "fovea eval bleu --hyp src.txt --ref src.txt",
    "info": "fovea info run",
    "data": "fovea data a.tsv --out parts --split train=9,test=1",
    "new": "fovea new translate made",
    "serve": f"{sys.executable} serving.py @ fovea serve run --port 0",
    "program": "./copy src.txt --beam 2",
    "library": "./use run/model.safetensors",
    "python": f"{sys.executable} use.py run",
}
# What a command does before its own work, where that is not `fovea --version`.
BEFORE = {"program": "./copy --version", "library": "./use", "python": f"{sys.executable} use.py"}
# How to make what a command runs.
INCLUDED = "-std=c11 -Wall -Wextra -Werror -I."
PREPARATIONS = {
    "program": ["fovea compile run --emit exe -o copy"],
    "library": ["fovea compile run --emit so -o libcopy.so",
                f"clang {INCLUDED} use.c -L. -lcopy -Wl,-rpath,$ORIGIN -o use"],
}


class SystemCalls:
    """One of them fails, by strace."""

    prefix = []

    def counting(self, file):
        return ["strace", "-f", "-qq", "-o", file, "-e", "trace=" + ",".join(ERRORS)]

    def counts(self, lines):
        found = (re.match(r"\d+ +(\w+)\(", line) for line in lines)
        return collections.Counter(one[1] for one in found if one)

    def failing(self, call, number):
        error = ERRORS[call] if "=" in ERRORS[call] else f"error={ERRORS[call]}"
        return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:{error}:when={number}"]


class Interruptions(SystemCalls):
    """A signal interrupts one of those that wait, by strace."""

    calls = ("openat", "read", "pread64", "write", "pwrite64", "fsync", "ftruncate", "fallocate", "wait4", "poll",
             "accept4", "recvfrom", "sendto")

    def counting(self, file):
        return ["strace", "-f", "-qq", "-o", file, "-e", "trace=" + ",".join(self.calls)]

    def failing(self, call, number):
        return ["strace", "-f", "-qq", "-o", "/dev/null", "-e", f"inject={call}:error=EINTR:when={number}"]


class Allocations:
    """One gives no memory, by allocations.c."""

    def __init__(self, library):
        # No cache, so that each run does the same.
        self.prefix = ["env", "FOVEA_CACHE=", f"LD_PRELOAD={library}"]

    def counting(self, file):
        return [*self.prefix, f"FOVEA_COUNTS={file}"]

    def counts(self, lines):
        # The largest is the command itself, and not a program that it calls.
        return collections.Counter({"allocation": max(int(line.split()[0]) for line in lines)})

    def failing(self, call, number):
        return [*self.prefix, f"FOVEA_FAIL={number}"]


class DriverCalls:
    """One call of CUDA's driver fails, by failing_driver.c in FOLDER ahead of DRIVER."""

    def __init__(self, folder, driver):
        self.prefix = ["env", f"LD_LIBRARY_PATH={folder}", f"FOVEA_DRIVER={driver}", "FOVEA_EMULATOR_OPTIMISE=0",
                       "FOVEA_EMULATOR_WATCH=0", "FOVEA_EMULATOR_PROCESSORS=1"]

    def counting(self, file):
        return [*self.prefix, f"FOVEA_COUNTS={file}"]

    def counts(self, lines):
        counts = collections.Counter({name: int(count) for name, count in map(str.split, lines)})
        del counts["cuGetErrorString"]  # it gives no results
        return counts

    def failing(self, call, number):
        outOfMemory, unknown = 2, 999
        error = outOfMemory if "Alloc" in call or "Load" in call else unknown
        return [*self.prefix, f"FOVEA_FAIL={call}:{number}:{error}"]


class Loop:
    def __init__(self, options, way):
        self.options = options
        self.way = way
        self.wrong = []
        self.runs = collections.Counter()

    def start(self, folder):
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree("start", folder)

    @staticmethod
    def run(command, folder, prefix=()):
        """Runs it behind `prefix`, which stands ahead of all or at an @."""
        words = command.split()
        place = words.index("@") if "@" in words else 0
        words[place:place + ("@" in words)] = prefix
        return subprocess.run(words, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, timeout=120)

    def calls(self, command, folder):
        """How often the command makes each call."""
        self.start(folder)
        file = pathlib.Path("calls").resolve()
        file.unlink(missing_ok=True)
        self.run(command, folder, self.way.counting(file))
        return self.way.counts(file.read_text(errors="replace").splitlines() if file.exists() else [])

    def differing(self, one, other):
        """The first file of two folders that is not the same in both."""
        files = {path.relative_to(folder) for folder in (one, other) for path in folder.rglob("*") if path.is_file()}
        for name in sorted(files):
            if name.name in ("log.jsonl", "given.json"):  # times, and the folder
                continue
            # A command that has no memory cannot even remove what it was about to rename.
            if isinstance(self.way, Allocations) and ".part." in str(name):
                continue
            if not (one / name).exists() or not (other / name).exists() or \
                    not filecmp.cmp(one / name, other / name, shallow=False):
                return str(name)
        return None

    def check(self, name, command):
        whole = pathlib.Path("whole")
        self.start(whole)
        wanted = self.run(command, whole, self.way.prefix)
        if wanted.returncode != 0:
            sys.exit(f"{name}: {wanted.stderr.decode()}")
        # What the loader of programs does before the command begins is not ours.
        before = self.calls(BEFORE.get(name, "fovea --version"), "before")
        for call, count in self.calls(command, "count").items():
            every = max(self.options.every, (count - before[call]) // self.options.most)
            for number in range(before[call] + 1 + every // 2, count + 1, every):
                self.fail(name, command, wanted, call, number)

    def fail(self, name, command, wanted, call, number):
        folder = pathlib.Path("fault")
        self.start(folder)
        self.runs[name] += 1

        def wrong(what, done):
            self.wrong.append(f"{name}: {call} {number}: {what}")
            print(self.wrong[-1], "|", done.stderr.decode(errors="replace").strip()[-300:].replace("\n", " / "), flush=True)

        done = self.run(command, folder, self.way.failing(call, number))
        if b"GLib-ERROR" in done.stderr and b"creating thread" in done.stderr:
            return None  # the library of fonts ends the process when it gets no thread
        if done.returncode and isinstance(self.way, Interruptions):
            return wrong(f"exit code {done.returncode}", done)
        if done.returncode not in (0, 1, 3):
            return wrong(f"exit code {done.returncode}", done)
        if done.returncode and b"error: " not in done.stderr:
            return wrong(f"exit code {done.returncode} without an error", done)
        if done.returncode == 0 and done.stdout != wanted.stdout:
            return wrong("another answer", done)
        if done.returncode == 0 or b"cannot write to standard output" in done.stderr:
            differs = self.differing(folder, pathlib.Path("whole"))
            return differs and wrong(f"'{differs}' differs", done)
        again = self.run(command + (" --resume" if name == "train" and (folder / "new/last").exists() else ""), folder,
                         self.way.prefix)
        if again.returncode != 0 or again.stdout != wanted.stdout:
            return wrong(f"afterwards: exit code {again.returncode}: {again.stderr.decode().strip()[-200:]}", done)
        differs = self.differing(folder, pathlib.Path("whole"))
        if differs:
            wrong(f"afterwards '{differs}' differs", done)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spec", type=pathlib.Path)
    parser.add_argument("--every", type=int, default=1)
    parser.add_argument("--only", default=",".join(name for name in COMMANDS if name != "python"))
    parser.add_argument("--most", type=int, default=sys.maxsize)
    parser.add_argument("--allocations", metavar="LIBRARY")
    parser.add_argument("--driver", nargs=2, metavar=("FOLDER", "DRIVER"))
    parser.add_argument("--interrupted", action="store_true")
    options = parser.parse_args()
    start = pathlib.Path("start")
    shutil.rmtree(start, ignore_errors=True)
    start.mkdir()
    shutil.copy(options.spec, start / "copy.fov")
    words = ["".join("abcd"[(i * j + j) % 4] for j in range(1, 3 + i % 4)) for i in range(24)]
    (start / "a.tsv").write_text("".join(f"{word}\t{word}\n" for word in words))
    (start / "src.txt").write_text("".join(f"{word}\n" for word in words[:3]))
    subprocess.run(f"{TRAIN} run --steps 4".split(), cwd=start, check=True)
    names = options.only.split(",")
    for file in ("serving.py", "use.c", "use.py"):
        shutil.copy(pathlib.Path(__file__).parent / file, start)
    for command in sum((PREPARATIONS.get(name, []) for name in names), []):
        subprocess.run(command.split(), cwd=start, check=True)
    way = (Allocations(options.allocations) if options.allocations else
           DriverCalls(*options.driver) if options.driver else
           Interruptions() if options.interrupted else SystemCalls())
    loop = Loop(options, way)
    for name in names:
        # Libraries of pictures and fonts end the process, or take another font.
        if options.allocations and name == "plot":
            continue
        loop.check(name, COMMANDS[name] + (" --target cuda" if options.driver else ""))
        print(f"{name}: {loop.runs[name]} failed calls", flush=True)
    print(f"{sum(loop.runs.values())} failed calls, {len(loop.wrong)} wrong")


main()
