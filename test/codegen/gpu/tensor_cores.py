"""Tensor cores of the emulated GPU, against MMA-Sim.

    tensor_cores.py DRIVER CAPABILITY GOLDEN
    tensor_cores.py DRIVER CAPABILITY --random NUMBER [--write GOLDEN]

A kernel of PTX multiplies tiles by mma.sync.m16n8k16 in bf16. Its results have the bits that are in GOLDEN, a file of tiles.
`--random`: of so many random tiles, the bits that the package `mmasim` gives, which says what GPUs do (arXiv 2511.10909).
`--write` stores them. Among the numbers are zeros, infinities, NaNs, subnormal numbers and such of very different sizes.
"""

import argparse
import array
import ctypes
import random
import sys

from driver import Driver

# Each lane has its elements of a tile side by side: 8 words of factors in all, and 4 sums.
PTX = b"""
.version 8.0
.target sm_80
.address_size 64
.visible .entry multiply(.param .align 8 .b8 list[16], .param .b64 units)
{
  .reg .b32 %r<32>;
  .reg .b64 %rd<16>;
  ld.param.b64 %rd1, [list];
  ld.param.b64 %rd2, [list+8];
  mov.u32 %r1, %ctaid.x;
  mov.u32 %r2, %tid.x;
  shl.b32 %r3, %r1, 5;
  add.s32 %r4, %r3, %r2;
  cvt.u64.u32 %rd3, %r4;
  mul.lo.s64 %rd4, %rd3, 40;
  add.s64 %rd5, %rd1, %rd4;
  ld.global.b32 %r5, [%rd5];
  ld.global.b32 %r6, [%rd5+4];
  ld.global.b32 %r7, [%rd5+8];
  ld.global.b32 %r8, [%rd5+12];
  ld.global.b32 %r9, [%rd5+16];
  ld.global.b32 %r10, [%rd5+20];
  ld.global.b32 %r11, [%rd5+24];
  ld.global.b32 %r12, [%rd5+28];
  ld.global.b32 %r13, [%rd5+32];
  ld.global.b32 %r14, [%rd5+36];
  mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%r15, %r16, %r17, %r18}, {%r5, %r6, %r7, %r8}, {%r9, %r10}, {%r11, %r12, %r13, %r14};
  shl.b64 %rd6, %rd3, 4;
  add.s64 %rd7, %rd2, %rd6;
  st.global.b32 [%rd7], %r15;
  st.global.b32 [%rd7+4], %r16;
  st.global.b32 [%rd7+8], %r17;
  st.global.b32 [%rd7+12], %r18;
  ret;
}
"""
ROWS, COLUMNS, TERMS, LANES = 16, 8, 16, 32
# Of a tile: halves of the left side by rows, of the right side by columns, and words of the sums by rows.
LEFT, RIGHT, SUMS = ROWS * TERMS, COLUMNS * TERMS, ROWS * COLUMNS


def fragments(left, right, sums):
    """The words of each lane, as the PTX manual lays them out."""
    words = array.array("I")
    for lane in range(LANES):
        group, pair = lane // 4, lane % 4 * 2
        for late, below in ((0, 0), (0, 8), (8, 0), (8, 8)):
            at = (group + below) * TERMS + pair + late
            words.append(left[at] | left[at + 1] << 16)
        for late in (0, 8):
            at = group * TERMS + pair + late
            words.append(right[at] | right[at + 1] << 16)
        for below in (0, 8):
            at = (group + below) * COLUMNS + pair
            words.extend(sums[at:at + 2])
    return words


class Multiplier:
    def __init__(self, path):
        self.driver = Driver(path)
        self.function = self.driver.load(PTX, b"multiply")

    def memory(self, size):
        return self.driver.allocate("cuMemAllocManaged", size, 1)

    def multiply(self, tiles):
        """The sums of each tile, by rows."""
        words = array.array("I")
        for tile in tiles:
            words += fragments(*tile)
        given, results = self.memory(len(words) * 4), self.memory(len(tiles) * SUMS * 4)
        ctypes.memmove(given, words.tobytes(), len(words) * 4)
        self.driver.run(self.function, len(tiles), LANES, given.value, results.value)
        found = array.array("I", ctypes.string_at(results, len(tiles) * SUMS * 4))
        for memory in (given, results):
            self.driver.call("cuMemFree_v2", memory)
        every = []
        for number in range(len(tiles)):
            rows = array.array("I", bytes(SUMS * 4))
            for lane in range(LANES):
                at = lane // 4 * COLUMNS + lane % 4 * 2
                own = found[number * SUMS + 4 * lane:][:4]
                rows[at:at + 2], rows[at + 8 * COLUMNS:at + 8 * COLUMNS + 2] = own[:2], own[2:]
            every.append(rows)
        return every


