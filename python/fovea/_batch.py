"""Ragged examples as the padded arrays that a compiled model reads.

Lengths are passed beside the arrays. Padding is zeros, and is never read.
"""

from __future__ import annotations

import ast
import ctypes
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ._arguments import is_masked, short
from ._errors import SpecError

#: One value for each example: numbers, sequences of them, or text.
Batch = Mapping[str, Sequence[Any]]


class Symbols(Protocol):
    """The symbols of a data name."""

    def id_of(self, data: str, symbol: str) -> int:
        """Returns the id, or a negative number."""

    def ids_of(self, data: str, line: str) -> list[int]:
        """Returns the ids of a line in file format."""


class Data:
    """One name of `data`, as `fovea check --json` describes it."""

    def __init__(self, entry: dict[str, Any]) -> None:
        self.name: str = entry["name"]
        self.kind: str = entry["kind"]
        self.extents: list[str] = entry["extents"]
        self.sizes: list[int] = entry["sizes"]
        self.parents: list[str] = entry["parents"]
        self.is_sentence: bool = entry["sentence"]
        self.is_chosen: bool = entry["chosen"]
        self.labels: list[str] = entry["labels"]
        #: The lengths among the axes: they differ between examples.
        self.free = [axis for axis, size in enumerate(self.sizes) if size < 0]

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def __str__(self) -> str:
        axes = f"[{', '.join(self.extents)}]" if self.extents else ""
        return f"{self.name}{axes} : {'sentence' if self.is_sentence else self.kind}"

    # Text.

    def _symbols(self, example: Any, symbols: Symbols, axis: int = 0) -> Any:
        """Words as ids; text of the last axis as a file has it, with its </s>."""
        if isinstance(example, str):
            if axis == self.rank:
                return self._id(example, symbols)
            if axis < self.rank - 1:  # text of several rows comes as a list of them
                return example
            return [self._id(word, symbols) for word in example.split()] \
                if self.labels else symbols.ids_of(self.name, example)
        if isinstance(example, (list, tuple)):
            return [self._symbols(item, symbols, axis + 1) for item in example]
        return example

    def _id(self, word: str, symbols: Symbols) -> int:
        number = self.labels.index(word) if word in self.labels else \
            symbols.id_of(self.name, word)
        if number < 0:
            raise SpecError(f"'{self.name}' has no symbol '{word}'")
        return number

    # Arrays.

    def pad(self, examples: Sequence[Any], real: Any,
            symbols: Symbols) -> tuple[np.ndarray, list[np.ndarray]]:
        """The array of all examples, and the lengths of each free axis."""
        dtype = {"real": real, "bit": np.uint8}.get(self.kind, np.int64)
        values = [self._values(number, example, dtype, symbols)
                  for number, example in enumerate(examples)]
        lengths = [self._lengths(values, axis) for axis in self.free]
        shape = [len(values)]
        room = dict(zip(self.free, (max(1, int(own.max())) for own in lengths)))
        shape += [room.get(axis, size) for axis, size in enumerate(self.sizes)]
        result = np.zeros(shape, dtype)
        for number, value in enumerate(values):
            _fill(result[number:number + 1], [value])
        return result, lengths

    def _values(self, number: int, example: Any, dtype: Any, symbols: Symbols) -> Any:
        """An array, or lists of arrays where a length is nested."""
        if _is_masked(example):
            raise SpecError(f"example {number + 1} of '{self.name}' has masked values; "
                            "help: leave them out, an example is as long as its values")
        given = example
        if self.kind in ("token", "class"):
            example = self._symbols(example, symbols)
        nested = max((axis for axis in self.free if self.parents[axis]), default=0)
        try:
            value = _array(example, dtype, nested, self.rank)
        except (TypeError, ValueError, OverflowError, RuntimeError):
            value = None
        wrong = value is None or not self._fits(value, 0)
        if wrong:
            shape = "a number" if not self.rank else \
                f"[{', '.join(self.extents)}]"
            is_line = isinstance(given, str) and self.rank > 1
            raise SpecError(f"example {number + 1} of '{self.name}' is not {shape} of "
                            f"{self.kind}: {short(given)}"
                            + ("; help: give a list with the text of each "
                               f"{self.extents[0]}" if is_line else ""))
        return value

    def _fits(self, value: Any, axis: int) -> bool:
        if isinstance(value, list):
            return all(self._fits(row, axis + 1) for row in value)
        sizes = self.sizes[axis:]
        return value.ndim == len(sizes) and all(
            size in (-1, have) for size, have in zip(sizes, value.shape))

    def _lengths(self, values: list[Any], axis: int) -> np.ndarray:
        """Of an axis that is nested, those of each row of the axis before it."""
        if not self.parents[axis]:
            return np.array([_length(value, axis) for value in values], np.int64)
        outer = [len(value) for value in values]
        result = np.zeros((len(values), max([1, *outer])), np.int64)
        for row, value in zip(result, values):
            row[:len(value)] = [_length(part, axis - 1) for part in value]
        return result


