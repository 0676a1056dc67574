"""Assembles PTX and asks what the kernels take of a processor.

    budgets.py PTXAS WORK_DIRECTORY ARCHITECTURE FILE.ptx

Fails where one spills registers, or has more of them than its kind may have.
"""

import os
import re
import subprocess
import sys

# A processor has 65,536 registers. With 96 per thread, 640 threads run at a time;
# with 128, 512 of them. That is enough for products, whose threads have much to
# do. Sums over all examples have blocks of a warp, so few of their threads run at a time.
# In a large tile they have 64 sums each, and a block may have a processor to
# itself. Two or more small tiles in bf16, of 128 threads, run at a time, or one
# large tile. A loop that is one launch has two blocks of 128 threads on a processor.
# Strips of attention are 64 rows by 256 threads, and two blocks of them are on a
# processor; in bf16 they are as products are, and some keys at a time are 128
# threads. Tiles of copies have 256 or 288 threads, and a processor to themselves.
# So have strips of copies: their 384 threads begin with 168 registers, and some
# take 232 later. Blocks that copy factors have 256 threads, two on a processor.
MOST = {"kernels": 96, "sums": 128, "products": 128, "large products": 255, "loops": 255, "small tiles in bf16": 255,
        "large tiles in bf16": 255, "strips": 128, "strips in bf16": 255, "tiles of copies": 224, "strips of copies": 168,
        "copies of factors": 128}
# Where heads of 128 numbers take all registers: an address once for 64 rows, and some once for 64 keys.
SPILT = {"strips in bf16": 8, "strips of copies": 16}


def main(ptxas, work, architecture, ptx):
    cubin = os.path.join(work, architecture + ".cubin")
    done = subprocess.run([ptxas, "-arch=" + architecture, "-v", "-o", cubin, ptx], capture_output=True, text=True)
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    assert not re.search(r"\b(error|warning)\b", said), said
    kernels = re.findall(
        r"Compiling entry function '(\S+)'.*?(\d+) bytes spill stores, (\d+) bytes spill loads.*?Used (\d+) registers"
        r"(?:[^\n]*?(\d+) bytes smem)?", said, re.DOTALL)
    assert kernels, said
    with open(ptx) as file:
        text = file.read()
    isRounded = "mma.sync" in text
    warps = set(re.findall(r"^\.visible \.entry (\S+)\([^)]*\)\n\.maxntid 32$", text, re.MULTILINE))
    largest, counts = dict.fromkeys(MOST, 0), dict.fromkeys(MOST, 0)
    spilt = 0
    for name, stores, loads, registers, shared in kernels:
        family = "loops" if "$loop" in name else "sums" if name in warps else \
            "copies of factors" if "$factors" in name else \
            "strips of copies" if "$strips$" in name and "$copies$" in name else \
            "strips in bf16" if "$strips$" in name and isRounded else "strips" if "$strips$" in name else \
            "kernels" if "gemm" not in name else \
            "large products" if "bf16" not in name and int(shared) > 16384 else "products" if "bf16" not in name else \
            "tiles of copies" if "$copies$" in name else \
            "large tiles in bf16" if int(shared) > 32768 else "small tiles in bf16"
        spilt = max(spilt, int(stores), int(loads))
        assert max(int(stores), int(loads)) <= SPILT.get(family, 0), f"{name} spills {spilt} bytes"
        assert int(registers) <= MOST[family], f"{name} has {registers} registers"
        counts[family] += 1
        largest[family] = max(largest[family], int(registers))
    print(f"{counts['kernels']} kernels, {counts['products']} products: at most {largest['kernels']} and "
          f"{largest['products']} registers, {spilt} bytes spilt")
    for family in list(MOST)[3:]:
        print(f"{counts[family]} {family}: at most {largest[family]} registers")


if __name__ == "__main__":
    main(*sys.argv[1:])
