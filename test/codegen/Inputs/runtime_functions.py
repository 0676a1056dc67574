"""Prints the functions of libm that a library of the runtime calls.

    runtime_functions.py LIBRARY..

Those that are exact by their definition have the same bits everywhere; any other one is an error.
"""

import ctypes
import subprocess
import sys

EXACT = {"ceil", "copysign", "fabs", "floor", "fmod", "frexp", "ldexp", "ldexpf", "llround", "lround", "modf", "nearbyint",
         "nextafter", "nextafterf", "rint", "round", "sqrt", "sqrtf", "trunc"}


def symbols(path, *options):
    listed = subprocess.run(["llvm-nm", "--format=just-symbols", *options, path], capture_output=True, text=True, check=True)
    return {name.split("@")[0] for name in listed.stdout.split()}


def main(*libraries):
    ctypes.CDLL("libm.so.6")
    with open("/proc/self/maps") as file:
        path = next(line.split()[-1] for line in file if "/libm" in line)
    known = symbols(path, "--dynamic", "--defined-only")
    assert {"exp", "log", "pow", "sin"} <= known
    for library in libraries:
        called = symbols(library, "--undefined-only") & known
        print(f"{library.split('/')[-1]}: {len(called & EXACT)} exact functions of libm, and no other")
        if rest := sorted(called - EXACT):
            sys.exit(f"it calls {' '.join(rest)}")


if __name__ == "__main__":
    main(*sys.argv[1:])
