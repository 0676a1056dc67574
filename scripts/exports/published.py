"""Models of the package transformers at random weights, for scripts/onnx-exports.

Each is small, and of the package's own code: its masks, caches and positions are
what people export. `MODELS` has what makes each, and what draws its inputs; without
the package it is empty.
"""

import importlib.util

import torch
from torch import nn

from .case import Case
from .layers import D, VOCABULARY, padding


class Only(nn.Module):
    """A model whose arguments have an order, and whose results are tensors."""

    def __init__(self, model, names, results):
        super().__init__()
        self.model, self.names, self.results = model, names, results

    def forward(self, *inputs):
        found = self.model(**dict(zip(self.names, inputs)), use_cache=False) if self.uses_cache() else \
            self.model(**dict(zip(self.names, inputs)))
        results = tuple(found[name] for name in self.results)
        return results if len(results) > 1 else results[0]

    def uses_cache(self):
        return getattr(self.model.config, "use_cache", None) is not None


class Cached(nn.Module):
    """A step of a decoder that is given the keys and values of earlier places."""

    def __init__(self, model):
        super().__init__()
        self.model = model

    def forward(self, ids, *past):
        from transformers import DynamicCache
        cache = DynamicCache()
        for layer in range(len(past) // 2):
            cache.update(past[2 * layer], past[2 * layer + 1], layer)
        start, length = past[0].shape[2], ids.shape[1]
        places = torch.arange(start, start + length)[None]
        mask = torch.ones(ids.shape[0], start + length, dtype=torch.long)
        found = self.model(input_ids=ids, attention_mask=mask, position_ids=places,
                           past_key_values=cache, use_cache=True)
        layers = found.past_key_values.layers
        return found.logits, *(tensor for layer in layers for tensor in (layer.keys, layer.values))


def only(kind, config, names, results=("logits",)):
    """Makes a model of transformers when it is asked for."""
    def make():
        import transformers
        settings = getattr(transformers, config[0])(**config[1], attn_implementation="eager")
        return Only(getattr(transformers, kind)(settings), names.split(), results)
    return make


def cached(kind, config):
    def make():
        import transformers
        settings = getattr(transformers, config[0])(**config[1], attn_implementation="eager")
        return Cached(getattr(transformers, kind)(settings))
    return make


SIZES = {"vocab_size": VOCABULARY, "hidden_size": D, "num_hidden_layers": 2, "num_attention_heads": 2,
         "intermediate_size": 32, "max_position_embeddings": 40}
PAIR = {"vocab_size": VOCABULARY, "d_model": D, "encoder_layers": 1, "decoder_layers": 1,
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 32,
        "decoder_ffn_dim": 32, "max_position_embeddings": 40, "pad_token_id": 0, "eos_token_id": 1,
        "bos_token_id": 2, "decoder_start_token_id": 0}
IMAGE = {"hidden_size": D, "num_hidden_layers": 1, "num_attention_heads": 2, "intermediate_size": 32,
         "image_size": 8, "patch_size": 4}
READ = "input_ids attention_mask"
TRANSLATE = "input_ids attention_mask decoder_input_ids"
LLAMA = {**SIZES, "num_key_value_heads": 1}
GPT2 = {"vocab_size": VOCABULARY, "n_embd": D, "n_layer": 2, "n_head": 2, "n_positions": 40}
T5 = {"vocab_size": VOCABULARY, "d_model": D, "d_kv": 8, "d_ff": 32, "num_layers": 1, "num_heads": 2,
      "relative_attention_num_buckets": 8, "decoder_start_token_id": 0}


def symbols(*shape):
    """Without the symbols that begin, end and pad."""
    return torch.randint(3, VOCABULARY, shape)


def reader(kind, config, names=READ, results=("logits",)):
    return Case(only(kind, config, names, results), lambda B=2, S=6: (symbols(B, S), padding(B, S)), "BS BS")


def translator(kind, config):
    return Case(only(kind, config, TRANSLATE),
                lambda B=2, S=6, T=5: (symbols(B, S), padding(B, S), symbols(B, T)), "BS BS BT")


def step(kind, config, heads):
    return Case(cached(kind, config), lambda B=2, S=3, P=4: (
        symbols(B, S), *(torch.randn(B, heads, P, 8) for _ in range(4))), "BS" + " B.P." * 4)


def viewer(kind, config, results=("logits",)):
    return Case(only(kind, config, "pixel_values", results), lambda B=2: (torch.randn(B, 3, 8, 8),), "B...")


BOTH = ("last_hidden_state", "pooler_output")
MODELS = {
    "albert": reader("AlbertModel", ("AlbertConfig", {**SIZES, "embedding_size": 8}), results=BOTH),
    "bart": translator("BartForConditionalGeneration", ("BartConfig", PAIR)),
    "bert-masked": reader("BertForMaskedLM", ("BertConfig", SIZES)),
    "bert-published": Case(
        only("BertModel", ("BertConfig", SIZES), READ + " token_type_ids", BOTH),
        lambda B=2, S=6: (symbols(B, S), padding(B, S), torch.arange(S).expand(B, S) // 3 % 2), "BS BS BS"),
    "clip": viewer("CLIPVisionModel", ("CLIPVisionConfig", IMAGE), BOTH),
    "distilbert": reader("DistilBertForSequenceClassification", ("DistilBertConfig", {
        "vocab_size": VOCABULARY, "dim": D, "n_layers": 1, "n_heads": 2, "hidden_dim": 32,
        "max_position_embeddings": 40})),
    "gemma": reader("GemmaForCausalLM", ("GemmaConfig", {**LLAMA, "head_dim": 8})),
    "gpt2": reader("GPT2LMHeadModel", ("GPT2Config", GPT2)),
    "gpt2-cached": step("GPT2LMHeadModel", ("GPT2Config", GPT2), 2),
    "llama-cached": step("LlamaForCausalLM", ("LlamaConfig", LLAMA), 1),
    "llama-published": reader("LlamaForCausalLM", ("LlamaConfig", LLAMA)),
    "marian": translator("MarianMTModel", ("MarianConfig", PAIR)),
    "mistral": reader("MistralForCausalLM", ("MistralConfig", {**LLAMA, "sliding_window": 3})),
    "qwen": reader("Qwen2ForCausalLM", ("Qwen2Config", LLAMA)),
    "roberta": reader("RobertaForTokenClassification", ("RobertaConfig", SIZES)),
    "t5-published": translator("T5ForConditionalGeneration", ("T5Config", T5)),
    "vit-published": viewer("ViTForImageClassification", ("ViTConfig", IMAGE)),
    "wav2vec": Case(only("Wav2Vec2ForCTC", ("Wav2Vec2Config", {
        **SIZES, "conv_dim": (8, 8), "conv_stride": (2, 2), "conv_kernel": (3, 3), "num_feat_extract_layers": 2,
        "num_conv_pos_embeddings": 4, "num_conv_pos_embedding_groups": 2}), "input_values"),
        lambda B=2: (torch.randn(B, 60),), "B."),
    "whisper-published": Case(only("WhisperForConditionalGeneration", ("WhisperConfig", {
        **PAIR, "num_mel_bins": 8, "max_source_positions": 6, "max_target_positions": 10}),
        "input_features decoder_input_ids"), lambda B=2, T=5: (torch.randn(B, 8, 12), symbols(B, T)), "B.. BT"),
} if importlib.util.find_spec("transformers") else {}
