"""how_to.py ROOT PAGE..: runs the commands of the pages, in a folder that already has
what they name.

Runs each line of a block ```sh. A training without an end stops after four updates. What cannot run here is in ELSEWHERE, with the test of the
repository that covers it.
"""

import os
import re
import subprocess
import sys

BLOCK = re.compile(r"^```sh\n(.*?)^```$", re.M | re.S)
ENDS = re.compile(r"--(steps|minutes|epochs|resume|config)\b")
#: A part of a command, and the test that covers it; empty: it belongs to the reader's own machine.
ELSEWHERE = {
    "code --install-extension": "",
    "~/": "",
    "--hostfile": "machines/everything.test",
    "srun": "machines/everything.test",
    "man -l": "cli/manual.test",
    "pip install": "python/install.test",
    "scripts/package-vscode": "editors/vscode.test",
    "scripts/package": "shipping/package.test",
    "fovea serve": "train/watch.test",
    "--serve": "train/watch.test",
    "bf16:sm_90 --target": "codegen/gpu/tensor-sums.test",
    "models/gpt2.map": "models/published.test",
    "HF": "models/published.test",
    "fovea chat": "cli/chat.test",
    "models/bert.map": "models/bert.test",
    "bert.onnx": "models/onnx-nightly.test",
    "bert.safetensors": "models/bert.test",
    "marian.safetensors": "models/marian.test",
    "joint.vocab": "models/marian.test",
}


def covered(root, command):
    """The test of a command that is not run here; None: it is run."""
    for part, test in ELSEWHERE.items():
        if part in command:
            path = os.path.join(root, "test", test)
            assert os.path.exists(path), f"{path} is missing"
            return test or "the reader's machine"
    return None


def main():
    root, *pages = sys.argv[1:]
    for page in pages:
        with open(os.path.join(root, "docs", page + ".md"), encoding="utf-8") as file:
            blocks = BLOCK.findall(file.read())
        ran = left = 0
        for line in "".join(blocks).splitlines():
            command = line.split(" #")[0].strip()
            if not command:
                continue
            test = covered(root, command)
            if test:
                left += 1
                print(f"{page}: not run, see {test}: {command}")
                continue
            if "fovea train" in command and not ENDS.search(command):
                command += " --steps 4 --report-every 4"
            print(f"{page}: {command}", flush=True)
            done = subprocess.run(["bash", "-e", "-o", "pipefail", "-c", command], stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8")
            print(done.stdout, end="", flush=True)
            if done.returncode:
                sys.exit(f"exit code {done.returncode}")
            ran += 1
        print(f"{page}: {ran} commands ran, {left} are covered elsewhere")


main()
