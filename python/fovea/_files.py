"""Tables in files: Parquet, Arrow, and the folders that `datasets` saves.

They are read by pyarrow. Arrow files stay on disk: a row is read when a batch
needs it.
"""

from __future__ import annotations

import importlib
import json
import pathlib
from collections.abc import Sequence
from typing import Any

from ._errors import MachineError, SpecError


class Column:
    """The values of a column of pyarrow, one at a time."""

    def __init__(self, values: Any) -> None:
        self._values = values

    def __len__(self) -> int:
        return len(self._values)

    def __getitem__(self, place: int) -> Any:
        return self._values[place].as_py()


def columns_of(table: Any, names: Sequence[str], what: str) -> dict[str, Column]:
    """The columns of a table that the model has."""
    for name in names:
        if table.column_names.count(name) > 1:
            raise SpecError(f"{what} has {table.column_names.count(name)} columns {name!r}; "
                            "help: leave one of them")
    found = {name: Column(table.column(name)) for name in names
             if name in table.column_names}
    if not found:
        raise SpecError(f"{what} has no data of the model: its columns are "
                        f"{', '.join(table.column_names) or 'none'}; the model has "
                        f"{', '.join(names)}; help: rename the columns")
    for name in found:
        kind = str(table.schema.field(name).type)
        if "binary" in kind or kind.startswith("struct"):
            raise SpecError(f"the column {name!r} of {what} has values of type {kind}; help: "
                            "decode pictures and sounds to arrays of numbers")
    return found


def read(given: str, names: Sequence[str]) -> dict[str, Column]:
    """The columns of a file or a folder that the model has."""
    path = pathlib.Path(given)
    what = f"'{given}'"
    files = _files(path, what)
    try:
        arrow = importlib.import_module("pyarrow")
        parquet = importlib.import_module("pyarrow.parquet")
    except ImportError:
        raise MachineError(f"{what} needs pyarrow; help: pip install pyarrow") from None
    tables = []
    for file in files:
        try:
            tables.append(_table(arrow, parquet, file, names))
        except (OSError, arrow.ArrowException) as error:
            raise SpecError(f"cannot read '{file}': {_sentence(error)}") from None
    try:
        return columns_of(arrow.concat_tables(tables), names, what)
    except arrow.ArrowException as error:
        raise SpecError(f"the files of {what} have different columns: "
                        f"{_sentence(error)}") from None


def _sentence(error: Exception) -> str:
    return str(error).splitlines()[0]


def _table(arrow: Any, parquet: Any, file: pathlib.Path, names: Sequence[str]) -> Any:
    if file.suffix == ".parquet":
        schema = parquet.read_schema(file)
        wanted = [name for name in schema.names if name in names]
        # Without any, all names are for the message.
        return parquet.read_table(file, columns=wanted) if wanted else schema.empty_table()
    mapped = arrow.memory_map(str(file))
    begin = mapped.read(6)
    mapped.seek(0)
    opened = arrow.ipc.open_file if begin == b"ARROW1" else arrow.ipc.open_stream
    return opened(mapped).read_all()


def _object(file: pathlib.Path, what: str) -> dict[str, Any]:
    """The object of JSON in a file of a saved dataset."""
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise SpecError(f"cannot read '{file}': {error.strerror}") from None
    except (ValueError, RecursionError):
        found = None
    if not isinstance(found, dict):
        raise SpecError(f"'{file}' is not {what} of a saved dataset")
    return found


def _files(path: pathlib.Path, what: str) -> list[pathlib.Path]:
    """The files of a table, in order."""
    if path.is_file():
        if path.suffix not in (".parquet", ".arrow", ".feather"):
            raise SpecError(f"{what} is neither Parquet nor Arrow; help: 'fovea train' reads "
                            "text, tables, JSON lines and folders of files")
        return [path]
    if not path.is_dir():
        raise SpecError(f"there is no file or folder {what}")
    if (path / "dataset_dict.json").is_file():
        splits = _object(path / "dataset_dict.json", "the list of parts").get("splits")
        named = ", ".join(map(str, splits)) if isinstance(splits, list) else "of its folders"
        raise SpecError(f"{what} has the parts {named}; help: give the folder of one of them")
    state = path / "state.json"
    if not state.is_file():
        files = sorted(path.glob("*.parquet")) or sorted(path.glob("*.arrow"))
        if not files:
            raise SpecError(f"{what} has neither Parquet files nor a saved dataset")
        return files
    saved = _object(state, "the state")
    try:
        if saved.get("_indices_data_files"):
            raise SpecError(f"{what} has its rows in another order; help: save it after "
                            "flatten_indices()")
        names = [str(entry["filename"]) for entry in saved["_data_files"]]
    except (KeyError, TypeError):
        raise SpecError(f"'{state}' is not the state of a saved dataset") from None
    # A folder from elsewhere names files in itself only.
    if not names or any(pathlib.Path(name).name != name for name in names):
        raise SpecError(f"'{state}' names files outside of its folder")
    return [path / name for name in names]
