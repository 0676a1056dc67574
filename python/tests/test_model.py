"""What a model computes, against values that are derived here."""

import math
import os
import pathlib
import pickle
import shutil
import subprocess

import numpy as np
import pytest

import fovea
from conftest import BATCH, COPIER
from fovea._program import run


def test_a_model_by_hand():
    # p(y) = softmax(W x + b) of one number x: with W = 0 it is softmax(b).
    model = fovea.compile("model hand\ndata x : real, y : class(2)\n"
                          "param f : linear(2)\ny ~ categorical(f(x * ones(1)))\n",
                          dtype="f64")
    model.parameters["f.weight"][:] = 0
    model.parameters["f.bias"][:] = [math.log(1), math.log(3)]
    batch = {"x": [0.5, -2.0, 1.0], "y": [0, 1, 1]}
    wanted = [math.log(1 / 4), math.log(3 / 4), math.log(3 / 4)]
    assert model.score(batch) == pytest.approx(wanted, abs=1e-12)
    assert model.loss(batch) == pytest.approx(-sum(wanted) / 3, abs=1e-12)
    # d loss / d b = mean of p - onehot(y); d loss / d W = the same times x.
    loss, gradients = model.gradients(batch)
    p = np.array([0.25, 0.75])
    per_example = np.array([p - np.eye(2)[y] for y in batch["y"]])
    assert gradients["f.bias"] == pytest.approx(per_example.mean(0), abs=1e-12)
    assert gradients["f.weight"][:, 0] == pytest.approx(
        (per_example * np.array(batch["x"])[:, None]).mean(0), abs=1e-12)
    assert model.decode({"x": [0.5, 1.0]}) == [1, 1]


def test_parameters_are_the_models_own_memory(copier, batch):
    before = copier.loss(batch)
    kept = copier.parameters["out.bias"].copy()
    copier.parameters["out.bias"][2] += 1
    assert copier.loss(batch) != before
    copier.parameters["out.bias"][:] = kept
    assert copier.loss(batch) == before
    assert {name: array.shape for name, array in copier.parameters.items()}[
        "encode.weight_ih"] == (24, 8)


def test_memory_outlives_the_model(batch):
    model = fovea.compile(COPIER, sets={"v.vocab": 9})
    weights = model.parameters["out.weight"]
    value = weights[1, 1]
    del model
    assert weights[1, 1] == value


def test_gradients_are_differences(copier, batch):
    _, gradients = copier.gradients(batch)
    found = gradients["out.weight"][4, 3]
    weight = copier.parameters["out.weight"]
    step, kept = 1e-5, weight[4, 3]
    weight[4, 3] = kept + step
    above = copier.loss(batch)
    weight[4, 3] = kept - step
    below = copier.loss(batch)
    weight[4, 3] = kept
    assert found == pytest.approx((above - below) / (2 * step), rel=1e-6)


def test_an_example_is_the_same_alone(copier, batch):
    alone = [copier.score({name: [rows[i]] for name, rows in batch.items()})[0]
             for i in range(3)]
    assert copier.score(batch) == alone


def test_score_is_minus_the_loss(copier, batch):
    symbols = sum(len(row) for row in batch["tgt"])
    assert copier.loss(batch) == pytest.approx(-sum(copier.score(batch)) / symbols)


def test_training_learns_to_copy(batch):
    model = fovea.compile(COPIER, sets={"v.vocab": 9}, seed=1)
    first = model.train_step(batch)
    for _ in range(200):
        last = model.train_step(batch)
    assert last < 0.1 < first
    assert model.decode({"src": batch["src"]}) == batch["tgt"]
    [best, second], *_ = model.search({"src": batch["src"]}, beam=3, nbest=2)
    assert best.outputs == {"tgt": batch["tgt"][0]} and best.ended
    assert best.logp > second.logp
    assert best.logp == pytest.approx(model.score(batch)[0], abs=1e-5)
    # Draws depend on the seed alone.
    draws = [model.decode({"src": batch["src"]}, sample=True, nbest=3, seed=seed)
             for seed in (1, 1, 2)]
    assert draws[0] == draws[1]


def test_equations_by_name(copier, batch):
    align = copier.get("align", batch)
    assert [array.shape for array in align] == [(3, 3), (2, 2), (4, 4)]
    for array in align:
        assert array.sum(1) == pytest.approx(np.ones(len(array)))
    several = copier.get(["align", "c"], batch)
    assert set(several) == {"align", "c"}
    assert [array.shape for array in several["c"]] == [(3, 8), (2, 8), (4, 8)]
    assert ("align", ("T", "S")) in copier.equations


