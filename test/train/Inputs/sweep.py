"""sweep.py FOLDER TABLE: compares the tables of a sweep over rate and seed with
the logs of its trainings."""

import json
import pathlib
import sys

folder, table = pathlib.Path(sys.argv[1]), sys.argv[2]
first, second = open(table).read().split("\n\n")
assert (folder / "sweep.tsv").read_text().split() == first.split()

losses = {}
for line in first.splitlines()[1:]:
    rate, seed, update, loss, perplexity = line.split()
    log = folder / f"rate={rate},seed={seed}" / "log.jsonl"
    lines = [json.loads(text) for text in log.read_text().splitlines()]
    best = min((each for each in lines if "valid_loss" in each),
               key=lambda each: each["valid_loss"])
    assert int(update) == best["step"]
    assert float(loss) == float(f"{best['valid_loss']:.6g}")
    assert float(perplexity) == float(f"{best['valid_perplexity']:.6g}")
    losses.setdefault(rate, []).append(best["valid_loss"])
assert list(losses) == ["0.01", "0.03"]

for line in second.splitlines()[1:]:
    rate, seeds, mean, least, most, *_ = line.split()
    own = losses[rate]
    assert int(seeds) == len(own) == 2
    for shown, value in ((mean, sum(own) / 2), (least, min(own)), (most, max(own))):
        assert float(shown) == float(f"{value:.6g}"), (shown, value)
