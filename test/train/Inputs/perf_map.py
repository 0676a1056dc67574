"""Runs a command that writes a map for perf, and removes the map.

  perf_map.py COMMAND .. TARGET    with a link to the file TARGET in its place (the last word has a '/')
  perf_map.py COMMAND ..           says what the map is
"""

import os
import subprocess
import sys

command, target = sys.argv[1:], None
if "/" in command[-1]:
    target = command.pop()


def prepare():
    if target:
        os.symlink(target, f"/tmp/perf-{os.getpid()}.map")


process = subprocess.Popen(command, stdout=subprocess.DEVNULL, preexec_fn=prepare)
path = f"/tmp/perf-{process.pid}.map"
try:
    assert process.wait() == 0
    if not target:
        with open(path) as file:
            print(f"mode {os.stat(path).st_mode & 0o777:o}, functions:", len(file.readlines()) > 0)
finally:
    os.remove(path)
