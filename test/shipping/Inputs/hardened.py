"""Says how a program is protected.

  hardened.py FILE PATH..         and how many of the paths it has
  hardened.py --notes FILE..      which checks of the CPU each object, program or member of an archive allows
  hardened.py --landings FILE     how many of its kernels, or of `main`, begin where a CPU lets pointers lead
"""

import collections
import pathlib
import re
import subprocess
import sys

def read(*options, tool="llvm-readelf-22"):
    return subprocess.run([tool, *options], check=True, capture_output=True, text=True).stdout


def answer(what, holds):
    print(f"{what}: {'yes' if holds else 'no'}")


def protection(file, paths):
    headers, dynamic, symbols = read("-lW", file), read("-dW", file), read("--dyn-syms", "-W", file)
    stack = next(line for line in headers.splitlines() if "GNU_STACK" in line)
    answer("position-independent", "DYN" in read("-hW", file))
    answer("read-only tables", "GNU_RELRO" in headers and ("BIND_NOW" in dynamic or " NOW" in dynamic))
    answer("executable stack", " RWE " in stack)
    answer("canaries", "__stack_chk_fail" in symbols)
    answer("checked functions", re.search(r"\b__\w+_chk\b", symbols))
    content = pathlib.Path(file).read_bytes()
    found = {path for path in paths if path.encode() + b"/" in content}
    print("paths of the build:", len(found), *sorted(found))


def notes(file):
    """Counts what the notes of a file, or of each member of an archive, say."""
    found = collections.Counter()
    for part in re.split(r"^(?=File: )", read("-n", file), flags=re.MULTILINE):
        if file.endswith(".a") and not part.startswith("File: "):
            continue
        feature = re.search(r"feature: (.*)", part)
        found[feature[1] if feature else "none"] += 1
    print(f"{pathlib.Path(file).name}:", "; ".join(f"{count} {what}" for what, count in sorted(found.items())))


def landings(file):
    """Functions that other files see may be reached by pointers."""
    code = read("-d", "--no-show-raw-insn", file, tool="llvm-objdump-22")
    names = set(re.findall(r"FUNC +(?:GLOBAL|WEAK) +\w+ +\d+ (\S+)", read("-sW", file)))
    firsts = dict(re.findall(r"^[0-9a-f]+ <(\S+)>:\n\s*[0-9a-f]+:\s+(\w+(?:\s+\w+)?)", code, flags=re.MULTILINE))
    own = {name: first for name, first in firsts.items() if name in names}
    good = [name for name, first in own.items() if re.match(r"endbr64|bti\s+c|paciasp", first)]
    print(f"{len(good)} of {len(own)} functions: {'all' if own and len(good) == len(own) else 'not all'}")


if sys.argv[1] == "--notes":
    for each in sys.argv[2:]:
        notes(each)
elif sys.argv[1] == "--landings":
    landings(sys.argv[2])
else:
    protection(sys.argv[1], sys.argv[2:])