def drawn(draw):
    """A tile. Its kind says how far its numbers are apart, and which special ones there are."""
    kind = draw.randrange(4)
    spread = (2, 12, 60, 126)[kind]

    def number(digits):
        if kind == 3 and draw.random() < 0.02:
            exponent = draw.choice((0, 0, 255))
        else:
            exponent = 127 + draw.randint(-spread, spread)
        if draw.random() < 0.05:
            return draw.randrange(2) << digits + 8
        return draw.randrange(2) << digits + 8 | exponent << digits | draw.randrange(1 << digits)

    return (array.array("H", (number(7) for _ in range(LEFT))), array.array("H", (number(7) for _ in range(RIGHT))),
            array.array("I", (number(23) for _ in range(SUMS))))


def simulated(capability, tiles):
    import torch
    from mmasim.nv_ptx import MMA
    family = {80: "Ampere", 86: "Ampere", 90: "Hopper", 100: "Blackwell"}[capability]
    operation = MMA(family, "m16n8k16.f32.bf16.bf16.f32")

    def tensor(values, kind, type, *shape):
        return torch.frombuffer(bytearray(values.tobytes()), dtype=kind).view(type).reshape(*shape)

    left = torch.stack([tensor(tile[0], torch.int16, torch.bfloat16, ROWS, TERMS) for tile in tiles])
    right = torch.stack([tensor(tile[1], torch.int16, torch.bfloat16, COLUMNS, TERMS) for tile in tiles])
    sums = torch.stack([tensor(tile[2], torch.int32, torch.float32, ROWS, COLUMNS) for tile in tiles])
    shape = (len(tiles), ROWS, COLUMNS, TERMS)
    found = operation.dpa(left[:, :, None, :].expand(shape), right[:, None, :, :].expand(shape), sums)
    return [array.array("I", (word & 0xFFFFFFFF for word in each.contiguous().view(torch.int32).flatten().tolist()))
            for each in found]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("driver")
    parser.add_argument("capability", type=int)
    parser.add_argument("golden", nargs="?")
    parser.add_argument("--random", type=int)
    parser.add_argument("--write")
    given = parser.parse_args()
    multiplier = Multiplier(given.driver)
    if given.random is None:
        tiles, expected = [], []
        with open(given.golden) as file:
            for line in file:
                if line.startswith(f"{given.capability} "):
                    left, right, sums, result = line.split()[1:]
                    tiles.append(tuple(array.array(kind, bytes.fromhex(text))
                                       for kind, text in (("H", left), ("H", right), ("I", sums))))
                    expected.append(array.array("I", bytes.fromhex(result)))
        compare(multiplier, tiles, expected)
        return print(f"{len(tiles)} tiles have the bits of MMA-Sim")
    draw = random.Random(given.capability)
    for first in range(0, given.random, 1000):
        tiles = [drawn(draw) for _ in range(min(1000, given.random - first))]
        expected = simulated(given.capability, tiles)
        if given.write:
            with open(given.write, "a") as file:
                for tile, result in zip(tiles, expected):
                    print(given.capability, *(each.tobytes().hex() for each in (*tile, result)), file=file)
        compare(multiplier, tiles, expected)
    print(f"{given.random} tiles have the bits of MMA-Sim")


def compare(multiplier, tiles, expected):
    for number, (found, wanted) in enumerate(zip(multiplier.multiply(tiles), expected)):
        if found != wanted:
            at = next(i for i in range(SUMS) if found[i] != wanted[i])
            row, column = divmod(at, COLUMNS)
            left, right, sums = tiles[number]
            sys.exit(f"tile {number}, row {row}, column {column}: {found[at]:08x} and not {wanted[at]:08x}; "
                     f"{sums[at]:08x} + {left[row * TERMS:][:TERMS].tobytes().hex()} * "
                     f"{right[column * TERMS:][:TERMS].tobytes().hex()}")


if __name__ == "__main__":
    main()
