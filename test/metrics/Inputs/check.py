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
        for name, column in zip(NAMES, columns):
            part = "".join(text + "\n" for text in column[int(first):int(last)])
            pathlib.Path(name).write_bytes(part.encode())
        command = ["fovea", "eval", *options.split(), "--digits", "8", "--hyp",
                   NAMES[0]]
        for name in NAMES[1:int(used) + 1]:
            command += ["--ref", name]
        given = subprocess.run(command, capture_output=True, text=True,
                               check=True).stdout.rstrip("\n")
        if given == wanted:
            good += 1
        else:
            print(f"lines {first} to {last}, {used} references, {options}:\n"
                  f"  {wanted}\n  {given}")
    print(f"{good} figures are equal")


main()
