"""Training on tables in files."""

import json

import pytest
from test_fit import COLUMNS, ROWS, make

import fovea

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


@pytest.fixture(scope="module")
def wanted():
    return losses(COLUMNS)


def losses(data):
    model = make()
    return [report.loss for report in model.fit(data, data, epochs=2, batch_size=7)] + [
        model.loss(COLUMNS)]


def table(rows=slice(None)):
    return pa.table({**{name: column[rows] for name, column in COLUMNS.items()},
                     "other": ["x"] * len(COLUMNS["src"][rows])})


def stored(folder, parts=2):
    """What Dataset.save_to_disk writes."""
    folder.mkdir(parents=True)
    names = [f"data-{number:05}-of-{parts:05}.arrow" for number in range(parts)]
    for number, name in enumerate(names):
        own = table(slice(number * 24 // parts, (number + 1) * 24 // parts))
        with pa.ipc.new_stream(folder / name, own.schema) as stream:
            stream.write_table(own)
    (folder / "state.json").write_text(json.dumps(
        {"_data_files": [{"filename": name} for name in names], "_split": None}))
    (folder / "dataset_info.json").write_text("{}")
    return folder


def test_files_and_folders_are_columns(tmp_path, wanted):
    pq.write_table(table(), tmp_path / "all.parquet")
    parts = tmp_path / "parts"
    parts.mkdir()
    for number in range(3):
        pq.write_table(table(slice(8 * number, 8 * number + 8)), parts / f"{number}.parquet")
    with pa.ipc.new_file(tmp_path / "all.arrow", table().schema) as file:
        file.write_table(table())
    for data in (tmp_path / "all.parquet", str(tmp_path / "all.parquet"), parts,
                 tmp_path / "all.arrow", stored(tmp_path / "stored"), table()):
        assert losses(data) == wanted


def test_what_datasets_has_saved(tmp_path, wanted):
    datasets = pytest.importorskip("datasets")
    whole = datasets.Dataset.from_list([{"src": row["src"], "tgt": row["tgt"]} for row in ROWS])
    assert losses(whole) == wanted
    whole.save_to_disk(tmp_path / "whole", num_shards=2)
    assert losses(tmp_path / "whole") == wanted
    whole.select(range(23, -1, -1)).save_to_disk(tmp_path / "turned")
    model, other = make(), make()
    turned = {name: column[::-1] for name, column in COLUMNS.items()}
    assert [one.loss for one in model.fit(tmp_path / "turned", seed=5)] == [
        one.loss for one in other.fit(turned, seed=5)]
    datasets.DatasetDict({"train": whole}).save_to_disk(tmp_path / "parts")
    assert losses(tmp_path / "parts" / "train") == wanted
    with pytest.raises(fovea.SpecError, match="has the parts train; help: give the folder"):
        model.fit(tmp_path / "parts")


def test_mistakes_of_files(tmp_path):
    model = make()
    pq.write_table(pa.table({"a": [1], "b": [2]}), tmp_path / "names.parquet")
    pq.write_table(pa.table({"src": [b"x"], "tgt": [[1]]}), tmp_path / "bytes.parquet")
    pq.write_table(pa.table({"src": [None], "tgt": [[1]]}), tmp_path / "none.parquet")
    (tmp_path / "cut.parquet").write_bytes(b"PAR1\0\0")
    (tmp_path / "cut.arrow").write_bytes(b"\xff\xff\xff\xff\x10\0\0\0ab")
    (tmp_path / "text.tsv").write_text("1\t1\n")
    (tmp_path / "empty").mkdir()
    mixed = tmp_path / "mixed"
    mixed.mkdir()
    pq.write_table(table(), mixed / "0.parquet")
    pq.write_table(pa.table({"src": [1.5]}), mixed / "1.parquet")
    moved = stored(tmp_path / "moved")
    (moved / "state.json").write_text(json.dumps({"_data_files": [{"filename": "../x.arrow"}]}))
    broken = stored(tmp_path / "broken")
    (broken / "state.json").write_text("{}")
    deep = stored(tmp_path / "deep")
    (deep / "state.json").write_text("[" * 100000)
    (stored(tmp_path / "parts") / "dataset_dict.json").write_text('{"splits": ["a", "b"]}')
    (stored(tmp_path / "odd") / "dataset_dict.json").write_text('{"splits": ')
    twice = pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["src", "src"])
    with pa.ipc.new_file(tmp_path / "twice.arrow", twice.schema) as stream:
        stream.write_table(twice)
    pq.write_table(twice, tmp_path / "twice.parquet")
    lacking = stored(tmp_path / "lacking")
    (lacking / "data-00001-of-00002.arrow").unlink()
    for path, mistake in (
            ("names.parquet", "its columns are a, b; the model has src, tgt; help: rename"),
            ("bytes.parquet", "'src' of .* has values of type binary; help: decode"),
            ("none.parquet", "example 1 of 'src' is not"),
            ("cut.parquet", "cannot read '.*cut.parquet'"),
            ("cut.arrow", "cannot read '.*cut.arrow'"),
            ("text.tsv", "is neither Parquet nor Arrow; help: 'fovea train' reads"),
            ("empty", "has neither Parquet files nor a saved dataset"),
            ("mixed", "have different columns"), ("gone", "there is no file or folder"),
            ("moved", "names files outside of its folder"),
            ("broken", "is not the state of a saved dataset"),
            ("deep", "'.*state.json' is not the state of a saved dataset"),
            ("parts", "has the parts a, b; help: give the folder"),
            ("odd", "'.*dataset_dict.json' is not the list of parts of a saved dataset"),
            ("twice.parquet", "has 2 columns 'src'; help: leave one|cannot read '.*twice.parquet'"),
            ("twice.arrow", "has 2 columns 'src'; help: leave one"),
            ("lacking", "cannot read '.*data-00001-of-00002.arrow'")):
        with pytest.raises(fovea.SpecError, match=mistake):
            model.fit(tmp_path / path)
    with pytest.raises(fovea.SpecError, match="data has no data of the model"):
        model.fit(pa.table({"a": [1]}))
