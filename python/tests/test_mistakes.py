"""What goes wrong is said as the compiler says it, and breaks nothing."""

import os
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import fovea
from conftest import COPIER


def test_a_spec_is_shown_with_its_line():
    with pytest.raises(fovea.SpecError) as caught:
        fovea.compile("model m\ndata src[S] : real\ny[i] = srk[i]\n")
    text = str(caught.value)
    assert "<stdin>:3:8: error: 'srk' is not defined; did you mean 'src'" in text
    assert "y[i] = srk[i]\n       ^" in text
    assert isinstance(caught.value, (fovea.Error, ValueError))


def test_a_likely_mistake_is_a_warning():
    with pytest.warns(fovea.SpecWarning, match="parameter 'spare' is never used"):
        fovea.compile("model m\ndata x : real\nparam f, spare : linear(1)\n"
                      "penalty f(x * ones(1))^2\n")


def test_a_file_that_is_not_there():
    with pytest.raises(fovea.SpecError, match="cannot read 'none.fov'"):
        fovea.compile("none.fov")
    with pytest.raises(fovea.SpecError, match="none/model|none"):
        fovea.load("none")


def test_overrides_that_are_none():
    with pytest.raises(fovea.SpecError, match="--set K"):
        fovea.compile(COPIER, sets={"K": 3, "v.vocab": 9})


@pytest.mark.parametrize("change, words", [
    ({"source": [[1]]}, "the model has no data 'source'; there are src, tgt"),
    ({"src": [[3, 1]]}, "'src' has 1 examples but 'tgt' has 3"),
    ({"src": [[3, 1], [4], 5]}, r"example 3 of 'src' is not \[S\] of token: 5"),
    ({"src": [[3, 1], [[4]], [1]]}, r"example 2 of 'src' is not \[S\] of token"),
    ({"src": [[3, 1], [4.5], [1]]}, r"example 2 of 'src' is not \[S\] of token"),
    ({"src": [[3, 1], ["four"], [1]]}, "'src' has no symbol 'four'"),
    ({"src": [[3, 1], [None], [1]]}, r"example 2 of 'src' is not \[S\] of token"),
    ({"src": [[3, 99, 1], [1], [1]]}, "99"),
    ({"src": [[3, -1, 1], [1], [1]]}, "-1"),
    ({"src": [[3, 1], [], [1]]}, "src"),
    ({"src": [[3, 1], [2 ** 70], [1]]}, r"example 2 of 'src' is not \[S\] of token"),
])
def test_batches_that_do_not_fit(copier, batch, change, words):
    before = copier.loss(batch)
    with pytest.raises(fovea.SpecError, match=words):
        copier.loss({**batch, **change})
    assert copier.loss(batch) == before


def test_data_that_is_missing(copier, batch):
    with pytest.raises(fovea.SpecError, match="tgt"):
        copier.loss({"src": batch["src"]})
    with pytest.raises(fovea.SpecError, match="no examples"):
        copier.loss({"src": [], "tgt": []})
    with pytest.raises(fovea.SpecError):
        copier.loss({})


def test_an_equation_that_is_none(copier, batch):
    with pytest.raises(fovea.SpecError, match="there is no equation 'alig'; did you "
                                              "mean 'align'"):
        copier.get("alig", batch)


def test_what_a_model_cannot_do():
    model = fovea.compile("model m\ndata x[S] : real\ny[i] = 2 * x[i]\n", dtype="f64")
    with pytest.raises(fovea.SpecError, match="'m' generates nothing"):
        model.decode({"x": [[1.0]]})
    with pytest.raises(fovea.SpecError, match="'m' has no objective"):
        model.loss({"x": [[1.0]]})
    assert [row.tolist() for row in model.get("y", {"x": [[1, 2], [3]]})] == \
        [[2, 4], [6]]


def test_a_model_that_trains_and_cannot_be_decoded():
    text = ("model m\nvocab v : ids(5)\ndata y[T] : sentence of v\n"
            "param w : vector(5)\ny[t] ~ categorical(w * T)\n")
    model = fovea.compile(text)
    assert model.loss({"y": [[2, 3, 1]]}) > 0
    with pytest.raises(fovea.SpecError, match="'m' cannot be decoded because 'y'"):
        model.decode({})


def test_weights_of_another_size(tmp_path, copier):
    copier.save(tmp_path / "w.safetensors")
    with pytest.raises(fovea.SpecError, match="w.safetensors"):
        fovea.compile(COPIER, sets={"v.vocab": 12}, dtype="f64",
                      weights=tmp_path / "w.safetensors")


def test_a_program_that_is_not_there(monkeypatch):
    monkeypatch.setenv("FOVEA_PROGRAM", "/no/such/program")
    with pytest.raises(fovea.MachineError, match="/no/such/program"):
        fovea.check(COPIER)


def test_other_threads_run_while_it_computes():
    model = fovea.compile(COPIER, sets={"v.vocab": 500, "H": 128}, threads=1)
    batch = {name: [list(range(3, 60)) + [1]] * 32 for name in ("src", "tgt")}
    model.loss(batch)
    counts, ended = [0], threading.Event()

    def count():
        while not ended.is_set():
            counts[0] += 1
            time.sleep(0.001)

    thread = threading.Thread(target=count)
    thread.start()
    begin = time.monotonic()
    while time.monotonic() - begin < 0.5:
        model.gradients(batch)
    seen = counts[0]
    ended.set()
    thread.join()
    assert seen > 20


def test_two_threads_on_one_model_are_told(copier, batch):
    # Never wrong numbers: each call is done, or says that the model is busy.
    wanted, found, busy = copier.score(batch), [], []

    def work():
        for _ in range(30):
            try:
                found.append(copier.score(batch))
            except fovea.Error as error:
                busy.append(str(error))

    threads = [threading.Thread(target=work) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert all(own == wanted for own in found)
    assert all("another thread" in text for text in busy)


# A test may run where interrupts are ignored, as in the background of a shell.
INTERRUPTED = """
import signal, sys, fovea
signal.signal(signal.SIGINT, signal.default_int_handler)
sys.path.insert(0, {tests!r})
from conftest import COPIER
model = fovea.compile(COPIER, sets={{"v.vocab": 200, "H": 64,
                                     "decode.longest": 200}}, threads=1)
model.parameters["out.bias"][1] = -1e9
batch = {{"src": [list(range(3, 90)) + [1]] * 20000}}
try:
    print("ready", flush=True)
    model.decode(batch, beam=4)
    print("done")
except KeyboardInterrupt:
    print("interrupted")
print(len(model.decode({{"src": [[3, 1]]}}, max_length=3)))
"""


def test_ctrl_c_ends_a_search():
    tests = os.path.dirname(__file__)
    process = subprocess.Popen([sys.executable, "-c", INTERRUPTED.format(tests=tests)],
                               stdout=subprocess.PIPE, text=True,
                               env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)})
    try:
        assert process.stdout.readline() == "ready\n"
        time.sleep(0.5)
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=120)
    finally:
        process.kill()
    assert out == "interrupted\n1\n"


def test_arrays_go_in(copier, batch):
    arrays = {name: [np.array(row) for row in rows] for name, rows in batch.items()}
    assert copier.score(arrays) == copier.score(batch)
    arrays = {name: [np.array(row, np.int8) for row in rows]
              for name, rows in batch.items()}
    assert copier.score(arrays) == copier.score(batch)
