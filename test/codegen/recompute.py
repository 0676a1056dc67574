"""Prints by how much a limit lowers the memory of a program's arrays.

    recompute.py SPEC MEGABYTES WORK_DIRECTORY OPTION..

Times the gradients with and without `--max-activation-mb`, with these options.
"""

import json
import os
import subprocess
import sys


def main(spec, megabytes, work, *options):
    os.makedirs(work, exist_ok=True)
    report = os.path.join(work, "report.json")
    found = []
    for limit in [], ["--max-activation-mb", megabytes]:
        subprocess.run(["fovea", "bench", spec, "--entry", "grad", "--runs", "1", "--seconds", "0", "--threads", "1",
                        "--json", report, *options, *limit], check=True, stdout=subprocess.DEVNULL)
        with open(report, encoding="utf-8") as file:
            found.append(json.load(file)["arena_bytes"])
    before, after = found
    print(f"{100 - 100 * after // before} % less")


if __name__ == "__main__":
    main(*sys.argv[1:])
