"""linear.py MOST SIZE COMMAND ..: the CPU time of a command that has {} for a
size: with SIZE, and with four times that. Fails where it is more than MOST
times as long."""

import resource
import subprocess
import sys

most, size, command = float(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]


def seconds(size):
    best = float("inf")
    for _ in range(3):
        before = resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime
        subprocess.run([word.replace("{}", str(size)) for word in command], check=True, stdout=subprocess.DEVNULL)
        best = min(best, resource.getrusage(resource.RUSAGE_CHILDREN).ru_utime - before)
    return best


few, many = seconds(size), seconds(4 * size)
print(f"{size}: {few:.2f} s, {4 * size}: {many:.2f} s")
sys.exit(0 if many <= most * few else f"{many / few:.1f} times as long")
