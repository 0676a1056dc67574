"""What a notebook shows."""

import numpy as np
import pytest

import fovea
from conftest import COPIER


def test_model_shows_its_equations(copier):
    shown = copier._repr_html_()
    assert "align[t] = softmax[i](dot(s[t-1], f[i]))" in shown
    assert copier.text.startswith("model copier")
    assert "<td>embed.weight</td><td>[9, 8]</td>" in shown


def test_alignment_is_a_picture(copier, batch, tmp_path):
    picture = copier.picture("align", batch, example=1)
    svg = picture._repr_svg_()
    assert svg.startswith("<svg") or svg.startswith("<?xml")
    assert "align" in svg
    picture.save(tmp_path / "align.svg")
    assert (tmp_path / "align.svg").read_text(encoding="utf-8") == svg


def test_parameters_are_shared_by_dlpack(copier):
    shared = np.from_dlpack(copier.parameters["out.bias"])
    assert np.shares_memory(shared, copier.parameters["out.bias"])


def test_arrays_that_return_have_dlpack(copier, batch):
    torch = pytest.importorskip("torch")
    _, gradients = copier.gradients(batch)
    for array in (copier.parameters["out.bias"], gradients["out.bias"],
                  copier.get("align", batch)[0]):
        assert array.__dlpack_device__() == (1, 0)
        assert torch.from_dlpack(array).numpy().ctypes.data == array.ctypes.data


class Shell:
    """What the package uses of IPython."""

    def __init__(self):
        self.variables = {}

    def register_magic_function(self, function, magic_kind):
        assert (function.__name__, magic_kind) == ("fovea", "cell")
        self.run = function

    def push(self, variables):
        self.variables.update(variables)


@pytest.fixture
def shell():
    shell = Shell()
    fovea.load_ipython_extension(shell)
    return shell


def test_cell_is_a_spec(shell, copier, batch):
    model = shell.run("v.vocab=9 --seed=3 --dtype f64", "# A comment.\n" + COPIER)
    assert shell.variables == {"copier": model}
    assert model.loss(batch) == copier.loss(batch)


@pytest.mark.parametrize("line, message", [
    ("v.vocab", "'v.vocab' is not NAME=VALUE; help: %%fovea NAME=VALUE .."),
    ("--sead 3", "'--sead' is not an option"),
    ("--seed", "'--seed' takes a number, got ''"),
    ("'v", "No closing quotation"),
])
def test_cell_with_a_mistake_in_its_line(shell, line, message):
    with pytest.raises(fovea.SpecError, match="%%fovea: .*" + message):
        shell.run(line, COPIER)
    assert not shell.variables


def test_cell_with_a_mistake(shell):
    with pytest.raises(fovea.SpecError, match=r":3:8: error: 'srk' is not defined"):
        shell.run("", "model m\ndata src[S] : real\ny[i] = srk[i]\n")
    assert not shell.variables


def test_ipython_has_the_magic(copier, batch):
    testing = pytest.importorskip("IPython.core.interactiveshell")
    shell = testing.InteractiveShell()
    shell.run_line_magic("load_ext", "fovea")
    shell.user_ns["size"] = 9
    shell.run_cell_magic("fovea", "v.vocab={size} --seed 3 --dtype f64", COPIER)
    assert shell.user_ns["copier"].loss(batch) == copier.loss(batch)
