"""growth.py LIBRARY KIND SIZE SIZE SIZE COMMAND ..: what a command costs for bombs (bombs.py)
of three sizes, each twice as much work as the one before: seconds of CPU, allocations
(counted by LIBRARY, allocations.c), and memory.

The second step is twice the first one in a compiler whose work is proportional to the
spec, and four times the first one where it grows by the square, whatever a small spec
costs. It fails where allocations grow by more than 2.5 times as much, memory by more than
3 times, or where the largest spec takes more than 7 times the seconds of the smallest.
"""

import os
import pathlib
import subprocess
import sys

library, kind, sizes, command = sys.argv[1], sys.argv[2], sys.argv[3:6], sys.argv[6:]
bombs = pathlib.Path(__file__).with_name("bombs.py")


def cost(size):
    spec, counts = pathlib.Path("bomb.fov"), pathlib.Path("counts").resolve()
    made = subprocess.run([sys.executable, bombs, kind, size], check=True, capture_output=True, text=True)
    spec.write_text(made.stdout)
    counts.unlink(missing_ok=True)
    # No cache, which would hold code of the last run.
    environment = dict(os.environ, LD_PRELOAD=library, FOVEA_COUNTS=str(counts), FOVEA_CACHE="")
    with subprocess.Popen([*command, spec], env=environment, stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    if child.returncode != 0:
        sys.exit(f"{kind} {size}: exit code {child.returncode}")
    allocations = max(int(line.split()[0]) for line in counts.read_text().splitlines())
    megabytes = used.ru_maxrss / 1024
    print(f"{kind} {size}: {used.ru_utime:.1f} s, {allocations} allocations, {megabytes:.0f} MB")
    return used.ru_utime, allocations, megabytes


def grows(few, some, many, most, least):
    """Whether the second step is more than `most` times the first one, or `least`."""
    return many - some > most * max(some - few, least)


few, some, many = map(cost, sizes)
wrong = [name for name, is_wrong in (("seconds", many[0] > 7 * few[0]),
                                     ("allocations", grows(few[1], some[1], many[1], 2.5, 0)),
                                     ("memory", grows(few[2], some[2], many[2], 3, 15))) if is_wrong]
sys.exit(f"faster than the spec grow {', '.join(wrong)}" if wrong else 0)
