"""Compiled code calls no function of libm.

    functions.py WORK_DIRECTORY SPEC..

Compiles the gradients of each spec in f32 and f64, and reads what the LLVM IR
declares: the runtime's threads, and intrinsics that are instructions. Prints how
many fused multiply-adds there are, which is what differs on WebAssembly.
"""

import os
import re
import subprocess
import sys

INSTRUCTIONS = {"abs", "copysign", "fabs", "floor", "fma", "masked", "maximum", "minimum", "prefetch", "roundeven", "sqrt",
                "vector", "ceil", "trunc", "round", "smax", "smin", "umax", "umin", "memcpy", "memmove", "memset",
                "lifetime", "assume", "experimental"}


def main(work, *specs):
    os.makedirs(work, exist_ok=True)
    for spec in specs:
        for dtype in ("f32", "f64"):
            code = os.path.join(work, "code.ll")
            subprocess.run(["fovea", "compile", spec, "--emit", "llvm", "--entry", "grad", "--dtype", dtype, "-o", code],
                           check=True)
            with open(code) as file:
                text = file.read()
            for name in re.findall(r"^declare .*?@([\w.]+)\(", text, re.MULTILINE):
                _, isIntrinsic, rest = name.partition("llvm.")
                known = rest.split(".")[0] in INSTRUCTIONS if isIntrinsic else name.startswith("fovea_")
                assert known, f"{spec}, {dtype}: calls {name}"
            count = len(re.findall(r"call .*@llvm\.fma\.", text))
            print(f"{os.path.basename(spec)[:-4]}, {dtype}: {count} fused multiply-adds, no function of libm")


if __name__ == "__main__":
    main(*sys.argv[1:])
