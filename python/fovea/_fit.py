"""Training from Python: data of many forms, progress, callbacks."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _arguments, _files
from ._batch import Batch
from ._errors import SpecError


class Report(NamedTuple):
    """What is known after an update."""

    #: The updates so far in this fit(), from 1; the epoch, from 1.
    step: int
    epoch: int
    #: The loss of the batch before the update.
    loss: float
    #: The mean loss of the validation data, after the last update of an epoch.
    valid_loss: float | None
    seconds: float


Callback = Callable[[Report], Any]


class Examples:
    """Examples that are drawn in batches: columns, rows, or batches of others."""

    def __init__(self, name: str, data: Any, names: Sequence[str]) -> None:
        self._names = names
        self._columns: dict[str, Any] | None = None
        self._rows: Any = None
        self._batches: Iterable[Any] | None = None
        if isinstance(data, (str, os.PathLike)):
            data = _files.read(_arguments.path(name, data), names)
        elif hasattr(data, "column_names") and hasattr(data, "to_pydict"):  # of pyarrow
            data = _files.columns_of(data, names, name)
        elif hasattr(data, "columns") and hasattr(data, "to_dict"):  # of pandas
            data = {column: list(data[column]) for column in data.columns}
        if isinstance(data, Mapping):
            self._columns = {own: data[own] for own in names if own in data}
            self.count = self._count(name, self._columns)
        elif hasattr(data, "__len__") and hasattr(data, "__getitem__") and \
                not isinstance(data, bytes):
            self._rows = data
            self.count = len(data)
            if self.count == 0:
                raise SpecError(f"{name} has no examples")
        elif isinstance(data, Iterable) and not isinstance(data, bytes):
            self._batches = data
            self.count = -1
        else:
            raise SpecError(f"{name} must be columns, rows or batches of examples, got "
                            f"{_arguments.short(data)}")

    def _count(self, name: str, columns: Mapping[str, Any]) -> int:
        counts = {own: _length(own, column) for own, column in columns.items()}
        if not counts or 0 in counts.values():
            raise SpecError(f"{name} has no examples")
        if len(set(counts.values())) > 1:
            raise SpecError(f"the columns of {name} differ in length: " + ", ".join(
                f"{own} has {count}" for own, count in counts.items()))
        return next(iter(counts.values()))

    def numbers(self, size: int) -> int | None:
        """How many batches there are, where that is known."""
        return None if self.count < 0 else -(-self.count // size)

    def batches(self, size: int, order: np.random.Generator | None) -> Iterator[Batch]:
        """All examples once, in a new order."""
        if self._batches is not None:
            for batch in self._batches:
                if not isinstance(batch, Mapping):
                    raise SpecError("a batch must be a dict with a list of examples "
                                    f"for each name, got {_arguments.short(batch)}")
                yield {own: batch[own] for own in self._names if own in batch}
            return
        places = np.arange(self.count) if order is None else order.permutation(self.count)
        for first in range(0, self.count, size):
            chosen = [int(place) for place in places[first:first + size]]
            if self._columns is not None:
                yield {own: [column[place] for place in chosen]
                       for own, column in self._columns.items()}
                continue
            rows = [self._rows[place] for place in chosen]
            for row in rows:
                if not isinstance(row, Mapping):
                    raise SpecError("a row must be a dict with a value for each name, "
                                    f"got {_arguments.short(row)}")
                for own in self._names:
                    if (own in row) != (own in rows[0]):
                        raise SpecError(f"some rows have a value for {own!r}, and others have none")
            yield {own: [row[own] for row in rows] for own in self._names
                   if own in rows[0]}


def _length(name: str, column: Any) -> int:
    """How many examples a column has."""
    try:
        count = len(column)
    except TypeError:
        count = None
    if count is None or isinstance(column, (str, bytes, Mapping)) or \
            not hasattr(column, "__getitem__"):
        raise SpecError(f"the column of {name!r} must be a list with a value for each example, "
                        f"got {_arguments.short(column)}")
    return count


class Progress:
    """One line that says how far the training is: in a terminal, or in the output
    of a notebook's cell."""

    def __init__(self, shown: bool | None, epochs: int, steps: int | None) -> None:
        self._epochs = epochs
        self._steps = steps
        self._display = _notebook()
        self._shown = shown if shown is not None else \
            self._display is not None or sys.stderr.isatty()
        self._last = 0.0
        self._handle: Any = None

    def show(self, report: Report, ends: bool) -> None:
        now = time.monotonic()
        if not self._shown or (not ends and now - self._last < 0.2):
            return
        self._last = now
        of = f"/{self._steps * self._epochs}" if self._steps else ""
        line = (f"epoch {report.epoch}/{self._epochs}  update {report.step}{of}  "
                f"loss {report.loss:.4f}")
        if report.valid_loss is not None:
            line += f"  valid {report.valid_loss:.4f}"
        line += f"  {report.seconds:.1f} s"
        if self._display is None:
            sys.stderr.write(f"\r\x1b[K{line}" + ("\n" if ends else ""))
            sys.stderr.flush()
        elif self._handle is None:
            self._handle = self._display({"text/plain": line}, raw=True, display_id=True)
        else:
            self._handle.update({"text/plain": line}, raw=True)


def _notebook() -> Any:
    """What displays in a notebook, where this is one."""
    shell = sys.modules.get("IPython")
    current = shell and shell.get_ipython()
    if current is None or not hasattr(current, "kernel"):
        return None
    from IPython.display import display
    return display


def fit(model: Any, data: Any, valid: Any, epochs: int, batch_size: int, seed: int,
        callbacks: Callback | Sequence[Callback], progress: bool | None) -> list[Report]:
    """See Model.fit()."""
    epochs = _arguments.whole("epochs", epochs, 1)
    size = _arguments.whole("batch_size", batch_size, 1)
    seed = _arguments.whole("seed", seed)
    if progress is not None:
        progress = _arguments.flag("progress", progress)
    called = [callbacks] if callable(callbacks) else callbacks
    if not isinstance(called, (list, tuple)) or not all(map(callable, called)):
        raise SpecError("callbacks must be a function or a list of functions, got "
                        f"{_arguments.short(callbacks)}")
    names = [own.name for own in model._data]
    examples = Examples("data", data, names)
    others = None if valid is None else Examples("valid", valid, names)
    shown = Progress(progress, epochs, examples.numbers(size))
    order = np.random.default_rng(seed)
    begin = time.monotonic()
    reports: list[Report] = []
    for epoch in range(1, epochs + 1):
        drawn = examples.batches(size, order)
        current = next(drawn, None)
        if current is None:
            raise SpecError("data has no batches" if epoch == 1 else
                            "data has no batches left: it can be read only once")
        while current is not None:
            loss = model.train_step(current, seed)
            following = next(drawn, None)
            ends = following is None
            judged = _loss_of(model, others, size) if ends and others else None
            report = Report(len(reports) + 1, epoch, loss, judged,
                            time.monotonic() - begin)
            reports.append(report)
            shown.show(report, ends)
            # All of them hear of it, whatever one of them wants.
            if any([one(report) is False for one in called]):
                return reports
            current = following
    return reports


def _loss_of(model: Any, examples: Examples, size: int) -> float:
    """The mean over batches, weighted by their examples."""
    total, count = 0.0, 0
    for batch in examples.batches(size, None):
        own = len(next(iter(batch.values())))
        total += model.loss(batch) * own
        count += own
    return total / count if count else float("nan")
