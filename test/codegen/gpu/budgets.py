"""Assembles PTX and asks what the kernels take of a processor.

    budgets.py PTXAS WORK_DIRECTORY ARCHITECTURE FILE.ptx

Fails where one spills more than a number or two, or has more registers than its kind may have.
"""

import os
import re
import subprocess
import sys

# A processor has 65,536 registers: 64 let 1024 threads run at a time, 128 half
# of them, which is enough for products, whose threads have much to do.
MOST = {False: 64, True: 128}
# A division of 64 bits is a call, across which a number or two are kept.
SPILT = 16


def main(ptxas, work, architecture, ptx):
    cubin = os.path.join(work, architecture + ".cubin")
    done = subprocess.run([ptxas, "-arch=" + architecture, "-v", "-o", cubin, ptx], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not re.search(r"\b(error|warning)\b", said), said
    kernels = re.findall(
        r"Compiling entry function '(\S+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers",
        said, re.DOTALL)
    assert kernels, said
    largest, counts = {False: 0, True: 0}, {False: 0, True: 0}
    spilt = 0
    for name, stores, loads, registers in kernels:
        isProduct = "gemm" in name
        spilt = max(spilt, int(stores), int(loads))
        assert spilt <= SPILT, f"{name} spills {spilt} bytes"
        assert int(registers) <= MOST[isProduct], f"{name} has {registers} registers"
        counts[isProduct] += 1
        largest[isProduct] = max(largest[isProduct], int(registers))
    print(f"{counts[False]} kernels, {counts[True]} products: at most {largest[False]} and {largest[True]} registers, "
          f"{spilt} bytes spilt")


if __name__ == "__main__":
    main(*sys.argv[1:])