def _array(example: Any, dtype: Any, nested: int, rank: int) -> Any:
    if nested:
        return [_array(row, dtype, nested - 1, rank - 1) for row in example]
    if hasattr(example, "detach"):  # of PyTorch, with or without gradients
        example = example.detach().cpu()
        # numpy has no bfloat16; all its values are in float32.
        example = (example.float() if "bfloat16" in str(example.dtype) else
                   example).numpy()
    array = np.asarray(example)
    # Of a sequence without elements nobody knows the type.
    if array.size == 0:
        return np.zeros(array.shape, dtype)
    is_real = np.dtype(dtype).kind == "f"
    if array.dtype.kind not in ("biuf" if is_real else "biu"):
        raise TypeError
    with np.errstate(over="ignore"):
        result = array.astype(dtype)
    is_kept = np.isfinite(result) == np.isfinite(array) if is_real else result == array
    if not is_kept.all():
        raise OverflowError
    return result


def _is_masked(example: Any) -> bool:
    """Returns whether a numpy array, or one in a list, has masked values."""
    if isinstance(example, (list, tuple)):
        return any(map(_is_masked, example))
    return is_masked(example)


def _length(value: Any, axis: int) -> int:
    return len(value) if axis == 0 else value.shape[axis]


def _fill(rows: np.ndarray, values: list[Any]) -> None:
    """Copies each value to the start of its row."""
    for number, value in enumerate(values):
        if isinstance(value, list):
            _fill(rows[number], value)
        else:
            place: Any = (number, *(slice(size) for size in value.shape))
            rows[place] = value


def extent_of(text: str, lengths: Mapping[str, Any]) -> Any:
    """What an extent is, as `S` and `S // 2 + 1`, for numbers or arrays of them;
    None where it names something else than lengths."""
    if not re.fullmatch(r"[\w\s+\-*/()]+", text):
        return None
    names = {node.id for node in ast.walk(ast.parse(text, mode="eval"))
             if isinstance(node, ast.Name)}
    if any(lengths.get(name) is None for name in names):
        return None
    return eval(text, {"__builtins__": {}}, dict(lengths))


def check_batch(data: Sequence[Data], batch: Batch) -> int:
    """The number of examples, where each name has as many."""
    if not isinstance(batch, Mapping):
        raise SpecError("batch must be a dict with a list of examples for each name, "
                        f"got {short(batch)}")
    known = {own.name for own in data}
    counts: dict[str, int] = {}
    for name, examples in batch.items():
        if name not in known:
            raise SpecError(f"the model has no data '{name}'; there are " +
                            ", ".join(sorted(known)))
        is_list = hasattr(examples, "__len__") and hasattr(examples, "__getitem__")
        if not is_list or isinstance(examples, (str, bytes, Mapping)) or \
                getattr(examples, "ndim", 1) == 0:
            raise SpecError(f"'{name}' must be a list of examples, got "
                            f"{short(examples)}")
        counts[name] = len(examples)
    count = next(iter(counts.values()), 1)
    for name, own_count in counts.items():
        if own_count != count:
            raise SpecError(f"'{next(iter(counts))}' has {count} examples but '{name}' "
                            f"has {own_count}")
    if count == 0:
        raise SpecError("the batch has no examples")
    return count


class Padded:
    """A batch as the struct `model_batch` of the header, and as tensors."""

    def __init__(self, data: Sequence[Data], batch: Batch, real: Any,
                 symbols: Symbols) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.lengths: dict[str, np.ndarray] = {}  # by extents: T of tgt[T]
        self.examples = check_batch(data, batch)
        words: list[int] = [self.examples, 0]
        for own in data:
            if own.name not in batch:
                words += [0] * (1 + 2 * len(own.free))
                continue
            array, lengths = own.pad(batch[own.name], real, symbols)
            self.arrays[own.name] = array
            words.append(array.ctypes.data)
            for number, (axis, length) in enumerate(zip(own.free, lengths), 1):
                suffix = ".length" if number == 1 else f".length.{number}"
                self.arrays[own.name + suffix] = length
                self.lengths.setdefault(own.extents[axis], length)
                words += [array.shape[1 + axis], length.ctypes.data]
        self.words = (ctypes.c_int64 * len(words))(*words)