def test_equations_again_without_a_process(copier, batch, monkeypatch):
    first, second = (copier.get(["align", "c"], batch) for _ in range(2))
    monkeypatch.setattr("fovea._model.run", None)
    for name in ("align", "c"):
        third = copier.get(["align", "c"], batch)[name]
        for one, two, three in zip(first[name], second[name], third):
            assert one.dtype == two.dtype and np.array_equal(one, two)
            assert np.array_equal(two, three)
    # With the current weights.
    weight = next(iter(copier.parameters.values()))
    before = weight.copy()
    weight += 1
    changed = copier.get(["align", "c"], batch)["c"]
    weight[...] = before
    assert not np.array_equal(changed[0], first["c"][0])


def test_saved_weights_are_read(tmp_path, copier, batch):
    copier.save(tmp_path / "w.safetensors")
    again = fovea.compile(COPIER, sets={"v.vocab": 9}, dtype="f64",
                          weights=tmp_path / "w.safetensors")
    assert again.loss(batch) == copier.loss(batch)


def test_a_saved_model_is_loaded_and_trains_on(tmp_path, batch):
    path = tmp_path / "saved.safetensors"
    for optimiser in ("adam", "adadelta", "momentum"):
        model = fovea.compile(COPIER.replace("adam", optimiser),
                              sets={"v.vocab": 9, "H": 4}, seed=2)
        first = [model.train_step(batch, seed) for seed in range(3)]
        model.save(path)
        # With the spec, its overrides and the state of the optimiser.
        again = fovea.load(path, sets={"decode.longest": 3})
        assert again.dims["H"] == 4 and again.loss(batch) == model.loss(batch)
        again.save(path)
        third = fovea.load(path)
        for seed in range(3, 6):
            wanted = model.train_step(batch, seed)
            assert again.train_step(batch, seed) == wanted
            assert third.train_step(batch, seed) == wanted
        assert all(np.array_equal(own, third.parameters[name])
                   for name, own in model.parameters.items())
        assert third.decode({"src": [[3] * 6]}) == again.decode({"src": [[3] * 6]})
    # An optimiser of another rule begins anew.
    other = fovea.compile(COPIER, sets={"v.vocab": 9, "H": 4}, weights=path)
    fresh = fovea.compile(COPIER, sets={"v.vocab": 9, "H": 4}, seed=2)
    for name, own in fresh.parameters.items():
        fresh.parameters[name] = other.parameters[name]
    for seed in range(2):
        assert fresh.train_step(batch, seed) == other.train_step(batch, seed)
    assert first[0] > wanted
    # Commands read the weights alone.
    run("compile", path, "--emit", "so", "-o", tmp_path / "libmodel.so")
    assert b"optimiser/" not in (tmp_path / "libmodel.so").read_bytes()


def test_a_saved_model_without_an_objective(tmp_path):
    model = fovea.compile("model m\ndim K = 2\ndata x : real(K)\nparam f : linear(K)\n"
                          "y = f(x)\n", sets={"K": 3}, dtype="f64", seed=1)
    model.parameters["f.bias"] = [1, 2, 3]
    model.save(tmp_path / "m.safetensors")
    again = fovea.load(tmp_path / "m.safetensors", dtype="f64")
    x = {"x": [[0, 0, 0]]}
    assert again.get("y", x)[0].tolist() == model.get("y", x)[0].tolist() == [1, 2, 3]


def test_f32_is_near_f64(copier, batch):
    single = fovea.compile(COPIER, sets={"v.vocab": 9}, seed=3)
    assert single.parameters["out.weight"].dtype == np.float32
    assert single.loss(batch) == pytest.approx(copier.loss(batch), rel=1e-5)


