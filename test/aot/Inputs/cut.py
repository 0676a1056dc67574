"""cut.py PROGRAM COPY: a program of which only a beginning is there says so and
ends with 1, whatever is left."""

import os
import subprocess
import sys

program, copy = sys.argv[1:]
data = open(program, "rb").read()
sizes = [128 << 10, len(data) - 1, len(data) - 4097]
sizes += [len(data) * share // 100 for share in (15, 20, 30, 40, 50, 60, 70, 80, 95)]
wrong = 0
for size in sizes:
    with open(copy, "wb") as file:
        file.write(data[:size])
    os.chmod(copy, 0o755)
    done = subprocess.run([copy], input="2\n", capture_output=True, text=True, timeout=60)
    if done.returncode != 1 or not done.stderr.startswith("error: this program is cut") or done.stdout:
        wrong += 1
        print(f"WRONG {size} bytes: {done.returncode} {done.stderr}")
print(f"{len(sizes)} cuts, {wrong} wrong")
