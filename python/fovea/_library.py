"""A compiled model: the functions of its header, called from Python.

`fovea compile --emit so` writes the library and the header; what functions
promise stands there. Python's lock is released while one computes.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np

from . import _arguments
from ._batch import Padded
from ._errors import Error, MachineError, SpecError

#: The prefix of all names: the library is written as libmodel.so.
_PREFIX = "model_"
_ADDRESS = ctypes.c_void_p


class Search(ctypes.Structure):
    _fields_ = [
        *((name, ctypes.c_int64) for name in (
            "beam", "nbest", "max_length", "min_length", "sample", "seed", "top_k")),
        ("temperature", ctypes.c_double), ("top_p", ctypes.c_double),
        ("prefixes", ctypes.POINTER(ctypes.c_char_p))]


class Library:
    def __init__(self, path: str, dtype: Any, threads: int,
                 weights: str | None = None) -> None:
        """weights: a safetensors file, if the library contains none."""
        self._library = ctypes.CDLL(path)
        #: How many updates its weights had when it was made.
        self.updates = 0
        self.dtype = np.dtype(dtype)
        self._model: ctypes.c_void_p | None = _ADDRESS()
        self._function("message", ctypes.c_char_p)
        self._check(self._function("create", ctypes.c_int)(
            _bytes("the path", weights) if weights else None,
            ctypes.c_int(threads),
            ctypes.byref(self._model)))

    def __del__(self) -> None:
        if getattr(self, "_model", None):
            self._function("destroy", None)(self._model)
            self._model = None

    def _function(self, name: str, result: Any) -> Any:
        function = getattr(self._library, _PREFIX + name)
        function.restype = result
        return function

    def has(self, entry: str) -> bool:
        return hasattr(self._library, _PREFIX + entry)

    def _check(self, code: int) -> None:
        if code == 0:
            return
        text = self._function("message", ctypes.c_char_p)().decode()
        raise {1: SpecError, 3: MachineError}.get(code, Error)(text)

    def call(self, name: str, *arguments: Any) -> None:
        self._check(self._function(name, ctypes.c_int)(self._model, *arguments))

    # Arrays of the model.

    def arrays(self, what: str, parameters: list[dict[str, Any]],
               owner: object) -> dict[str, np.ndarray]:
        """Returns views of `parameter` or `gradient`, which keep `owner` alive."""
        function = self._function(what, _ADDRESS)
        number = ctypes.c_float if self.dtype == np.float32 else ctypes.c_double
        result = {}
        for which, parameter in enumerate(parameters):
            address = function(self._model, which)
            if not address:
                continue
            size = int(np.prod(parameter["shape"], dtype=np.int64))
            memory: Any = (number * size).from_address(address)
            memory.owner = owner  # as long as an array is there, so is the model
            result[parameter["name"]] = np.frombuffer(memory, self.dtype).reshape(
                parameter["shape"])
        return result

    def save(self, path: str) -> None:
        self.call("save", _bytes("the path", path))

    def add(self, path: str) -> None:
        self.call("add", _bytes("the path", path))

    def describe(self, key: str, text: str) -> None:
        """Adds an entry to the metadata of the files that save() writes."""
        self.call("metadata", _bytes("the key", key), _bytes("the metadata", text))

    # Symbols.

    def id_of(self, data: str, symbol: str) -> int:
        return int(self._function("id", ctypes.c_int64)(
            self._model, data.encode(), _bytes("a symbol", symbol)))

    def ids_of(self, data: str, line: str) -> list[int]:
        """Returns the ids of a line in file format."""
        function = self._function("ids", ctypes.c_int64)
        arguments = self._model, data.encode(), _bytes("a line", line)
        count = function(*arguments, ctypes.c_int64(0), None)
        if count < 0:
            self._check(1)
        ids = (ctypes.c_int64 * count)()
        function(*arguments, ctypes.c_int64(count), ids)
        return list(ids)

    def symbol_of(self, data: str, number: int) -> str | None:
        text = self._function("symbol", ctypes.c_char_p)(
            self._model, data.encode(), ctypes.c_int64(number))
        return None if text is None else text.decode()

    # Computation.

    def loss(self, entry: str, batch: Padded) -> tuple[float, np.ndarray]:
        loss = ctypes.c_double()
        logp = np.zeros(batch.examples)
        self.call(entry, batch.words, ctypes.byref(loss),
                  _ADDRESS(logp.ctypes.data))
        return loss.value, logp

    def value(self, example: int, name: str) -> np.ndarray:
        """One example of an equation that `get` has computed, or of the gradient
        by data that `grad` has."""
        values, shape = _ADDRESS(), _ADDRESS()
        rank = self._function("value", ctypes.c_int64)(
            self._model, ctypes.c_int64(example), name.encode(),
            ctypes.byref(values), ctypes.byref(shape))
        if rank < 0:
            self._check(2)
        sizes = (ctypes.c_int64 * rank).from_address(shape.value)[:] if rank else []
        count = int(np.prod(sizes, dtype=np.int64))
        if not count:
            return np.zeros(sizes)
        numbers: Any = (ctypes.c_double * count).from_address(values.value or 0)
        result: np.ndarray = np.frombuffer(numbers).reshape(sizes).copy()
        return result

    def train_step(self, batch: Padded, seed: int) -> float:
        loss = ctypes.c_double()
        self.call("train_step", batch.words, ctypes.c_int64(seed),
                  ctypes.byref(loss))
        return loss.value

    def decode(self, batch: Padded, search: Search,
               names: dict[str, bool]) -> list[list[tuple[Any, ...]]]:
        """(log p, score, ended, texts, arrays..) of each hypothesis of each
        example; `names` are the generated names, and whether they are real."""
        result = _ADDRESS()
        self.call("decode", batch.words, ctypes.byref(search), ctypes.byref(result))
        size = self._function("result_size", ctypes.c_int64)
        get = self._function("result_get", ctypes.c_int)
        text_of = self._function("result_text", ctypes.c_char_p)
        words: Any = (ctypes.c_int64 * (4 + 2 * len(names)))()
        real = np.frombuffer(words, np.float64)
        try:
            examples = []
            for example in range(batch.examples):
                hypotheses = []
                for rank in range(size(result, ctypes.c_int64(example))):
                    which = result, ctypes.c_int64(example), ctypes.c_int64(rank)
                    self._check(get(*which, words))
                    texts = [text_of(*which, name.encode()).decode() for name in names]
                    arrays = []
                    for number, is_real in enumerate(names.values()):
                        address, count = words[4 + 2 * number], words[5 + 2 * number]
                        kind = ctypes.c_double if is_real else ctypes.c_int64
                        arrays.append((kind * count).from_address(address)[:]
                                      if address else [])
                    hypotheses.append((float(real[0]), float(real[1]),
                                       bool(words[3]), texts, *arrays))
                examples.append(hypotheses)
            return examples
        finally:
            self._function("result_destroy", None)(result)


def _bytes(name: str, value: str) -> bytes:
    """A text for C, which ends at the first NUL."""
    return _arguments.text(name, value).encode()