def test_all_kinds_of_data():
    model = fovea.compile("""model kinds
dim D = 3
vocab v : ids(11)
data story[m < M, W[m]] : token of v, x[T] : real(D), z[T] : int
data flag : bit, q : class("no", "yes"), p : position(x)
param e : embedding(2), o : linear(2), k : linear(1)
f[m] = sum[j < W[m]](e(story[m,j]))
g = sum[m](f[m]) + sum[t](z[t] * ones(2)) + (if flag then ones(2) else zeros(2))
p ~ categorical[t](k(x[t]))
q ~ categorical(o(g))
""", dtype="f64")
    batch = {"story": [[[3, 4], [5]], [[6, 7, 8]]],
             "x": [np.ones((2, 3)), [[1, 2, 3]]], "z": [[1, 2], [3]],
             "flag": [True, False], "q": ["yes", 0], "p": [1, 0]}
    both = model.score(batch)
    for i in range(2):
        assert model.score({name: [rows[i]] for name, rows in batch.items()}) == \
            [both[i]]
    e = model.parameters["e.weight"]
    f = model.get("f", batch)
    assert f[0] == pytest.approx(np.stack([e[3] + e[4], e[5]]))
    assert f[1][0] == pytest.approx(e[6] + e[7] + e[8])
    answers = model.decode({name: batch[name]
                            for name in ("story", "x", "z", "flag")})
    assert all(answer["q"] in ("no", "yes") for answer in answers)


def test_words_of_a_training(tmp_path):
    # A folder that `fovea train` writes has the words.
    from fovea._program import run
    (tmp_path / "copier.fov").write_text(COPIER)
    (tmp_path / "lines").write_text("a b\nb\nc a b\n" * 20)
    run("train", tmp_path / "copier.fov", "--data",
        f"src={tmp_path}/lines,tgt={tmp_path}/lines", "--out", tmp_path / "out",
        "--steps", 150, "--quiet", "--threads", 1)
    model = fovea.load(tmp_path / "out")
    assert model.decode({"src": ["a b", "c a b"]}) == ["a b", "c a b"]
    assert model.score({"src": ["b"], "tgt": ["b"]})[0] > math.log(0.5)
    assert model.data == ["src[S] : sentence", "tgt[T] : sentence"]
    assert repr(model).startswith("<fovea.Model copier: src[S] : sentence")


def test_equations_need_only_their_data(copier):
    """Equations of the inputs alone, without what the model would generate."""
    both = copier.get("f", BATCH)
    for ours, theirs in zip(copier.get("f", {"src": BATCH["src"]}), both):
        assert (ours == theirs).all()
    with pytest.raises(fovea.SpecError, match="the batch has no tensor 'tgt'"):
        copier.get("align", {"src": BATCH["src"]})


def test_text_of_rows(tmp_path):
    """Rows of nested data are lists of texts, and what `decode` prints is read."""
    (tmp_path / "tagger.fov").write_text("""model tagger
data said[n < N, W[n]] : token, act[N] : class("tell", "ask")
param e : embedding(4), out : linear(2)
act[n] ~ categorical(out(sum[j < W[n]](e(said[n,j]))))
""")
    (tmp_path / "said").write_text("is it|it is\nit\n")
    (tmp_path / "act").write_text("ask tell\ntell\n")
    run("train", tmp_path / "tagger.fov", "--data",
        f"said={tmp_path}/said,act={tmp_path}/act", "--out", tmp_path / "out",
        "--steps", 2, "--quiet", "--threads", 1)
    model = fovea.load(tmp_path / "out")
    said = [["is it", "it is"], ["it"]]
    words = [[["is", "it"], ["it", "is"]], [["it"]]]
    acts = model.decode({"said": said})
    assert acts == model.decode({"said": words})
    assert model.score({"said": said, "act": acts}) == \
        model.score({"said": words, "act": [line.split() for line in acts]})
    with pytest.raises(fovea.SpecError, match=r"'is it\|it is'; help: give a list with "
                                              "the text of each N"):
        model.decode({"said": ["is it|it is"]})


def test_text_of_sentencepiece(tmp_path):
    inputs = pathlib.Path(__file__).parents[2] / "test"
    for path in ("train/Inputs/pieces.fov", "unit/Inputs/pieces.model"):
        shutil.copy(inputs / path, tmp_path)
    lines = ["Attention and state", "the decoder\u2019s x"]
    (tmp_path / "lines").write_text("\n".join(lines) + "\n", encoding="utf-8")
    spec = tmp_path / "pieces.fov"
    run("init", spec, "--seed", "1", "-o", tmp_path / "w")
    options = ["--data", f"src={tmp_path}/lines", "--max-length", "9"]
    printed = run("decode", spec, "--weights", tmp_path / "w", *options)
    model = fovea.compile(spec, weights=tmp_path / "w")
    assert model.decode({"src": lines}, max_length=9) == printed.splitlines()
    # Beginnings, and two models that choose together.
    begun = model.decode({"src": lines}, max_length=9, prefix=["the state", None])
    assert begun[0].startswith("the state") and begun[1] == printed.splitlines()[1]
    run("init", spec, "--seed", "2", "-o", tmp_path / "x")
    model.add(tmp_path / "x")
    both = run("decode", spec, "--weights", tmp_path / "w", "--weights", tmp_path / "x",
               *options)
    assert both != printed and model.decode({"src": lines}, max_length=9) == both.splitlines()
    with pytest.raises(fovea.SpecError, match="there are 1 prefixes for 2 examples"):
        model.decode({"src": lines}, prefix=["the"])
    with pytest.raises(fovea.SpecError, match="'\u4e2d' is not in the vocabulary of 'tgt'"):
        model.decode({"src": lines}, prefix=["the \u4e2d", "the"])


