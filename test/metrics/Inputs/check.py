"""Says where `fovea eval` differs from golden.txt (of golden.py)."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
NAMES = ["hyp.txt", "ref.0.txt", "ref.1.txt", "ref.2.txt"]


def main():
    columns = [(HERE / name).read_bytes().decode().split("\n")[:-1]
               for name in NAMES]
    good = 0
    for line in (HERE / "golden.txt").read_text().splitlines():
        first, last, used, options, wanted = line.split("\t")
        for which, (name, column) in enumerate(zip(NAMES, columns)):
            rows = column[int(first):int(last)]
            if used == "var":
                rows = ["" if which > 1 and number % which == 0 else text
                        for number, text in enumerate(rows)]
            part = "".join(text + "\n" for text in rows)
            pathlib.Path(name).write_bytes(part.encode())
        is_paired = "--paired" in options
        command = ["fovea", "eval", *options.split(), "--digits",
                   "4" if is_paired else "8", "--hyp", NAMES[0]]
        command += ["--hyp", NAMES[3]] if is_paired else []
        for name in NAMES[1:4 if used == "var" else int(used) + 1]:
            command += ["--ref", name]
        if "--per-line" in options or is_paired:
            command += ["--empty-references"]
        given = subprocess.run(command, capture_output=True, text=True,
                               check=True).stdout.rstrip("\n").replace("\n", " ")
        if given == wanted:
            good += 1
        else:
            print(f"lines {first} to {last}, {used} references, {options}:\n"
                  f"  {wanted}\n  {given}")
    print(f"{good} figures are equal")


main()
