"""A small Marian in the names of Hugging Face, and what their program makes of it.

  marian.py weights FILE     draws weights, as MarianMTModel names them
  marian.py batch FILE       two sentences and their translations, in our ids
  marian.py compare FILE     log p of every symbol with WANTED
  marian.py golden           prints WANTED: transformers, float64
"""

import json
import math
import os
import random
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, read, write  # noqa: E402

L, D, K, F, V = 2, 8, 2, 12, 9
# Marian's ids: 0 is </s>, 1 <unk>, the last one padding and what begins a sentence.
SRC = [[3, 5, 2, 7, 0], [6, 4, 0]]
TGT = [[4, 2, 0], [5, 5, 3, 6, 0]]


def ours(row):
    return [(number + 1) % V for number in row]


def shapes():
    yield "model.shared.weight", [V, D]
    yield "final_logits_bias", [1, V]
    for side, blocks in (("encoder", ["self_attn"]), ("decoder", ["self_attn", "encoder_attn"])):
        for layer in range(L):
            at = f"model.{side}.layers.{layer}."
            for block in blocks:
                for name in ("q_proj", "k_proj", "v_proj", "out_proj"):
                    yield from linear(f"{at}{block}.{name}", D, D)
                yield from linear(f"{at}{block}_layer_norm", D)
            yield from linear(at + "fc1", F, D)
            yield from linear(at + "fc2", D, F)
            yield from linear(at + "final_layer_norm", D)


def linear(name, n, *m):
    yield name + ".weight", [n, *m]
    yield name + ".bias", [n]


def weights():
    draw = random.Random(21)
    result = {}
    for name, shape in shapes():
        values = [draw.uniform(-0.8, 0.8) for _ in range(math.prod(shape))]
        result[name] = Tensor("F64", shape, values)
    result["final_logits_bias"].values[V - 1] = 5.0  # padding would be generated
    return result


def golden():
    import torch
    from transformers import MarianConfig, MarianMTModel
    model = MarianMTModel(MarianConfig(
        vocab_size=V, d_model=D, encoder_layers=L, decoder_layers=L, encoder_attention_heads=K,
        decoder_attention_heads=K, encoder_ffn_dim=F, decoder_ffn_dim=F, max_position_embeddings=16,
        activation_function="swish", scale_embedding=True, pad_token_id=V - 1, eos_token_id=0,
        forced_eos_token_id=None, decoder_start_token_id=V - 1, dropout=0.0, attention_dropout=0.0,
        activation_dropout=0.0)).double().eval()
    state = {name: torch.tensor(tensor.values, dtype=torch.float64).reshape(tensor.shape)
             for name, tensor in weights().items()}
    missing, others = model.load_state_dict(state, strict=False)
    assert not others, others
    model.tie_weights()
    # Positions are not weights, and float64 as all else.
    place = torch.arange(16, dtype=torch.float64)[:, None] / 10000 ** (
        torch.arange(D // 2, dtype=torch.float64) / (D // 2))
    table = torch.cat([place.sin(), place.cos()], 1)
    for half in (model.model.encoder, model.model.decoder):
        assert (half.embed_positions.weight - table).abs().max() < 1e-6
        half.embed_positions.weight.data = table
    result = {"logp": []}
    for src, tgt in zip(SRC, TGT):
        with torch.no_grad():
            out = model(input_ids=torch.tensor([src]),
                        decoder_input_ids=torch.tensor([[V - 1, *tgt[:-1]]]))
            logits = out.logits[0]
            logits[:, V - 1] = -1e9  # as in generating
            logp = logits.log_softmax(-1)
        result["logp"].append([round(logp[t, word].item(), 9) for t, word in enumerate(tgt)])
    print(json.dumps(result))


def main():
    command, *rest = sys.argv[1:]
    if command == "weights":
        write(rest[0], weights())
    elif command == "batch":
        tensors = {}
        for name, rows in (("src", SRC), ("tgt", TGT)):
            room = max(map(len, rows))
            tensors[name] = Tensor("I64", [2, room], [
                number for row in rows for number in ours(row) + [0] * (room - len(row))])
            tensors[name + ".length"] = Tensor("I64", [2], [len(row) for row in rows])
        write(rest[0], tensors)
    elif command == "golden":
        golden()
    else:
        got = [float(line) for line in open(rest[0])]
        worst = max(abs(x - sum(row)) for x, row in zip(got, WANTED["logp"]))
        print("within 1e-8" if worst <= 1e-8 and len(got) == 2 else f"off by {worst}")


#: log p of each symbol of TGT.
WANTED = {
    "logp": [[-2.436572617, -1.292034648, -2.029105256],
             [-2.167669874, -2.166472316, -1.78395534, -1.956917646, -1.996786856]],
}

if __name__ == "__main__":
    main()
