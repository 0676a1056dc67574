"""Training from Python, and models that are copied."""

import copy
import pickle

import numpy as np
import pytest
from conftest import COPIER

import fovea

SOURCES = [[3 + (number * step) % 6 for step in range(1, 2 + number % 3)] + [1]
           for number in range(24)]
COLUMNS = {"src": SOURCES, "tgt": SOURCES}
ROWS = [{"src": row, "tgt": row, "other": None} for row in SOURCES]


def make():
    return fovea.compile(COPIER, sets={"v.vocab": 9}, seed=3, dtype="f64")


@pytest.fixture(scope="module")
def model():
    return make()


def test_it_learns_and_reports():
    model, heard = make(), []
    reports = model.fit(COLUMNS, COLUMNS, epochs=12, batch_size=5, callbacks=heard.append)
    assert reports == heard and len(reports) == 12 * 5
    assert [report.step for report in reports] == list(range(1, 61))
    assert [report.epoch for report in reports[::5]] == list(range(1, 13))
    judged = [report.valid_loss for report in reports if report.valid_loss is not None]
    assert len(judged) == 12 and judged[-1] < 0.7 * judged[0]
    assert reports[4].valid_loss is not None and reports[3].valid_loss is None
    # The mean over the examples of what loss() says of each batch.
    parts = [{name: column[first:first + 5] for name, column in COLUMNS.items()}
             for first in range(0, 24, 5)]
    total = sum(model.loss(part) * len(part["src"]) for part in parts)
    assert judged[-1] == pytest.approx(total / 24)


class Frame:
    """What a DataFrame has of what is asked of it."""

    columns = ["src", "tgt", "other"]

    def __getitem__(self, name):
        return [row[name] for row in ROWS]

    def to_dict(self):
        raise AssertionError


def test_rows_columns_and_frames_are_the_same():
    found = []
    for data in (COLUMNS, ROWS, Frame(), {name: np.array(column, object)
                                          for name, column in COLUMNS.items()}):
        model = make()
        found.append([report.loss for report in model.fit(data, epochs=2, batch_size=7)])
        assert len(found[-1]) == 8
    assert found[1:] == found[:-1]


def test_batches_of_others_keep_their_order(model):
    batches = [{"src": [[4, 1]], "tgt": [[4, 1]]}, {"src": [[5, 1]] * 2, "tgt": [[5, 1]] * 2}]

    class Loader:
        def __iter__(self):
            return iter(batches)

    wanted = copy.deepcopy(model)
    losses = [wanted.train_step(batch) for batch in batches * 2]
    assert [one.loss for one in copy.deepcopy(model).fit(Loader(), epochs=2)] == losses
    with pytest.raises(fovea.SpecError, match="it can be read only once"):
        model.fit(iter(batches), epochs=2)


def test_a_callback_ends_the_training(model):
    assert len(model.fit(ROWS, batch_size=4, callbacks=[lambda one: one.step < 3])) == 3

    def breaks(report):
        raise KeyError("mine")

    before = model.parameters["out.bias"].copy()
    with pytest.raises(KeyError, match="mine"):
        model.fit(ROWS, callbacks=[breaks])
    assert (model.parameters["out.bias"] != before).any() and model.loss(COLUMNS) > 0


def test_progress_is_one_line(model, capsys):
    model.fit(ROWS, ROWS, batch_size=12, epochs=2, progress=True)
    lines = capsys.readouterr().err.split("\n")
    assert len(lines) == 3 and lines[-1] == ""
    last = lines[1].split("\r\x1b[K")[-1]
    assert last.startswith("epoch 2/2  update 4/4  loss ") and "  valid " in last
    model.fit(ROWS, batch_size=12)
    assert capsys.readouterr().err == ""


def test_mistakes_of_data(model):
    for data, mistake in (
            ({}, "data has no examples"), ([], "data has no examples"), (3, "data must be"),
            ("text", "there is no file or folder"), ({"src": SOURCES, "tgt": SOURCES[1:]},
                                       "src has 24, tgt has 23"),
            ([3], "a row must be a dict"), (iter([3]), "a batch must be a dict"),
            (iter([]), "data has no batches")):
        with pytest.raises(fovea.SpecError, match=mistake):
            model.fit(data)
    for options in ({"epochs": 0}, {"batch_size": 0}, {"seed": -1}, {"progress": 1},
                    {"callbacks": [3]}):
        with pytest.raises(fovea.SpecError):
            model.fit(ROWS, **options)


@pytest.mark.parametrize("again", [copy.deepcopy, lambda one: pickle.loads(pickle.dumps(one))])
def test_a_copy_trains_on_as_the_model_does(again):
    model = make()
    model.fit(ROWS, batch_size=8)
    other = again(model)
    assert other.name == model.name and other.dims == model.dims
    assert other.parameters["embed.weight"].dtype == np.float64
    wanted = [report.loss for report in model.fit(ROWS, batch_size=8)]
    assert [report.loss for report in other.fit(ROWS, batch_size=8)] == wanted
    state, own = other.state, model.state
    assert state and state.keys() == own.keys()
    assert all((state[name] == own[name]).all() for name in own)


def test_a_copy_has_memory_of_its_own(model):
    other = copy.deepcopy(model)
    other.parameters["out.bias"][:] = 7
    assert (model.parameters["out.bias"] != 7).any()


def test_an_ensemble_is_not_copied(tmp_path):
    model = make()
    model.save(tmp_path / "w.safetensors")
    model.add(tmp_path / "w.safetensors")
    with pytest.raises(fovea.SpecError, match="an ensemble cannot be copied"):
        pickle.dumps(model)


def test_tensors_of_pytorch():
    torch = pytest.importorskip("torch")
    model = fovea.compile("model m\ndata x[S] : real, y : real\nparam w : linear(1)\n"
                          "y ~ normal(w(sum[i](x[i]) * ones(1)), 1)\n", seed=1)
    x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
    wanted = model.loss({"x": [[1, 2], [3, 4]], "y": [1, 2]})
    for given in (x, list(x), x.bfloat16()):
        assert model.loss({"x": given, "y": torch.tensor([1, 2])}) == wanted
