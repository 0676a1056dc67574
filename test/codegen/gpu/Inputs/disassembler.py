"""Stands for CUDA's assembler, which makes an empty file here, or for its disassembler.

    disassembler.py ptxas|nvdisasm ARGUMENTS

The code of products is made up: a loop whose turns have three ways. One has 14 instructions, 8 multiply-adds and a
reciprocal among them. One has 9 more, and one goes past what multiplies.
"""

import sys

MULTIPLY = ["FFMA R1, R2, R3, R1"]
# Code after the loop multiplies once, and a loop without an end does not.
LISTING = ["MOV R1, RZ", ".L_begin:", "LDS R2, [R4]", "@P3 BRA `(.L_both)", "@!P0 BRA `(.L_short)", *8 * MULTIPLY,
           *8 * ["IADD R1, R1, 0x1"], "BRA `(.L_both)", ".L_short:", *8 * MULTIPLY, ".L_both:", "MUFU.RCP R5, R5",
           "BRA P1, `(.L_end)", "BRA `(.L_begin)", ".L_end:", *MULTIPLY, "EXIT", ".L_stay:", "BRA `(.L_stay)"]


def main(tool, *arguments):
    if tool == "ptxas":
        with open(arguments[arguments.index("-o") + 1], "wb"):
            return
    for kernel in range(10):
        print(f".text.loss${kernel}$c$gemm:")
        for at, line in enumerate(LISTING):
            print(line if line.endswith(":") else f"        /*{16 * at:04x}*/                   {line} ;")


if __name__ == "__main__":
    main(*sys.argv[1:])
