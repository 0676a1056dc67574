"""limited.py SECONDS MEGABYTES KIND SIZE COMMAND ..: runs a command with a bomb (bombs.py)
as the last argument. Fails where it takes more CPU time or memory than that. Where the
command refuses the spec, its error is printed."""

import os
import pathlib
import subprocess
import sys

seconds, megabytes, kind, size, command = float(sys.argv[1]), float(sys.argv[2]), sys.argv[3], sys.argv[4], sys.argv[5:]
bombs = pathlib.Path(__file__).with_name("bombs.py")
with open("bomb.fov", "w") as spec:
    subprocess.run([sys.executable, bombs, kind, size], check=True, stdout=spec)
with subprocess.Popen([*command, "bomb.fov"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as child:
    error = child.stderr.read()
    _, status, used = os.wait4(child.pid, 0)
    child.returncode = os.waitstatus_to_exitcode(status)
time, memory = used.ru_utime + used.ru_stime, used.ru_maxrss / 1024
if child.returncode not in (0, 1) or (child.returncode == 1) != ("error: " in error):
    sys.exit(f"exit code {child.returncode}: {error}")
if time > seconds or memory > megabytes:
    sys.exit(f"{kind} {size}: {time:.1f} s, {memory:.0f} MB")
print(f"{kind} {size}: {'refused: ' + error.splitlines()[0] if child.returncode else 'compiled'}")
