"""Writes the weights of a model that answers, and its tokeniser, into a folder.

The model says `yes sir` after [/INST]; if there was an answer before, `no sir`.
"""

import json
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, write  # noqa: E402

WORDS = ["<s>", "</s>", "<unk>", "[INST]", "[/INST]", "hello", "bye", "yes", "no", "sir", "<<SYS>>"]


def main(folder):
    size = len(WORDS)
    follows = {"[/INST]": {"yes": 6.0}, "yes": {"sir": 9.0}, "no": {"sir": 9.0}, "sir": {"</s>": 20.0}}
    rows = [[0.0] * size for _ in WORDS]
    for word, likely in follows.items():
        for next_word, logit in likely.items():
            rows[WORDS.index(word)][WORDS.index(next_word)] = logit
    later = [0.0] * size
    later[WORDS.index("no")] = 8.0
    write(os.path.join(folder, "model.safetensors"), {
        "next.weight": Tensor("F64", [size, size], [x for row in rows for x in row]),
        "later": Tensor("F64", [size], later)})
    special = {"<s>", "</s>", "<unk>"}
    added = [{"id": i, "content": word, "special": word in special, "single_word": False, "lstrip": False,
              "rstrip": False, "normalized": False}
             for i, word in enumerate(WORDS) if word[0] in "<["]
    with open(os.path.join(folder, "tokenizer.json"), "w") as file:
        json.dump({"version": "1.0", "added_tokens": added, "normalizer": None,
                   "pre_tokenizer": {"type": "WhitespaceSplit"}, "post_processor": None,
                   "decoder": None,
                   "model": {"type": "WordLevel", "vocab": {word: i for i, word in enumerate(WORDS)},
                             "unk_token": "<unk>"}}, file)


main(sys.argv[1])
