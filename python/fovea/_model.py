"""A model: its parameters, and what can be computed with them."""

from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from . import _tensors
from ._batch import Batch, Data, Padded, extent_of
from ._errors import MachineError, SpecError
from ._library import Library, Search
from ._program import run

#: How many examples are decoded, or scored, between two looks at Ctrl-C.
_CHUNK = 16


class Equation(NamedTuple):
    """An equation of the spec: `align`, over ("T", "S")."""

    name: str
    extents: tuple[str, ...]


class Picture:
    """An SVG file, which a notebook shows."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes it as a file."""
        pathlib.Path(path).write_text(self.svg, encoding="utf-8")


class Hypothesis(NamedTuple):
    """What was generated for an example."""

    #: Each generated name: text where its vocabulary is known, or ids, or values.
    outputs: dict[str, Any]
    #: The natural logarithm of its probability, of all choices together.
    logp: float
    #: What it is ranked by.
    score: float
    #: False where it was cut at the largest number of steps.
    ended: bool


def check(spec: str | os.PathLike[str],
          sets: Mapping[str, object] | None = None) -> dict[str, Any]:
    """What is in a spec: parameters, data, equations, as `fovea check --json`.

    Raises SpecError with all mistakes, as the compiler prints them.
    """
    source, text = _source(spec)
    about: dict[str, Any] = json.loads(
        run("check", source, "--json", *_sets(sets), text=text))
    return about


def compile(spec: str | os.PathLike[str], *,
            sets: Mapping[str, object] | None = None, seed: int = 0,
            dtype: str = "f32", threads: int = 0,
            weights: str | os.PathLike[str] | None = None) -> Model:
    """Compiles a spec, with weights that are drawn by `seed` or read.

    spec: a .fov file, or the text of one (it begins with `model NAME`).
    sets: overrides, as `--set`: {"H": 64, "src.vocab": 97}.
    dtype: "f32" or "f64", what it computes in.
    threads: 0 is one per CPU; results do not depend on it.
    weights: a safetensors file with the parameters.
    """
    source, text = _source(spec)
    folder = tempfile.TemporaryDirectory(prefix="fovea-")
    first = pathlib.Path(folder.name, "first.safetensors")
    run("init", source, *_sets(sets), "--seed", seed, "--dtype", dtype, "-o", first,
        text=text, warns=True)
    return Model(folder, first, weights, dtype, threads)


def load(folder: str | os.PathLike[str], *, sets: Mapping[str, object] | None = None,
         dtype: str = "f32", threads: int = 0) -> Model:
    """The model of a training, `fovea train --out FOLDER`, or of its
    model.safetensors: spec, vocabularies and weights lie in it."""
    path = pathlib.Path(folder)
    file = path / "model.safetensors" if path.is_dir() else path
    return Model(tempfile.TemporaryDirectory(prefix="fovea-"), file.absolute(), None,
                 dtype, threads, sets)


def _source(spec: str | os.PathLike[str]) -> tuple[str, str | None]:
    """What stands on the command line, and what standard input has."""
    if isinstance(spec, str) and "\n" in spec:
        return "-", spec
    return os.fspath(spec), None


def _sets(sets: Mapping[str, object] | None) -> Iterator[str]:
    for name, value in (sets or {}).items():
        yield from ("--set", f"{name}={value}")


