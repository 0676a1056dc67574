"""Compiled code calls no function of libm.

    functions.py WORK_DIRECTORY [--machines] SPEC..

Compiles the gradients of each spec in f32 and f64, and reads what the LLVM IR
declares: the runtime's threads, and intrinsics that are instructions. Prints how
many fused multiply-adds there are, which is what differs on WebAssembly. With
--machines it also reads the code of each machine, where an intrinsic may be a call.
"""

import os
import re
import subprocess
import sys

MACHINES = ("x86-64-v3", "x86-64-v4", "aarch64", "wasm32")
MEMORY = {"memcpy", "memmove", "memset"}
INSTRUCTIONS = {"abs", "copysign", "fabs", "floor", "fma", "masked", "maximum", "minimum", "prefetch", "roundeven", "sqrt",
                "vector", "ceil", "trunc", "round", "smax", "smin", "umax", "umin", "memcpy", "memmove", "memset",
                "lifetime", "assume", "experimental"}


def main(work, *specs):
    os.makedirs(work, exist_ok=True)
    machines, specs = (MACHINES, specs[1:]) if specs[0] == "--machines" else ((), specs)
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
            called = {name for machine in machines for name in calls(spec, dtype, machine, code)}
            wrong = {name for name in called if not name.startswith("fovea_")} - MEMORY
            assert not wrong, f"{spec}, {dtype}: calls {wrong}"
            count = len(re.findall(r"call .*@llvm\.fma\.", text))
            print(f"{os.path.basename(spec)[:-4]}, {dtype}: {count} fused multiply-adds, no function of libm")


def calls(spec, dtype, machine, code):
    """What the code of a machine calls, and does not define."""
    option = "--cpu" if machine.startswith("x86") else "--target"
    subprocess.run(["fovea", "compile", spec, "--emit", "asm", "--entry", "grad", "--dtype", dtype, option, machine, "-o", code],
                   check=True)
    with open(code) as file:
        text = file.read()
    defined = set(re.findall(r"^(\w+):", text, re.MULTILINE))
    found = re.findall(r"^\s+(?:callq?|jmp|bl|b|call)\s+\*?([A-Za-z_]\w*)(?:@\w+(?:\(%rip\))?)?\s*(?:#.*|//.*)?$", text, re.MULTILINE)
    assert set(found) & defined or "fovea_" in text, f"{machine}: no calls are found"
    return set(found) - defined


if __name__ == "__main__":
    main(*sys.argv[1:])
