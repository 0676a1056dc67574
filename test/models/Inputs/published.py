"""Small models with weights drawn here, and what the program of Hugging Face makes of them.

  published.py sets MODEL              the sizes, as `--set` takes them
  published.py fill FILE SEED          weights, from `fovea params --json` on standard input
  published.py batch MODEL FILE        two examples
  published.py compare MODEL OUT       what `fovea score` printed, with WANTED

The rest needs transformers, which computes in float64:
  published.py golden MODEL FILE       prints the numbers of WANTED, for weights of `fovea export`
  published.py save MODEL DIR          a folder as transformers saves it, with other weights
  published.py agree MODEL DIR OUT     what `fovea score` printed, with the model in that folder
  published.py generate MODEL DIR      what that model generates, as `fovea decode` prints it
"""

import json
import os
import random
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "golden"))
from tensors import Tensor, write  # noqa: E402

KINDS = {"gpt2": "GPT2LMHeadModel", "llama": "LlamaForCausalLM", "t5": "T5ForConditionalGeneration",
         "whisper": "WhisperForConditionalGeneration", "vit": "ViTForImageClassification"}
#: The first symbol of what a decoder reads, in the ids of transformers.
BEGIN = {"gpt2": 10, "llama": 1, "t5": 0, "whisper": 10}
SETS = {
    "gpt2": "L=2 D=8 K=2 P=16 begin=10 end=10 pieces.vocab=11",
    "llama": "L=2 D=8 K=2 G=1 F=12 word.vocab=11",
    "t5": "L=2 D=8 K=2 H=3 F=12 N=8 M=16 pieces.vocab=11",
    "whisper": "L=2 D=8 K=2 F=12 C=4 P=5 Q=12 begin=10 end=9 pieces.vocab=11",
    "vit": "L=2 D=8 K=2 F=12 W=2 N=4 C=5",
}
#: Ids in the order of Fovea.
TEXTS = [[3, 5, 2, 7, 4, 4, 9], [6, 4, 8]]
SOURCES = [[3 + i % 7 for i in range(29)] + [1], [6, 4, 1]]
TARGETS = [[4, 2, 1], [5, 5, 3, 6, 1]]


def reals(seed, *shape):
    draw = random.Random(seed)
    count = 1
    for extent in shape:
        count *= extent
    return Tensor("F64", list(shape), [draw.uniform(-0.8, 0.8) for _ in range(count)])


def ragged(name, rows):
    room = max(map(len, rows))
    return {name: Tensor("I64", [2, room], [n for row in rows for n in row + [0] * (room - len(row))]),
            name + ".length": Tensor("I64", [2], [len(row) for row in rows])}


def batch(model):
    if model in ("gpt2", "llama"):
        return ragged("word", TEXTS)
    if model == "t5":
        return ragged("src", SOURCES) | ragged("tgt", TARGETS)
    if model == "whisper":
        # Whisper takes 30 seconds: here 10 frames.
        length = Tensor("I64", [2], [10, 10])
        return {"frame": reals(5, 2, 10, 4), "frame.length": length} | ragged("word", TEXTS)
    return {"image": reals(6, 2, 3, 4, 4), "label": Tensor("I64", [2], [3, 1])}


def config(model):
    from transformers import GPT2Config, LlamaConfig, T5Config, ViTConfig, WhisperConfig
    if model == "gpt2":
        return GPT2Config(vocab_size=11, n_embd=8, n_layer=2, n_head=2, n_positions=16, bos_token_id=10,
                          eos_token_id=10)
    if model == "llama":
        return LlamaConfig(vocab_size=11, hidden_size=8, num_hidden_layers=2, num_attention_heads=2,
                           num_key_value_heads=1, intermediate_size=12, rms_norm_eps=1e-5)
    if model == "t5":
        return T5Config(vocab_size=11, d_model=8, d_kv=3, num_layers=2, num_heads=2, d_ff=12,
                        relative_attention_num_buckets=8, relative_attention_max_distance=16,
                        decoder_start_token_id=0)
    if model == "whisper":
        return WhisperConfig(vocab_size=11, d_model=8, encoder_layers=2, decoder_layers=2,
                             encoder_attention_heads=2, decoder_attention_heads=2, encoder_ffn_dim=12,
                             decoder_ffn_dim=12, num_mel_bins=4, max_source_positions=5,
                             max_target_positions=12, pad_token_id=9, bos_token_id=9, eos_token_id=9,
                             decoder_start_token_id=10, suppress_tokens=[], begin_suppress_tokens=None)
    return ViTConfig(hidden_size=8, num_hidden_layers=2, num_attention_heads=2, intermediate_size=12,
                     image_size=4, patch_size=2, num_labels=5)


def kind(model):
    import transformers
    transformers.logging.set_verbosity_error()
    return getattr(transformers, KINDS[model])


