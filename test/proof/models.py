"""Compiles models with and without `--prove`, and compares the CPU time of both.

    models.py SIZES [--limit TIMES] [MODEL..]

SIZES is tiny (those of test/models/tiny.py) or wide (those of wide.py). The models are those of tiny.py,
or the named ones. Arguments after `--` are of the compiler.
"""

import argparse
import os
import resource
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
sys.path.insert(0, os.path.join(HERE, "..", "golden"))
import tiny  # noqa: E402
import wide  # noqa: E402

tiny.MODELS.update(tiny.PUBLISHED)


def options(model, sizes):
    if sizes == "wide":
        return wide.options(model)
    return [word for k, v in tiny.MODELS[model][0].items() for word in ("--set", f"{k}={v}")]


def seconds(command):
    """The CPU seconds of a command, and what it has printed as errors."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    done = subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, check=False)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, done.stderr.strip(), done.returncode


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("sizes", choices=("tiny", "wide"))
    parser.add_argument("--limit", type=float, default=0, help="how many times the CPU time a proof may take")
    parser.add_argument("--target", default="native")
    parser.add_argument("models", nargs="*")
    more = sys.argv[sys.argv.index("--") + 1:] if "--" in sys.argv else []
    given = parser.parse_intermixed_args(sys.argv[1:len(sys.argv) - len(more) - bool(more)])
    models = given.models or list(tiny.MODELS)
    proved, most = 0, 0.0
    for model in models:
        spec = os.path.join(HERE, "..", "..", "models", model + ".fov")
        code = "ptx" if given.target.startswith("cuda") else "asm"
        command = ["fovea", "compile", spec, *options(model, given.sizes), "--emit", code, "--target", given.target, *more]
        own, text, status = seconds([*command, "--prove"])
        report = text.splitlines()[-1] if text else "nothing is said"
        times = 0.0
        if given.limit:
            without, _, _ = seconds(command)
            times = own / without
        most = max(most, times)
        proved += status == 0 and report.startswith("proved") and times <= (given.limit or times)
        print(f"{model}: {report if status == 0 else text}" + (f" ({times:.1f} times)" if given.limit else ""),
              flush=True)
    print(f"{proved} of {len(models)} are proved" + (f", in at most {most:.1f} times" if given.limit else ""))
    sys.exit(proved != len(models))


if __name__ == "__main__":
    main()
