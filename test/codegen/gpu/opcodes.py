"""Disassembles machine code of a GPU and counts the instructions of each kernel.

    opcodes.py NVDISASM FILE.cubin [MOST]

Fails where a kernel has an instruction that would cost it its bits (atomic
additions, but for those by which the blocks of a loop count themselves, and
approximate functions), or a product has not those of its kind. Fails as well if a
warp of an attention by groups of warps needs more than MOST instructions for a
tile of 64 keys, or calls a function there, as it does to divide.
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


def kernelsOf(nvdisasm, cubin):
    """The instructions of each kernel, with their modifiers, and the loops among them: begins and ends."""
    text = subprocess.run([nvdisasm, "-c", cubin], capture_output=True, text=True, check=True).stdout
    kernels, loops = {}, {}
    for line in text.splitlines():
        if begins := re.match(r"\.text\.(\S+):", line):
            opcodes, found, labels = kernels.setdefault(begins[1], []), loops.setdefault(begins[1], []), {}
        elif label := re.match(r"(\.L_\w+):", line):
            labels[label[1]] = len(opcodes)
        elif instruction := re.match(r"\s+/\*[0-9a-f]+\*/\s+(?:@!?U?P\w+\s+)?([A-Z][A-Z0-9_.]*)(.*)", line):
            opcodes.append(instruction[1])
            target = re.search(r"\.L_\w+", instruction[2])
            if instruction[1] == "BRA" and target and target[0] in labels:
                found.append((labels[target[0]], len(opcodes)))
    return kernels, loops


def tileOf(code, loops):
    """The instructions for a tile of keys: the shortest loop that multiplies."""
    bodies = [collections.Counter(code[begin:end]) for begin, end in loops]
    return min((body for body in bodies if total(body, "HGMMA")), key=lambda body: body.total())


def total(opcodes, *names):
    return sum(number for opcode, number in opcodes.items() if opcode.split(".")[0] in names)


def main(nvdisasm, cubin, most="0"):
    kernels, loops = kernelsOf(nvdisasm, cubin)
    assert kernels, cubin
    products, tiles = collections.Counter(), []
    for name, code in kernels.items():
        opcodes = collections.Counter(code)
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
            tile = tileOf(code, loops[name])
            assert not total(tile, "CALL"), f"{name} calls a function for each pair: {tile}"
            assert tile.total() <= int(most), f"{name} has {tile.total()} instructions for a tile of keys: {tile}"
            tiles.append(tile.total())
    print(f"{len(kernels)} kernels, of which products: {products['f32']} in f32, {products['bf16']} in bf16, "
          f"{products['groups']} by groups of warps; {products['strips']} attentions by such groups"
          + "".join(f", {tile} instructions for a tile" for tile in tiles))


if __name__ == "__main__":
    main(*sys.argv[1:])
