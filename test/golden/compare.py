"""Compares `fovea run` with golden values of a published model: the reference
interpreter, and compiled code in both precisions, for this CPU and with vectors
of 256 bits.

    compare.py MODEL GOLDEN_DIRECTORY SPEC WORK_DIRECTORY

Writes the golden parameters under our names and the batch as our data, runs
the spec, and compares loss, logits, alignments and every gradient. Prints the
largest difference of each and fails on one that is too large, and on anything
that is not a number.
"""

import os
import subprocess
import sys

import tensors

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "models"))
import parameters  # noqa: E402

# How a model is run, and the difference that each number may have: in single
# precision, relative to the largest of its tensor.
WAYS = {
    "reference": (["--reference", "--dtype", "f64"], 1e-10, tensors.difference),
    "f64": (["--dtype", "f64"], 1e-10, tensors.difference),
    "f32": (["--dtype", "f32"], 1e-4, tensors.difference_of_largest),
    "f64 with AVX2": (["--dtype", "f64", "--cpu", "x86-64-v3"], 1e-10, tensors.difference),
    "f32 with AVX2": (["--dtype", "f32", "--cpu", "x86-64-v3"], 1e-4, tensors.difference_of_largest),
}


def cell(ours, theirs):
    return {
        f"{ours}.weight_ih": f"{theirs}.w_ih",
        f"{ours}.weight_hh": f"{theirs}.w_hh",
        f"{ours}.bias_ih": f"{theirs}.b_ih",
        f"{ours}.bias_hh": f"{theirs}.b_hh",
    }


def linear(ours, weight, bias=None):
    names = {f"{ours}.weight": weight}
    if bias:
        names[f"{ours}.bias"] = bias
    return names


def rnnsearch(config):
    return {
        **linear("embed_src", "src_emb"),
        **linear("embed_tgt", "tgt_emb"),
        **cell("forward", "enc.f"),
        **cell("backward", "enc.b"),
        **cell("decoder", "dec"),
        **linear("init", "init.w", "init.b"),
        **linear("query", "att.W"),
        **linear("key", "att.U", "att.b"),
        "v": "att.v",
        **linear("readout", "out.wt", "out.bt"),
        **linear("out", "out.wo", "out.bo"),
    }


def caption_soft(config):
    return {
        **linear("embed", "emb"),
        **cell("decoder", "dec"),
        **linear("init_h", "init.wh", "init.bh"),
        **linear("init_c", "init.wc", "init.bc"),
        **linear("query", "att.W"),
        **linear("key", "att.U", "att.b"),
        "v": "att.v",
        **linear("beta", "beta.w", "beta.b"),
        **linear("lh", "out.lh"),
        **linear("lz", "out.lz"),
        **linear("out", "out.lo", "out.bo"),
    }


def transformer(config):
    names = {**linear("emb", "emb")}
    for l in range(config["L"]):
        for side, norms in ("enc", 2), ("dec", 3):
            theirs = f"{side}.{l}"
            names |= linear(f"{side}_self.{l}", f"{theirs}.self.wqkv", f"{theirs}.self.bqkv")
            names |= linear(f"{side}_wo.{l}", f"{theirs}.self.wo", f"{theirs}.self.bo")
            names |= linear(f"{side}_ff.{l}.w1", f"{theirs}.ff.w1", f"{theirs}.ff.b1")
            names |= linear(f"{side}_ff.{l}.w2", f"{theirs}.ff.w2", f"{theirs}.ff.b2")
            for k in range(1, norms + 1):
                names |= linear(f"{side}_ln{k}.{l}", f"{theirs}.ln{k}.g", f"{theirs}.ln{k}.b")
        names |= linear(f"cross_q.{l}", f"dec.{l}.cross.wq", f"dec.{l}.cross.bq")
        names |= linear(f"cross_kv.{l}", f"dec.{l}.cross.wkv", f"dec.{l}.cross.bkv")
        names |= linear(f"cross_wo.{l}", f"dec.{l}.cross.wo", f"dec.{l}.cross.bo")
    return names


def speech(config):
    names = {
        **linear("embed", "emb"),
        **cell("decoder", "dec"),
        **linear("init", "init.w", "init.b"),
        **linear("query", "att.W"),
        **linear("key", "att.V", "att.b"),
        **linear("loc", "att.U"),
        "w": "att.w",
        "filter": "att.F",
        **linear("readout", "out.wt", "out.bt"),
        **linear("out", "out.wo", "out.bo"),
    }
    for l in range(config["L"]):
        names |= cell(f"forward.{l}", f"enc{l}.f") | cell(f"backward.{l}", f"enc{l}.b")
    return names


# Per model: the golden file, the source's name, sizes and options, the table
# of names (ours to theirs), and whether alignments are known.
MODELS = {
    "rnnsearch": ("w1_nmt", "src", dict(E=6, H=5, A=7, M=4), {"src.vocab": 11, "tgt.vocab": 11}, rnnsearch, True),
    "caption_soft": ("w3_caption", "a", dict(D=7, E=6, H=5, A=8), {"tgt.vocab": 11}, caption_soft, True),
    "transformer": ("w4_transformer", "src", dict(L=2, D=8, K=2, F=12), {"joint.vocab": 11, "train.smooth": 0}, transformer, False),
    "speech": ("w8_speech", "x", dict(L=2, H=5, E=4, A=7, K=3, R=5, M=4, I=6), {"tgt.vocab": 11}, speech, True),
}


def main(model, golden_directory, spec, work):
    golden_name, source, sizes, options, table, has_alignments = MODELS[model]
    golden = tensors.read(os.path.join(golden_directory, golden_name + ".safetensors"))
    sets = [word for k, v in {**sizes, **options}.items() for word in ("--set", f"{k}={v}")]
    names = table(sizes)

    shapes = parameters.shapes(spec, sets)
    ours, theirs = set(shapes), {n.removeprefix("param/") for n in golden if n.startswith("param/")}
    assert ours == set(names), f"parameters differ: {sorted(ours ^ set(names))}"
    assert theirs == set(names.values()), f"golden parameters differ: {sorted(theirs ^ set(names.values()))}"

    os.makedirs(work, exist_ok=True)
    weights, batch, result = (os.path.join(work, f) for f in ("weights.safetensors", "batch.safetensors", "result.safetensors"))
    tensors.write(weights, {n: golden["param/" + g].reshaped(shapes[n]) for n, g in names.items()})
    tensors.write(batch, {
        source: golden["input/x"],
        f"{source}.length": golden["input/src_len"],
        "tgt": golden["input/y"],
        "tgt.length": golden["input/tgt_len"],
    })
    wanted = {"loss": "output/loss", "logits": "output/logits"}
    if has_alignments:
        wanted["align"] = "output/alpha"
    gets = [word for name in [*wanted, "grads"] for word in ("--get", name)]
    wanted |= {"grad/" + n: "grad/" + g for n, g in names.items()}
    failed = False
    for way, (how, tolerance, difference) in WAYS.items():
        subprocess.run(["fovea", "run", spec, *sets, "--weights", weights, "--data", batch, *how, *gets, "-o", result],
                       check=True)
        got = tensors.read(result)
        for name, golden_tensor in wanted.items():
            error = difference(got[name].values, golden[golden_tensor].values)
            good = error <= tolerance
            failed |= not good
            print(f"{'ok' if good else 'WRONG'} {way} {name} {error:.1e}")
    print(f"{model}: {'differs' if failed else 'agrees'}")
    return failed


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
