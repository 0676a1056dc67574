"""faults.py FROM WHOLE COMMAND ..: resumes copies of the folder FROM while one
look at a file of it fails, each in turn. The command either ends well or says
what failed, and leaves a file that is whole: resumed, it ends as WHOLE."""

import filecmp
import os
import shutil
import subprocess
import sys

source, whole, command = sys.argv[1], sys.argv[2], sys.argv[3:] + ["--out", "fault"]
for name in ("model.safetensors", "last/state.safetensors"):
    for number in range(1, 7):
        shutil.rmtree("fault", ignore_errors=True)
        shutil.copytree(source, "fault")
        place = os.path.join("fault", name)
        done = subprocess.run(
            ["strace", "-f", "-qq", "-o", "/dev/null", "-P", place, "-P",
             os.path.abspath(place), "-e",
             f"inject=newfstatat,readlink:error=EIO:when={number}", *command],
            stderr=subprocess.PIPE)
        # What cannot be read is the input's fault, what cannot be written the
        # machine's.
        if done.returncode not in (0, 1, 3):
            sys.exit(f"{name}, {number}: exit code {done.returncode}")
        if done.returncode != 0:
            assert b"Input/output error" in done.stderr, done.stderr
        subprocess.run(command, check=True)
        for each in ("model.safetensors", "last/state.safetensors"):
            assert filecmp.cmp(os.path.join(whole, each),
                               os.path.join("fault", each), False), each
