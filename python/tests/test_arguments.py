"""Every argument of every function is checked: what C or a file would cut, round
or ignore is an error, and the model is as before."""

import inspect
import pathlib
import re

import numpy as np
import pytest

import fovea
from conftest import COPIER

WHOLE = [-1, 2**63, 2**64, 1.5, "3", True, [1], None]
PATHS = ["a\0b", 3, None]
SETS = [["v.vocab"], {"v.vocab": "9\0"}, {"v\0": 9}, {3: 4}, "v.vocab=9"]
MASKED = np.ma.masked_array([3, 4, 1], mask=[False, True, False])

#: What `src` of the copier cannot be.
SENTENCES = [
    "3 4 1", 3, None, [MASKED], [[np.ma.masked, 1]], ["a\0b"], [["a\0b"]],
    ["\ud800"], [np.array([2**63 + 5], np.uint64)], [[3.0, 1.0]], [b"3"],
    [[1 + 2j]], {0: [3, 1]}, np.array(3), iter([[3, 1]]),
]
BATCHES = [None, 3, "src", [[3, 1]], {"sorc": [[3, 1]]}, {3: [[3, 1]]},
           *({"src": value, "tgt": [[3, 1]]} for value in SENTENCES)]

SEARCH = {
    "batch": BATCHES,
    "beam": WHOLE, "max_length": WHOLE, "min_length": WHOLE, "seed": WHOLE,
    "top_k": WHOLE, "nbest": [0, *WHOLE],
    "sample": [1, 0, "yes", None],
    "temperature": [0, -1, float("nan"), float("inf"), "1", None, True, 10**400],
    "top_p": [0, -0.5, 1.5, float("nan"), "1", None],
    "prefix": ["a", [3], ["a\0b"], 3, {"a": 1}, [], [None, None], [b"a"]],
}
OPTIONAL_SEED = [value for value in WHOLE if value is not None]

WRONG = {
    fovea.check: {"spec": PATHS, "sets": SETS},
    fovea.compile: {
        "spec": PATHS, "sets": SETS, "seed": WHOLE, "threads": [2**31, *WHOLE],
        "dtype": ["f16", np.float32, None, 4, ["f32"]], "weights": PATHS[:-1],
    },
    fovea.load: {
        "folder": PATHS, "sets": SETS, "threads": [2**31, *WHOLE],
        "dtype": ["f16", None],
    },
    fovea.Model.loss: {"batch": BATCHES, "seed": OPTIONAL_SEED},
    fovea.Model.score: {"batch": BATCHES},
    fovea.Model.gradients: {"batch": BATCHES, "seed": OPTIONAL_SEED},
    fovea.Model.train_step: {"batch": BATCHES, "seed": WHOLE},
    fovea.Model.fit: {
        "data": [None, 3, "src", [], {}, {"src": [[3, 1]], "tgt": []}, {"sorc": [[3, 1]]},
                 *({"src": value, "tgt": [[3, 1]]} for value in SENTENCES)],
        "valid": [3, "src", [], {}, {"sorc": [[3, 1]]}],
        "epochs": [0, *WHOLE], "batch_size": [0, *WHOLE], "seed": WHOLE,
        "callbacks": [None, 3, "print", [print, 3]], "progress": [1, 0, "yes"],
    },
    fovea.Model.save: {"path": PATHS},
    fovea.Model.export: {
        "path": PATHS, "emit": ["wasm", 3, ["exe"]], "get": [3, None, ["align", 3], "a\0b", "none"],
    },
    fovea.Model.add: {"weights": PATHS},
    fovea.Model.decode: SEARCH,
    fovea.Model.search: SEARCH,
    fovea.Model.get: {
        "names": [3, None, [], ["align", 3], "a\0b", {"align": 1}, "none"],
        "batch": BATCHES,
    },
    fovea.Model.picture: {
        "name": [3, None, "a\0b", "none", ["align"]], "batch": BATCHES,
        "example": [1, *WHOLE],
    },
    fovea.Picture.save: {"path": PATHS},
}

#: Arguments that are right.
RIGHT = {
    "spec": COPIER, "sets": {"v.vocab": 9}, "folder": "none", "path": "none",
    "batch": {"src": [[3, 1]], "tgt": [[3, 1]]},
    "data": {"src": [[3, 1]], "tgt": [[3, 1]]}, "names": "align", "name": "align",
}


def call(function, copier, arguments):
    owner = {"Model": copier, "Picture": fovea.Picture("<svg/>")}.get(
        function.__qualname__.split(".")[0])
    function(*([owner] if owner else []), **arguments)


@pytest.mark.parametrize("function", WRONG, ids=lambda own: own.__qualname__)
def test_wrong_values_are_errors(copier, batch, function):
    before = copier.loss(batch)
    needed = {name: RIGHT[name] for name in inspect.signature(function).parameters
              if name in RIGHT}
    for name, values in WRONG[function].items():
        for value in values:
            with pytest.raises(fovea.SpecError):
                call(function, copier, {**needed, name: value})
                pytest.fail(f"{function.__qualname__} takes {name}={value!r}")
    assert copier.loss(batch) == before


