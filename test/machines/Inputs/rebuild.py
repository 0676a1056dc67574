"""rebuild.py PROGRAM COPY: copies a program and changes its build-id."""

import pathlib
import shutil
import subprocess
import sys

program, copy = sys.argv[1:]
notes = subprocess.run(["llvm-readelf-22", "-n", program], capture_output=True,
                       text=True, check=True).stdout
name = bytes.fromhex(notes.split("Build ID:")[1].split()[0])
text = pathlib.Path(program).read_bytes()
assert text.count(name) >= 1
pathlib.Path(copy).write_bytes(text.replace(name, bytes(reversed(name))))
shutil.copymode(program, copy)
