"""Says where `fovea eval` differs from captions.txt (of captions.py)."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
for which in 1, 2:
    rows = (HERE / f"ref.{which}.txt").read_bytes().decode().split("\n")[:-1]
    pathlib.Path(f"var.{which}.txt").write_bytes("".join(
        "\n" if number % (which + 1) == 0 else row + "\n" for number, row in enumerate(rows)).encode())
good = 0
for line in (HERE / "captions.txt").read_text().splitlines():
    _, _, used, name, wanted = line.split("\t")
    texts, options = "", []
    if name == "meteor-all":
        texts, options = "meaning.", ["--wordnet", str(HERE / "wordnet"), "--paraphrases", str(HERE / "paraphrases.txt")]
    command = ["fovea", "eval", name.split("-all")[0], *options, "--digits", "8"]
    command += ["--hyp", str(HERE / f"{texts}hyp.txt")]
    refs = [HERE / "ref.0.txt", "var.1.txt", "var.2.txt"] if used == "var" else \
        [HERE / f"{texts}ref.{number}.txt" for number in range(int(used))]
    for ref in refs:
        command += ["--ref", str(ref)]
    given = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if given.split(" = ")[1].split(" ")[0] == wanted:
        good += 1
    else:
        print(f"{used} references: {wanted} but {given}")
print(f"{good} figures are equal")
