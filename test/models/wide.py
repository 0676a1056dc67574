"""The models of tiny.py with sizes that no vector divides and lengths above 16.

Layers, scores and what is read with weights then are matrix products with a rest. Tests of bits take
their sizes from here.
"""

import tiny

# Sizes that data do not have as well, and that are no numbers of layers.
GROWING = "EHADGMFW"
FIXED = {"luong_local_p": "D", "luong_local_m": "D", "caption_soft": "D", "caption_hard": "D", "ram": "WG",
         "llama": "G", "experts": "GE", "vit": "W"}

tiny.LENGTHS = {name: tuple(9 * length - 2 for length in lengths) for name, lengths in tiny.LENGTHS.items()}
# `W` is nested in `M` and `B`; pictures have many places as it is.
tiny.LENGTHS.update(M=(3, 1), B=(3, 1), Y=(19, 17), X=(18, 21), F=(2, 3))


def options(model):
    sizes, _ = tiny.MODELS[model]
    grown = {k: 11 * v if k.split(".")[-1] in GROWING and k not in FIXED.get(model, "") else v
             for k, v in sizes.items()}
    return [word for k, v in grown.items() for word in ("--set", f"{k}={v}")]
