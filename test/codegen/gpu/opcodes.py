"""Disassembles machine code of a GPU and counts the instructions of each kernel.

    opcodes.py NVDISASM FILE.cubin

Fails where a kernel has an instruction that would cost it its bits (atomic
additions, but for those by which the blocks of a loop count themselves, and
approximate functions), or a product has not those of its kind.
"""

import collections
import re
import subprocess
import sys

# Where the order of additions would be a matter of luck.
ATOMIC = ("ATOM", "ATOMG", "ATOMS", "RED", "REDG")
# Of whole numbers it is none. Atomic loads and stores are no additions.
COUNTING = "ATOMG.E.ADD.STRONG.GPU"
# Of approximate instructions, division and root begin with these two and end
# correctly rounded. Weights of attention by groups of warps, which are rounded to
# bf16, have approximate exponentials.
FUNCTIONS = {"RCP", "RSQ", "RCP64H", "RSQ64H"}
TENSOR = ("HMMA", "HGMMA")


def count(nvdisasm, cubin):
    """The instructions of each kernel, with their modifiers, by number."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    kernels = {}
    for line in text.splitlines():
        if begins := re.match(r"\.text\.(\S+):", line):
            opcodes = kernels.setdefault(begins[1], collections.Counter())
        elif instruction := re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)", line):
            opcodes[instruction[1]] += 1
    return kernels


def total(opcodes, *names):
    return sum(number for opcode, number in opcodes.items() if opcode.split(".")[0] in names)


def main(nvdisasm, cubin):
    kernels = count(nvdisasm, cubin)
    assert kernels, cubin
    products = collections.Counter()
    for name, opcodes in kernels.items():
        counting = opcodes[COUNTING] if "$loop" in name else 0
        assert total(opcodes, *ATOMIC) == counting, f"{name} has atomic operations: {opcodes}"
        functions = {opcode.split(".")[1] for opcode in opcodes if opcode.startswith("MUFU.")}
        ofGroups = "$strips$" in name and "$copies$" in name
        assert functions <= FUNCTIONS | ({"EX2"} if ofGroups else set()), f"{name} has approximate functions: {functions}"
        isRounded = name.endswith("$bf16")
        assert isRounded or "gemm" not in name or not total(opcodes, *TENSOR), f"{name} rounds its factors"
        if "gemm" in name:
            kind = "bf16" if isRounded else "f32"
            opcode = TENSOR if isRounded else ("FFMA",)
            byGroups = total(opcodes, "HGMMA") > 0
            # Of a piece of 64 terms wgmma multiplies 16 at a time.
            least = 4 if byGroups else 8
            assert total(opcodes, *opcode) >= least, f"{name} multiplies by other instructions: {opcodes}"
            assert not byGroups or total(opcodes, "UBLKCP"), f"{name} fetches no tile by an instruction: {opcodes}"
            shared = sum(number for opcode, number in opcodes.items() if opcode.startswith("UBLKCP") and "MULTICAST" in opcode)
            assert bool(shared) == byGroups, f"{name} fetches nothing for other blocks: {opcodes}"
            products[kind] += 1
            products["groups"] += byGroups
        if ofGroups:
            # Of 64 terms, and of pairs with 64 keys, 16 at a time.
            assert total(opcodes, "HGMMA") >= 8, f"{name} multiplies by other instructions: {opcodes}"
            assert total(opcodes, "UBLKCP"), f"{name} fetches no tile by an instruction: {opcodes}"
            products["strips"] += 1
    print(f"{len(kernels)} kernels, of which products: {products['f32']} in f32, {products['bf16']} in bf16, "
          f"{products['groups']} by groups of warps; {products['strips']} attentions by such groups")


if __name__ == "__main__":
    main(*sys.argv[1:])