def test_no_argument_is_forgotten():
    public = {own for name in fovea.__all__
              if inspect.isfunction(own := getattr(fovea, name))}
    for kind in (fovea.Model, fovea.Picture):
        public |= {own for name, own in vars(kind).items()
                   if inspect.isfunction(own) and not name.startswith("_")}
    assert public == set(WRONG)
    for function in public:
        names = set(inspect.signature(function).parameters) - {"self"}
        assert names == set(WRONG[function]), function


def test_messages_name_the_argument(copier, batch):
    for change, message in [
            ({"beam": 2**64}, "beam must be between 0 and 9223372036854775807, got "
                              "18446744073709551616"),
            ({"seed": 2.5}, "seed must be an integer, got 2.5"),
            ({"top_p": 3}, "top_p must be above 0 and at most 1, got 3"),
            ({"temperature": 0}, "temperature must be above 0, got 0"),
            ({"prefix": "a b"}, "prefix must be a list with a line or None for each "
                                "example, got 'a b'")]:
        with pytest.raises(fovea.SpecError, match=message):
            copier.decode({"src": batch["src"]}, **change)
    with pytest.raises(fovea.SpecError, match="example 1 of 'src' has masked values"):
        copier.loss({"src": [MASKED], "tgt": [[3, 1]]})
    # A mask that hides nothing is none.
    whole = np.ma.masked_array([3, 4, 1])
    assert copier.loss({"src": [whole], "tgt": [[3, 1]]}) == \
        copier.loss({"src": [[3, 4, 1]], "tgt": [[3, 1]]})
    # Integers of numpy are integers.
    assert copier.decode({"src": batch["src"]}, beam=np.int8(2), seed=np.uint64(5)) == \
        copier.decode({"src": batch["src"]}, beam=2)


def test_numbers_that_the_model_cannot_hold():
    model = fovea.compile("model m\ndata x : real, b : bit, n : int\n"
                          "y = x + n + (if b then 1 else 0)\npenalty y^2\n")
    right = {"x": [1.0], "b": [True], "n": [2]}
    assert model.loss(right) == 16
    for name, value in [("x", 1e300), ("b", 2), ("b", 256), ("n", 2**63), ("n", 1.5),
                        ("x", "1"), ("x", 1j), ("x", np.datetime64("2020-01-01")),
                        ("x", float("inf"))]:
        with pytest.raises(fovea.SpecError):
            model.loss({**right, name: [value]})
            pytest.fail(f"{name} takes {value!r}")


def test_bits_are_those_of_every_example():
    # y = sum of bits; penalty y^2: (0 + 4 + 1) / 3.
    model = fovea.compile("model m\ndata b[S] : bit, flag : bit\n"
                          "y = sum[i](if b[i] then 1 else 0)\n"
                          "penalty y^2 + (if flag then 300 else 0)\n", dtype="f64")
    batch = {"b": [[0, 0, 0], [1, 0, 1], [1]], "flag": [False, True, False]}
    assert model.loss(batch) == pytest.approx((4 + 1 + 300) / 3)


def test_parameters_are_assigned(copier, batch):
    loss, values = copier.loss(batch), copier.parameters["out.bias"].copy()
    copier.parameters["out.bias"] = values + np.arange(9.0)
    assert copier.loss(batch) != loss
    assert np.array_equal(copier.parameters["out.bias"], values + np.arange(9.0))
    copier.parameters["out.bias"] -= np.arange(9.0)
    copier.parameters["out.bias"] = list(values)
    assert copier.loss(batch) == loss
    for wrong in [values[:3], 0.0, "a", None, values * 1j,
                  np.ma.masked_array(values, mask=values > 0)]:
        with pytest.raises(fovea.SpecError, match="'out.bias'"):
            copier.parameters["out.bias"] = wrong
    with pytest.raises(fovea.SpecError, match="no parameter 'out.bias_'; there are"):
        copier.parameters["out.bias_"] = values
    with pytest.raises(AttributeError):
        del copier.parameters["out.bias"]
    with pytest.raises(AttributeError):
        copier.parameters = {}
    with pytest.raises(TypeError):
        copier.dims["H"] = 9
    assert copier.loss(batch) == loss


def test_documented_arguments():
    """docs/PYTHON.md lists arguments that the functions have."""
    page = pathlib.Path(__file__).parents[2] / "docs/PYTHON.md"
    count = 0
    for line in page.read_text(encoding="utf-8").splitlines():
        for name, given in re.findall(r"`(\w[\w.]*)\(([^`]*)\)`", line.split(" | ")[0]):
            function = getattr(fovea.Model, name, None) or \
                getattr(fovea, name.removeprefix("fovea."), None)
            if not line.startswith("| `") or not callable(function):
                continue
            known = inspect.signature(function).parameters
            names = {part.split("=")[0].strip(" []") for part in given.split(",")} - {"", ".."}
            is_open = any(one.kind is one.VAR_KEYWORD for one in known.values())
            assert is_open or not names - set(known), (name, names - set(known))
            count += 1
    assert count > 10
