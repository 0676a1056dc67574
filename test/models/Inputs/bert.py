"""A small BERT in the names of Hugging Face, and what their program makes of it.

  bert.py weights FILE [new|old|long]  draws weights, as BertModel names them;
                                       as TensorFlow did; as BertForMaskedLM does
  bert.py batch FILE                   two sentences of 5 and 3 pieces
  bert.py compare FILE                 with WANTED
  bert.py golden                       prints WANTED: transformers 5.23.0, float64
"""

import json
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

L, D, K, F, P, V = 2, 8, 2, 12, 7, 11
SRC = [[2, 7, 9, 5, 3], [2, 10, 3]]
SEGMENT = [[0, 0, 0, 1, 1], [0, 0, 0]]


def shapes():
    yield "embeddings.word_embeddings.weight", [V, D]
    yield "embeddings.position_embeddings.weight", [P, D]
    yield "embeddings.token_type_embeddings.weight", [2, D]
    yield from norm("embeddings.LayerNorm")
    for layer in range(L):
        at = f"encoder.layer.{layer}."
        for name in ("query", "key", "value"):
            yield from linear(at + "attention.self." + name, D, D)
        yield from linear(at + "attention.output.dense", D, D)
        yield from norm(at + "attention.output.LayerNorm")
        yield from linear(at + "intermediate.dense", F, D)
        yield from linear(at + "output.dense", D, F)
        yield from norm(at + "output.LayerNorm")
    yield from linear("pooler.dense", D, D)


def linear(name, n, m):
    yield name + ".weight", [n, m]
    yield name + ".bias", [n]


def norm(name):
    yield name + ".weight", [D]
    yield name + ".bias", [D]


def weights():
    draw = random.Random(20)
    result = {}
    for name, shape in shapes():
        count = 1
        for extent in shape:
            count *= extent
        values = [draw.uniform(-1, 1) for _ in range(count)]
        # What is embedded is small, so that the epsilon of its norm counts.
        scale = 1e-5 if "_embeddings" in name else 0.5
        result[name] = Tensor("F64", shape, [scale * value for value in values])
    return result


def renamed(name, form):
    if form == "old":
        name = name.replace("LayerNorm.weight", "LayerNorm.gamma")
        name = name.replace("LayerNorm.bias", "LayerNorm.beta")
    return name if form == "new" else "bert." + name


def golden():
    import torch
    from transformers import BertConfig, BertModel
    model = BertModel(BertConfig(
        vocab_size=V, hidden_size=D, num_hidden_layers=L, num_attention_heads=K,
        intermediate_size=F, max_position_embeddings=P, type_vocab_size=2,
        hidden_dropout_prob=0, attention_probs_dropout_prob=0)).double().eval()
    state = {name: torch.tensor(tensor.values, dtype=torch.float64).reshape(tensor.shape)
             for name, tensor in weights().items()}
    missing, others = model.load_state_dict(state, strict=False)
    assert not others and all("position_ids" in name for name in missing), (missing, others)
    result = {"pooled": [], "h": []}
    for src, segment in zip(SRC, SEGMENT):
        with torch.no_grad():
            out = model(input_ids=torch.tensor([src]), token_type_ids=torch.tensor([segment]))
        result["pooled"].append([round(x, 9) for x in out.pooler_output[0].tolist()])
        result["h"].append([round(x, 9) for x in out.last_hidden_state[0, -1].tolist()])
    print(json.dumps(result))


def main():
    command, *rest = sys.argv[1:]
    if command == "weights":
        path, form = rest[0], (rest + ["new"])[1]
        write(path, {renamed(name, form): tensor for name, tensor in weights().items()})
    elif command == "batch":
        room = max(map(len, SRC))
        def padded(rows):
            return [x for row in rows for x in row + [0] * (room - len(row))]
        lengths = Tensor("I64", [2], [len(row) for row in SRC])
        write(rest[0], {"src": Tensor("I64", [2, room], padded(SRC)), "src.length": lengths,
                        "segment": Tensor("I64", [2, room], padded(SEGMENT)),
                        "segment.length": lengths})
    elif command == "golden":
        golden()
    else:
        got = read(rest[0])
        room = got["hidden"].shape[1]
        worst = 0.0
        for example, src in enumerate(SRC):
            at = (example * room + len(src) - 1) * D
            pairs = [*zip(got["pooled"].values[example * D:], WANTED["pooled"][example]),
                     *zip(got["hidden"].values[at:at + D], WANTED["h"][example])]
            worst = max([worst, *(abs(x - y) for x, y in pairs)])
        print("within 1e-8" if worst <= 1e-8 else f"off by {worst}")


#: The pooled vector and the vector of the last piece, for each sentence.
WANTED = {
    "pooled": [[0.594185677, 0.159277557, 0.231697043, 0.40232836, 0.249217579, 0.077713806, -0.168690293,
                -0.157068133],
               [0.593349601, 0.159366512, 0.229950868, 0.395273364, 0.255011961, 0.083748544, -0.170090188,
                -0.157964332]],
    "h": [[-0.348459122, -0.527214922, -0.695652087, 0.087387914, -0.264506908, -0.497547482, -0.314758715,
           0.048457899],
          [-0.356226763, -0.52390247, -0.688486788, 0.084124666, -0.222729407, -0.490366697, -0.333549957,
           0.059079659]],
}

if __name__ == "__main__":
    main()
