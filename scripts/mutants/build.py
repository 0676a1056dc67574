"""Programs in which every mistake of a list is planted, and one of them happens at a time.

The environment says which: `FOVEA_PLANTED=17`. With `FOVEA_REACHED=FILE`, the byte of
each mistake in this file becomes 1 when its place is executed.
"""

import concurrent.futures
import json
import pathlib
import re
import shlex
import subprocess
import threading

from .sites import choice

# What the quick tests call, as far as it holds passes or emitters.
PROGRAMS = ("fovea", "fovea-opt", "fovea-random", "fovea-unit", "fovea-gradcheck", "fovea-reduce", "fovea-mutate",
            "fovea-jit")
PLANTED = """\
#include <cstdlib>
#include <fcntl.h>
#include <sys/mman.h>
inline bool planted(int number) {
  struct Choice {
    int number = 0;
    unsigned char *reached = nullptr;
    Choice() {
      if (const char *text = std::getenv("FOVEA_PLANTED"))
        number = std::atoi(text);
      if (const char *name = std::getenv("FOVEA_REACHED")) {
        void *bytes = mmap(nullptr, 1 << 16, PROT_READ | PROT_WRITE, MAP_SHARED, open(name, O_RDWR | O_CLOEXEC), 0);
        reached = bytes == MAP_FAILED ? nullptr : static_cast<unsigned char *>(bytes);
      }
    }
  };
  static const Choice choice;
  if (choice.reached)
    choice.reached[number] = 1;
  return number == choice.number;
}
"""
MOST = (1 << 16) - 1
PLACE = re.compile(r"^(?P<path>/[^:\n]+):(?P<line>\d+):\d+: (?P<kind>fatal error|error|note)", re.MULTILINE)


class Build:
    """The changed sources, objects and programs, in a folder of their own.

    `planted` maps the number of each mistake to it. Those that the compiler refuses leave
    it, and come into `refused`.
    """

    def __init__(self, root, build, folder, chosen):
        assert len(chosen) <= MOST
        self.root, self.build, self.folder = root, build, folder
        # What the compiler refused before, it refuses again.
        self.list, self.lock = folder / "refused.txt", threading.Lock()
        before = set(self.list.read_text().splitlines()) if self.list.exists() else ()
        numbered = dict(enumerate(chosen, 1))
        self.planted = {number: one for number, one in numbered.items() if str(one) not in before}
        self.refused = {number: one for number, one in numbered.items() if str(one) in before}
        self.sources, self.objects = folder / "sources", folder / "objects"
        self.objects.mkdir(parents=True, exist_ok=True)
        (folder / "planted.h").write_text(PLANTED)

    def write(self, path):
        """Writes the changed source; headers beside it are those of the original."""
        target = self.sources / path
        target.parent.mkdir(parents=True, exist_ok=True)
        for header in (self.root / path).parent.glob("*.h"):
            if not (link := target.parent / header.name).is_symlink():
                link.symlink_to(header)
        content = (self.root / path).read_text()
        choices = sorted(choice(content, one, number) for number, one in list(self.planted.items()) if one.path == path)
        for begin, end, text in reversed(choices):
            content = content[:begin] + text + content[end:]
        if not target.exists() or target.read_text() != content:
            target.write_text(content)

    def lines_of(self, number):
        mistake = self.planted[number]
        content = (self.root / mistake.path).read_text()
        begin, end, _ = choice(content, mistake, number)
        return range(content.count("\n", 0, begin) + 1, content.count("\n", 0, end) + 2)

    def refuse(self, paths, messages):
        """Takes away the mistakes in lines that the compiler's errors name, or else all of `paths`."""
        named, notes, falls = set(), set(), set()
        own = {str(self.sources / path): path for path in paths}
        for found in PLACE.finditer(messages):
            if path := own.get(found["path"]):
                at = {number for number, one in list(self.planted.items())
                      if one.path == path and int(found["line"]) in self.lines_of(number)}
                (notes if found["kind"] == "note" else named).update(at)
        falls = named or notes or {number for number, one in list(self.planted.items()) if one.path in paths}
        if not falls:
            raise RuntimeError(f"{' '.join(paths)} do not compile:\n{messages}")
        for number in falls:
            self.refused[number] = self.planted.pop(number)
        with self.lock:
            self.list.write_text("".join(f"{one}\n" for one in self.refused.values()))

    def compile(self, jobs):
        """Compiles each file that holds a mistake, with those that CMake compiles with it."""
        groups = []
        for entry in json.loads((self.build / "compile_commands.json").read_text()):
            group = pathlib.Path(entry["file"])
            text = group.read_text() if group.suffix == ".cxx" else f'#include "{group}"\n'
            files = {path: str(pathlib.Path(path).relative_to(self.root))
                     for path in re.findall(r'#include "(/.*\.cpp)"', text) if path.startswith(f"{self.root}/")}
            # Others compile some of them again, for a library of their own.
            inside = any(group.is_relative_to(top / own.split("/")[0]) for own in files.values()
                         for top in (self.root, self.build))
            if inside and set(files.values()) & {one.path for one in list(self.planted.values())}:
                groups.append((entry, text, files))
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            list(pool.map(lambda group: self.compile_group(*group), groups))

    def compile_group(self, entry, text, files):
        name = re.sub(r"\W", "-", entry["file"].removeprefix(str(self.build) + "/").replace("CMakeFiles/", ""))
        source, target = self.objects / f"{name}.cxx", self.objects / f"{name}.o"
        for path, own in files.items():
            text = text.replace(f'"{path}"', f'"{self.sources / own}"')
        if not source.exists() or source.read_text() != text:
            source.write_text(text)
        command = shlex.split(entry["command"])
        command[command.index("-o") + 1] = str(target)
        command[command.index("-c") + 1] = str(source)
        command += ["-w", "-Wno-c++11-narrowing", "-ferror-limit=0", "-include", str(self.folder / "planted.h")]
        while True:
            for own in files.values():
                self.write(own)
            original = pathlib.Path(entry["directory"], shlex.split(entry["command"])[command.index("-o") + 1])
            older = [source, original, *(self.sources / own for own in files.values())]
            if target.exists() and all(path.stat().st_mtime <= target.stat().st_mtime for path in older):
                return
            done = subprocess.run(command, cwd=entry["directory"], capture_output=True, text=True)
            if done.returncode == 0:
                return
            self.refuse(list(files.values()), done.stderr)

    def link(self):
        bin = self.folder / "bin"
        bin.mkdir(exist_ok=True)
        objects = sorted(self.objects.glob("*.o"))
        newest = max(path.stat().st_mtime for path in objects)
        for program in PROGRAMS:
            original, target = self.build / "bin" / program, bin / program
            if target.exists() and target.stat().st_mtime > max(newest, original.stat().st_mtime):
                continue
            listed = subprocess.run(["ninja", "-C", self.build, "--quiet", "-t", "commands", f"bin/{program}"],
                                    check=True, capture_output=True, text=True).stdout
            command = shlex.split(listed.splitlines()[-1].removeprefix(": && ").removesuffix(" && :"))
            at = command.index("-o")
            command[at + 1] = str(target)
            # Of two objects that hold a symbol, the linker takes the first.
            command[at:at] = ["-Wl,--start-lib", *map(str, objects), "-Wl,--end-lib"]
            subprocess.run(command, cwd=self.build, check=True)