class Model:
    """Made by compile() and load()."""

    def __init__(self, folder: tempfile.TemporaryDirectory[str], spec: pathlib.Path,
                 weights: str | os.PathLike[str] | None, dtype: str, threads: int,
                 sets: Mapping[str, object] | None = None) -> None:
        if dtype not in ("f32", "f64"):
            raise ValueError(f"dtype is 'f32' or 'f64', not '{dtype}'")
        self._folder = folder
        self._spec = spec
        self._sets = list(_sets(sets))
        self._dtype = dtype
        self._threads = threads
        about = json.loads(run("check", spec, "--json", *self._sets))
        self.name: str = about["model"]
        #: The dims of the spec, with every override.
        self.dims: dict[str, int] = about["dims"]
        self.equations = [Equation(entry["name"], tuple(entry["extents"]))
                          for entry in about["equations"]]
        self._about = about["parameters"]
        self._data = [Data(entry) for entry in about["data"]]
        self._generates: bool = about["generates"]
        self._library: Library | None = None
        # What get() was asked for once, the types of that, and the libraries that
        # have it since.
        self._asked: set[frozenset[str]] = set()
        self._types: dict[str, Any] = {}
        self._getters: dict[frozenset[str], Library | None] = {}
        #: The parameters by name, as numpy arrays without a copy: what is written
        #: into one is what the model computes with.
        self.parameters: dict[str, np.ndarray]
        if about["objective"] or self._generates:
            self._library = self._compile(weights, threads)
            self.parameters = self._library.arrays("parameter", self._about,
                                                   self._library)
        elif spec.suffix == ".onnx" and weights is None:
            # They stay in the file.
            self.parameters = {}
        else:
            # There are equations alone, which get() evaluates.
            self.parameters = _tensors.read(spec if weights is None else weights)

    def _compile(self, weights: str | os.PathLike[str] | None, threads: int,
                 *more: str) -> Library:
        # The loader knows libraries by their paths, and takes none twice.
        path = pathlib.Path(tempfile.mkdtemp(dir=self._folder.name), "libmodel.so")
        given = ["--weights", os.fspath(weights)] if weights is not None else []
        given += more
        run("compile", self._spec, "--emit", "so", "--dtype", self._dtype, "-o", path,
            *self._sets, *given)
        try:
            return Library(os.fspath(path), _real(self._dtype), threads)
        finally:
            path.unlink()

    # What it is.

    @property
    def data(self) -> list[str]:
        """The names of its data, with axes and kinds: `src[S] : sentence`."""
        return [str(data) for data in self._data]

    def __repr__(self) -> str:
        count = sum(array.size for array in self.parameters.values())
        return (f"<fovea.Model {self.name}: {', '.join(self.data)}; "
                f"{count:,} weights in {self._dtype}>")

    @property
    def text(self) -> str:
        """The spec, as it is written."""
        return run("compile", self._spec, "--emit", "spec")

    def _repr_html_(self) -> str:
        """In a notebook a model is its equations, and what it has learnt so
        many numbers of."""
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{list(array.shape)}</td></tr>"
            for name, array in self.parameters.items())
        return (f"<pre>{html.escape(self.text)}</pre>"
                f"<details><summary>{html.escape(repr(self)[1:-1])}</summary>"
                f"<table>{rows}</table></details>")

    # Objective.

    def loss(self, batch: Batch, seed: int | None = None) -> float:
        """The objective as the spec averages it, to minimise, in nats.

        seed: of dropout and noise; without one there is none.
        """
        return self._evaluate("loss", batch, seed)[0]

    def score(self, batch: Batch) -> list[float]:
        """log p of each example, in nats."""
        examples = _count(batch)
        result: list[float] = []
        for first in range(0, examples, _CHUNK):
            part = {name: own[first:first + _CHUNK] for name, own in batch.items()}
            result += self._evaluate("loss", part, None)[1].tolist()
        return result

    def gradients(self, batch: Batch,
                  seed: int | None = None) -> tuple[float, dict[str, np.ndarray]]:
        """The loss, and its gradient by each parameter: views, which the next
        call of gradients() or train_step() overwrites."""
        loss = self._evaluate("grad", batch, seed)[0]
        library = self._need("grad", "has no objective")
        return loss, library.arrays("gradient", self._about, library)

    def train_step(self, batch: Batch, seed: int = 0) -> float:
        """One update by the optimiser of the spec; returns the loss before it."""
        library = self._need("train_step", "has nothing to train")
        return library.train_step(self._pad(batch), seed)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the weights, for `compile(.., weights = path)`."""
        if self._library:
            self._library.save(os.fspath(path))
        else:
            _tensors.write(path, self.parameters)

    # Generation.

    def add(self, weights: str | os.PathLike[str]) -> None:
        """Makes a file of weights another member of an ensemble: what is
        generated is chosen from the mean of the members' probabilities. Losses,
        gradients and parameters are those of the first."""
        self._need("add", "generates nothing").call("add", os.fspath(weights).encode())

    def decode(self, batch: Batch, *, beam: int = 0, nbest: int = 1,
               max_length: int = 0, min_length: int = 0, sample: bool = False,
               seed: int = 0, temperature: float = 1.0, top_k: int = 0,
               top_p: float = 1.0,
               prefix: Sequence[str | None] | None = None) -> list[Any]:
        """What is generated for each example, as `fovea decode` does it.

        Of a model that generates one name its values, of several a dict. With
        `nbest` a list of those, best first (or draws). beam 0: the spec's.
        prefix: a line for each example, which what is generated begins with.
        """
        hypotheses = self.search(
            batch, beam=beam, nbest=nbest, max_length=max_length,
            min_length=min_length, sample=sample, seed=seed,
            temperature=temperature, top_k=top_k, top_p=top_p, prefix=prefix)

        def plain(hypothesis: Hypothesis) -> Any:
            outputs = hypothesis.outputs
            return next(iter(outputs.values())) if len(outputs) == 1 else outputs

        if nbest == 1:
            return [plain(own[0]) for own in hypotheses]
        return [[plain(one) for one in own] for own in hypotheses]

    def search(self, batch: Batch, *, beam: int = 0, nbest: int = 1,
               max_length: int = 0, min_length: int = 0, sample: bool = False,
               seed: int = 0, temperature: float = 1.0, top_k: int = 0,
               top_p: float = 1.0,
               prefix: Sequence[str | None] | None = None) -> list[list[Hypothesis]]:
        """As decode(), with log p and scores: the hypotheses of each example."""
        library = self._need("decode", "generates nothing")
        search = Search(beam, nbest, max_length, min_length, int(sample), seed,
                        top_k, temperature, top_p)
        chosen = [data for data in self._data if data.is_chosen]
        names = {data.name: data.kind == "real" for data in chosen}
        result = []
        examples = _count(batch) if batch else 1
        begins = [None if line is None else line.encode() for line in prefix or ()]
        if prefix is not None and len(begins) != examples:
            raise SpecError(f"there are {len(begins)} prefixes for {examples} examples")
        for first in range(0, examples, _CHUNK):
            part = {name: own[first:first + _CHUNK] for name, own in batch.items()}
            own_begins = begins[first:first + _CHUNK]
            search.prefixes = (ctypes.c_char_p * len(own_begins))(*own_begins) \
                if own_begins else None
            for hypotheses in library.decode(self._pad(part), search, names):
                result.append([
                    Hypothesis({data.name: self._output(data, text, values)
                                for data, text, values in zip(chosen, texts, arrays)},
                               logp, score, ended)
                    for logp, score, ended, texts, *arrays in hypotheses])
        return result

    def _output(self, data: Data, text: str, values: list[Any]) -> Any:
        if not data.free and data.rank == 0:
            return self._symbol(data, values[0])
        if data.kind not in ("token", "class") or len(data.sizes) != 1:
            return values
        if not self._library or self._library.symbol_of(data.name, 0) is None:
            return values
        return text

    def _symbol(self, data: Data, value: Any) -> Any:
        if data.kind not in ("token", "class"):
            return value
        if data.labels:
            return data.labels[value]
        text = self._library and self._library.symbol_of(data.name, value)
        return value if text is None else text

    # Equations.

    def get(self, names: str | Sequence[str], batch: Batch) -> Any:
        """The values of equations: of one name a list with an array for each
        example, as long as it is; of several names a dict of such lists."""
        wanted = [names] if isinstance(names, str) else list(names)
        padded = self._pad(batch)
        library = self._getter(wanted, padded)
        result = self._run(wanted, padded) if library is None else \
            self._look(library, wanted, padded)
        return result[names] if isinstance(names, str) and names in result else result

    def _getter(self, wanted: list[str], padded: Padded) -> Library | None:
        """The library that has these equations. What is asked for once is not worth
        one, and where nothing links there is none."""
        known = {equation.name for equation in self.equations}
        key = frozenset(wanted)
        # A process may do with the data that these equations need.
        is_whole = all(data.name in padded.arrays for data in self._data)
        if not key <= known or not self.parameters or not is_whole:
            return None
        if key not in self._asked:
            self._asked.add(key)
            return None
        if key not in self._getters:
            gets = [item for name in sorted(key) for item in ("--get", name)]
            try:
                with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
                    path = pathlib.Path(folder, "weights.safetensors")
                    self.save(path)
                    self._getters[key] = self._compile(
                        path, self._threads, "--entry", "get", *gets)
            except MachineError:
                self._getters[key] = None
        return self._getters[key]

    def _look(self, library: Library, wanted: list[str],
              padded: Padded) -> dict[str, Any]:
        """The equations of a batch, by the weights as they are now."""
        for name, array in library.arrays("parameter", self._about, library).items():
            array[...] = self.parameters[name]
        library.call("get", padded.words)
        return {name: [library.value(example, name).astype(self._types[name])
                       for example in range(padded.examples)] for name in wanted}

    def _run(self, wanted: list[str], padded: Padded) -> dict[str, Any]:
        """The same by a process, and what is no equation: the gradients."""
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder)
            _tensors.write(path / "batch.safetensors", padded.arrays)
            given: list[object] = []
            if self.parameters:
                self.save(path / "weights.safetensors")
                given = ["--weights", path / "weights.safetensors"]
            gets = [item for name in wanted for item in ("--get", name)]
            run("run", self._spec, *self._sets, *given, "--data",
                path / "batch.safetensors", "--dtype", self._dtype, *gets, "-o",
                path / "out.safetensors")
            found = _tensors.read(path / "out.safetensors")
        result = {}
        extents = {equation.name: equation.extents for equation in self.equations}
        for name, array in found.items():
            self._types[name] = array.dtype
            result[name] = [
                row[tuple(slice(_extent(text, padded, example, room))
                          for text, room in zip(extents.get(name, ()), row.shape))]
                for example, row in enumerate(array)] if array.ndim else array
        return result

    def picture(self, name: str, batch: Batch, example: int = 0) -> Picture:
        """An equation of one example, drawn as `fovea plot` draws it: an
        alignment as a matrix. A notebook shows it."""
        array = self.get(name, batch)[example]
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder)
            _tensors.write(path / "array.safetensors", {name: array[np.newaxis]})
            run("plot", path / "array.safetensors", "--name", name, "-o",
                path / "array.svg")
            return Picture((path / "array.svg").read_text(encoding="utf-8"))

    # Within.

    def _pad(self, batch: Batch) -> Padded:
        return Padded(self._data, batch, _real(self._dtype),
                      self._library or _NoSymbols())

    def _need(self, entry: str, otherwise: str) -> Library:
        if not self._library or not self._library.has(entry):
            raise SpecError(f"'{self.name}' {otherwise}")
        return self._library

    def _evaluate(self, entry: str, batch: Batch,
                  seed: int | None) -> tuple[float, np.ndarray]:
        library = self._need(entry, "has no objective")
        padded = self._pad(batch)
        library.call("random", ctypes.c_int64(-1 if seed is None else seed),
                     ctypes.c_int64(0))
        return library.loss(entry, padded)


class _NoSymbols:
    """Of a model without a library, which has nothing that is generated."""

    def id_of(self, data: str, symbol: str) -> int:
        return -1

    def ids_of(self, data: str, line: str) -> list[int]:
        raise SpecError(f"'{data}' has no symbols")


def _real(dtype: str) -> Any:
    return np.float32 if dtype == "f32" else np.float64


def _count(batch: Batch) -> int:
    return max((len(own) for own in batch.values()), default=0)


def _extent(text: str, padded: Padded, example: int, room: int) -> int | None:
    """How many of an axis an example has. All of it where nobody knows."""
    found = extent_of(text, {name: int(lengths[example])
                             for name, lengths in padded.lengths.items()
                             if lengths.ndim == 1})
    return None if found is None else min(room, int(found))
