"""Runs models as checked code, and compares the bits with those of code without checks.

    checked.py WORK_DIRECTORY SIZES run WHAT[,WHAT..] [MODEL..]
    checked.py WORK_DIRECTORY MODELS_DIRECTORY decode [MODEL..]

WHAT is what `fovea run --get` takes. SIZES is tiny (those of tiny.py) or wide (those of wide.py), and
the models are those of tiny.py, or the named ones. Decoders and their data are those of
test/decode/same_bits.py, and all of its models if none is named.
"""

import os
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "models"))
import tiny  # noqa: E402

TINY = dict(tiny.LENGTHS)
import bits  # noqa: E402

sys.path.insert(0, os.path.join(HERE, "..", "decode"))
WAYS = [["--beam", "3", "--nbest", "3"], ["--sample", "--seed", "3", "--nbest", "2"]]


def call(command):
    return subprocess.run(command, capture_output=True, text=True, check=False)


def run(work, sizes, gets, *models):
    """Yields each model, and its mistake or nothing."""
    if sizes == "tiny":
        bits.options = lambda model: [word for k, v in tiny.MODELS[model][0].items()
                                      for word in ("--set", f"{k}={v}")]
        tiny.LENGTHS = TINY
    for model in models or tiny.TRAINED:
        model, arguments, out = bits.prepared(model, work)
        command = ["fovea", "run", *arguments, "--get", *gets.split(",")]
        plain = call(command)
        assert plain.returncode == 0, (model, plain.stderr)
        expected = bits.read(out)
        checked = call([*command, "--checked"])
        if checked.returncode != 0:
            yield model, checked.stderr.strip()
            continue
        found = bits.read(out)
        wrong = sum(bits.count(expected[name], found[name]) for name in expected)
        yield model, f"{wrong} numbers differ" if wrong or set(found) != set(expected) else ""


def decode(work, folder, *models):
    """The same for decoders, each with a beam and with samples."""
    import same_bits
    os.makedirs(work, exist_ok=True)
    for name in models or [m for m in tiny.MODELS if m not in same_bits.REASONS]:
        model = same_bits.Model(folder, work, name, [])
        for way in WAYS[name in same_bits.REAL:]:
            command = ["fovea", "decode", model.spec, *model.sets, "--weights", model.files["w"],
                       *(["--data", model.files["b"]] if model.given else []),
                       "--json", *way, "--max-length", "4", "--dtype", "f32"]
            plain, checked = call(command), call([*command, "--checked"])
            assert plain.returncode == 0, (name, plain.stderr)
            mistake = checked.stderr.strip() if checked.returncode != 0 else ""
            yield f"{name} {way[0]}", mistake or ("" if checked.stdout == plain.stdout else "other output")


def main(work, where, what, *rest):
    results = list(tried(run(work, where, *rest) if what == "run" else decode(work, where, *rest)))
    failures = sum(bool(mistake) for _, mistake in results)
    print(f"{len(results) - failures} of {len(results)} have the same bits")
    sys.exit(1 if failures else 0)


def tried(results):
    for name, mistake in results:
        print(f"{name}: {mistake or 'same bits'}", flush=True)
        yield name, mistake


if __name__ == "__main__":
    main(*sys.argv[1:])
