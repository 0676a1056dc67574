"""Says where `fovea eval` differs from captions.txt (of captions.py)."""

import pathlib
import subprocess

HERE = pathlib.Path(__file__).resolve().parent
good = 0
for line in (HERE / "captions.txt").read_text().splitlines():
    _, _, used, name, wanted = line.split("\t")
    texts, options = "", []
    if name == "meteor-all":
        texts, options = "meaning.", ["--wordnet", str(HERE / "wordnet"), "--paraphrases", str(HERE / "paraphrases.txt")]
    command = ["fovea", "eval", name.split("-all")[0], *options, "--digits", "8"]
    command += ["--hyp", str(HERE / f"{texts}hyp.txt")]
    for number in range(int(used)):
        command += ["--ref", str(HERE / f"{texts}ref.{number}.txt")]
    given = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    if given.split(" = ")[1].split(" ")[0] == wanted:
        good += 1
    else:
        print(f"{used} references: {wanted} but {given}")
print(f"{good} figures are equal")
