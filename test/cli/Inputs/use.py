"""use.py [FOLDER]: opens a trained model in Python, trains it further, generates and saves. Whatever
fails is one error. Without an argument it only imports what it needs."""

import subprocess  # noqa: F401
import sys
import tempfile  # noqa: F401

import fovea


def use(folder):
    model = fovea.load(folder)
    batch = {"src": [[2, 3, 1], [3, 1]], "tgt": [[2, 3, 1], [3, 1]]}
    losses = [model.train_step(batch, seed=update) for update in range(3)]
    best = [hypotheses[0].logp for hypotheses in model.search({"src": batch["src"]}, beam=2)]
    model.save("used.safetensors")
    print(*(f"{number:.4f}" for number in losses + best), flush=True)


if len(sys.argv) > 1:
    try:
        use(sys.argv[1])
    except (fovea.Error, OSError, MemoryError) as error:
        print(f"error: {error or 'memory is used up'}", file=sys.stderr)
        sys.exit(1)