def loaded(model, weights):
    """The model of transformers with a file that Fovea wrote: it has every tensor, and no other."""
    import torch
    with tempfile.TemporaryDirectory() as folder:
        config(model).save_pretrained(folder)
        shutil.copy(weights, os.path.join(folder, "model.safetensors"))
        result, news = kind(model).from_pretrained(folder, dtype=torch.float64, output_loading_info=True)
    wrong = {key: names for key, names in news.items() if names}
    assert not wrong, wrong
    return result.eval()


def swapped(model, ids):
    """Between the ids of Fovea and theirs: Llama 2 has <unk>, <s>, </s>, and Fovea <s>, </s>, <unk>."""
    return ids if model != "llama" else [n if n > 2 else (n + 1) % 3 for n in ids]


def back(model, ids):
    return swapped(model, swapped(model, ids))


def given(model, row):
    """What transformers reads of an example."""
    import torch
    data = batch(model)
    def numbers(name):
        tensor, length = data[name], data.get(name + ".length")
        values = torch.tensor(tensor.values).reshape(tensor.shape)[row]
        return (values[: length.values[row]] if length else values)[None]
    if model == "vit":
        return {"pixel_values": numbers("image").double()}
    if model == "t5":
        return {"input_ids": numbers("src")}
    if model == "whisper":
        return {"input_features": numbers("frame").double().transpose(1, 2)}
    return {}


def logps(model, program):
    import torch
    result = []
    for row in range(2):
        inputs = given(model, row)
        if model == "vit":
            words = [batch(model)["label"].values[row]]
        else:
            words = swapped(model, (TARGETS if model == "t5" else TEXTS)[row])
            before = torch.tensor([[BEGIN[model], *words[:-1]]])
            inputs["decoder_input_ids" if model in ("t5", "whisper") else "input_ids"] = before
        with torch.no_grad():
            logp = program(**inputs).logits[0].log_softmax(-1).reshape(len(words), -1)
        result.append([round(logp[t, word].item(), 9) for t, word in enumerate(words)])
    return result


def save(model, folder):
    import torch
    torch.manual_seed(1)
    program = kind(model)(config(model))
    for parameter in program.parameters():
        torch.nn.init.uniform_(parameter, -0.8, 0.8)
    program.save_pretrained(folder)


def published(model, folder):
    import torch
    return kind(model).from_pretrained(folder, dtype=torch.float64).eval()


def generate(model, folder):
    import torch
    program = published(model, folder)
    for row in range(2 if given(model, 0) else 1):
        inputs = given(model, row) or {"input_ids": torch.tensor([[BEGIN[model]]])}
        out = program.generate(**inputs, do_sample=False, num_beams=1, max_new_tokens=8)[0].tolist()
        ids = out if model == "whisper" else out[out.index(BEGIN[model]) + 1:]
        if model == "whisper" and len(ids) < 8:
            ids.append(9)  # their program leaves out the beginning and the end
        end = {"llama": 2, "t5": 1}.get(model)
        print(*back(model, ids[: ids.index(end)] if end in ids else ids))


def main():
    command, *rest = sys.argv[1:]
    if command == "sets":
        print(*[f"--set {each}" for each in SETS[rest[0]].split()])
    elif command == "fill":
        tensors = {}
        for place, each in enumerate(json.load(sys.stdin)):
            tensors[each["name"]] = reals(place + 1000 * int(rest[1]), *each["shape"])
        write(rest[0], tensors)
    elif command == "batch":
        write(rest[1], batch(rest[0]))
    elif command == "golden":
        print(f'    "{rest[0]}": {logps(rest[0], loaded(*rest))},')
    elif command == "save":
        save(*rest)
    elif command == "generate":
        generate(*rest)
    else:
        model, *folder, out = rest
        wanted = logps(model, published(model, *folder)) if command == "agree" else WANTED[model]
        got = [float(line) for line in open(out)]
        worst = max(abs(x - sum(row)) for x, row in zip(got, wanted, strict=True))
        # The softmax of these two is in float32 in their program.
        print("they agree" if worst <= (1e-6 if model in ("llama", "t5") else 1e-8) else f"off by {worst}")


#: log p of each choice.
WANTED = {
    "gpt2": [[-2.245041522, -2.932327252, -2.39810738, -2.075172314, -2.702992751, -3.356657305, -2.359202582],
             [-1.822728597, -3.259426565, -2.155550807]],
    "llama": [[-2.0107071, -2.679419113, -3.526121399, -2.866729798, -3.416051521, -2.571734609, -3.309036049],
              [-2.985059209, -2.582667925, -3.025882446]],
    "t5": [[-2.556531792, -2.52709791, -2.471444757],
           [-2.396414658, -2.315597054, -2.458547388, -2.70073271, -2.678011171]],
    "whisper": [[-3.624194501, -2.692409625, -2.624554121, -2.466446054, -1.877538624, -2.224036809, -3.365179167],
                [-1.678925238, -2.247779325, -3.062742308]],
    "vit": [[-2.173934706], [-4.618456268]],
}

if __name__ == "__main__":
    main()
