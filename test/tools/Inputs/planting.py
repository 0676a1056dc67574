"""Plants every mistake that scripts/mutate knows in planted.cpp, and runs the program with each.

planting.py SCRIPTS FOLDER
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys

sys.path.insert(0, sys.argv[1])
from mutants.build import Build  # noqa: E402
from mutants.sites import choice, sample  # noqa: E402

folder = pathlib.Path(sys.argv[2])
source = folder / "passes/planted.cpp"
source.parent.mkdir(parents=True)
shutil.copy(pathlib.Path(__file__).with_name("planted.cpp"), source)
command = f"clang++ -std=c++20 -o planted.o -c {source}"
(folder / "compile_commands.json").write_text(
    json.dumps([{"directory": str(folder), "command": command, "file": str(source)}]))
(folder / "planted.o").touch()
os.utime(folder / "planted.o", (0, 0))

content = source.read_text()
chosen = sample({"passes/planted.cpp": content}, 100, seed=1)
places = [choice(content, one, 0)[:2] for one in chosen]
assert all(a == b or a[1] <= b[0] or b[1] <= a[0] for a in places for b in places), "two mistakes overlap"
build = Build(folder, folder, folder / "mutants", chosen)
build.compile(1)
assert len(build.planted) + len(build.refused) == len(chosen)
for mistake in sorted(map(str, build.refused.values())):
    print("refused", mistake)
subprocess.run(["clang++", *(folder / "mutants/objects").glob("*.o"), "-o", folder / "planted"], check=True)


def run(**environment):
    return subprocess.run([folder / "planted"], env=dict(os.environ, **environment), capture_output=True,
                          text=True).stdout.strip()


print("without a mistake", run())
reached = folder / "reached"
reached.write_bytes(bytes(1 << 16))
run(FOVEA_REACHED=str(reached))
for number, mistake in sorted(build.planted.items(), key=lambda one: str(one[1])):
    print(f"{mistake}: {run(FOVEA_PLANTED=str(number))}", "" if reached.read_bytes()[number] else "(not reached)")
