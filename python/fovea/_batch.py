"""Ragged examples as the padded arrays that a compiled model reads.

Lengths travel beside the arrays, and what lies past one is never looked at:
the padding is zeros, and nobody sees it.
"""

from __future__ import annotations

import ast
import ctypes
import re
from collections.abc import Mapping, Sequence
from typing import Any, Protocol

import numpy as np

from ._errors import SpecError

#: One value for each example: numbers, sequences of them, or text.
Batch = Mapping[str, Sequence[Any]]


class Symbols(Protocol):
    """What the data of a name call their symbols."""

    def id_of(self, data: str, symbol: str) -> int:
        """Below 0 where it has none."""

    def ids_of(self, data: str, line: str) -> list[int]:
        """Those of a line, as a file has it."""


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
        #: The lengths among the axes: those that differ between examples.
        self.free = [axis for axis, size in enumerate(self.sizes) if size < 0]

    @property
    def rank(self) -> int:
        return len(self.sizes)

    def __str__(self) -> str:
        axes = f"[{', '.join(self.extents)}]" if self.extents else ""
        return f"{self.name}{axes} : {'sentence' if self.is_sentence else self.kind}"

    # Text.

    def _symbols(self, example: Any, symbols: Symbols) -> Any:
        """Words as ids; a line of text as a file has it, with its </s>."""
        if isinstance(example, str):
            return self._id(example, symbols) if self.kind == "class" else \
                symbols.ids_of(self.name, example)
        if isinstance(example, (list, tuple)):
            return [self._id(item, symbols) if isinstance(item, str)
                    else self._symbols(item, symbols) for item in example]
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
        dtype = real if self.kind == "real" else np.int64
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
        if self.kind in ("token", "class"):
            example = self._symbols(example, symbols)
        nested = max((axis for axis in self.free if self.parents[axis]), default=0)
        try:
            value = _array(example, dtype, nested, self.rank)
        except (TypeError, ValueError, OverflowError):
            value = None
        wrong = value is None or not self._fits(value, 0)
        if wrong:
            shape = "a number" if not self.rank else \
                f"[{', '.join(self.extents)}]"
            raise SpecError(f"example {number + 1} of '{self.name}' is not {shape} of "
                            f"{self.kind}: {_short(example)}")
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
    array = np.asarray(example)
    # Of a sequence without elements nobody knows the type.
    if array.size == 0:
        return np.zeros(array.shape, dtype)
    if array.dtype.kind not in ("biu" if dtype is np.int64 else "biuf"):
        raise TypeError
    return array.astype(dtype)


def _length(value: Any, axis: int) -> int:
    return len(value) if axis == 0 else value.shape[axis]


def _fill(rows: np.ndarray, values: list[Any]) -> None:
    """Puts each value at the begin of its row."""
    for number, value in enumerate(values):
        if isinstance(value, list):
            _fill(rows[number], value)
        else:
            place: Any = (number, *(slice(size) for size in value.shape))
            rows[place] = value


def _short(example: Any) -> str:
    text = repr(example)
    return text if len(text) <= 60 else text[:57] + "..."


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


class Padded:
    """A batch as the struct `model_batch` of the header, and as tensors."""

    def __init__(self, data: Sequence[Data], batch: Batch, real: Any,
                 symbols: Symbols) -> None:
        self.arrays: dict[str, np.ndarray] = {}
        self.lengths: dict[str, np.ndarray] = {}  # by extents: T of tgt[T]
        known = {own.name for own in data}
        for name in batch:
            if name not in known:
                raise SpecError(f"the model has no data '{name}'; there are " +
                                ", ".join(sorted(known)))
        counts = {name: len(examples) for name, examples in batch.items()}
        self.examples = next(iter(counts.values()), 1)
        for name, count in counts.items():
            if count != self.examples:
                first = next(iter(counts))
                raise SpecError(f"'{first}' has {self.examples} examples but "
                                f"'{name}' has {count}")
        if self.examples == 0:
            raise SpecError("the batch has no examples")
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