def test_a_model_is_exported_with_its_present_weights(tmp_path, batch):
    model = fovea.compile(COPIER, sets={"v.vocab": 9}, seed=3)
    model.train_step(batch)
    model.export(tmp_path / "copier.fov.onnx", get="align")
    again = fovea.load(tmp_path / "copier.fov.onnx")
    assert "align" in [equation.name for equation in again.equations]
    model.export(tmp_path / "library.so")
    model.export(tmp_path / "program")
    assert (tmp_path / "library.so").exists() and os.access(tmp_path / "program", os.X_OK)
    printed = subprocess.run([tmp_path / "program"], input="3 4\n5\n", text=True, check=True,
                             capture_output=True).stdout.splitlines()
    found = model.decode({"src": [[3, 4, 1], [5, 1]]})
    assert printed == [" ".join(str(one) for one in row if one != 1) for row in found]
    for where, options, mistake in (
            ("a.txt", {}, "does not say what to write"), ("a", {"emit": "exf"}, "emit must be"),
            ("a.onnx", {"get": "alin"}, "alin"), ("a", {"get": [3]}, "get\\[0\\] must be a str")):
        with pytest.raises(fovea.SpecError, match=mistake):
            model.export(tmp_path / where, **options)


def test_training_goes_on_at_another_rate(tmp_path, batch):
    model = fovea.compile(COPIER, sets={"v.vocab": 9}, seed=3, dtype="f64")
    model.train_step(batch)
    model.save(tmp_path / "model.safetensors")
    slow = fovea.load(tmp_path / "model.safetensors", sets={"train.rate": 0.001}, dtype="f64")
    assert {name for name in slow.state} == {name for name in model.state}
    before = model.parameters["out.bias"].copy()
    model.train_step(batch)
    slow.train_step(batch)
    # Adam's step is the rate times what its state says.
    assert slow.parameters["out.bias"] - before == pytest.approx(
        (model.parameters["out.bias"] - before) / 10, rel=1e-6)


def test_check_tells_what_is_in_a_spec():
    about = fovea.check(COPIER, {"v.vocab": 9})
    assert about["model"] == "copier" and about["dims"]["H"] == 8
    assert {"name": "align", "extents": ["T", "S"]} in about["equations"]


def test_packed_weights_follow_updates(batch):
    # Weights are packed once, as long as nothing can have changed them.
    model = fovea.compile(COPIER, sets={"v.vocab": 9})
    assert model.loss(batch) == model.loss(batch)
    model.decode({"src": batch["src"]})
    before = model.loss(batch)
    for _ in range(3):
        model.train_step(batch)
    after, answers = model.loss(batch), model.decode({"src": batch["src"]})
    assert after != before
    other = pickle.loads(pickle.dumps(model))
    assert other.loss(batch) == after and other.decode({"src": batch["src"]}) == answers
    model.parameters["out.bias"][:] += np.arange(9.0)
    assert model.loss(batch) != after
    assert pickle.loads(pickle.dumps(model)).loss(batch) == model.loss(batch)


def test_equations_follow_updates(batch):
    # From the third request on, a library computes them with weights of its own.
    model = fovea.compile(COPIER, sets={"v.vocab": 9}, seed=2)
    first = [model.get("f", batch) for _ in range(3)]
    assert all((one == other).all() for own in first[1:] for one, other in zip(first[0], own))
    model.train_step(batch)
    trained = model.get("f", batch)
    assert all((one != other).any() for one, other in zip(first[0], trained))
    other = pickle.loads(pickle.dumps(model))
    assert all((one == own).all() for one, own in zip(trained, other.get("f", batch)))
