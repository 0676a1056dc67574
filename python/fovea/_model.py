"""A model: its parameters, and the computations with them."""

from __future__ import annotations

import ctypes
import html
import json
import os
import pathlib
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from . import _arguments, _fit, _tensors
from ._batch import Batch, Data, Padded, check_batch, extent_of
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
    """An SVG picture; notebooks display it."""

    def __init__(self, svg: str) -> None:
        self.svg = svg

    def _repr_svg_(self) -> str:
        return self.svg

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the picture to a file."""
        pathlib.Path(_arguments.path("path", path)).write_text(self.svg, encoding="utf-8")


class Parameters(Mapping[str, np.ndarray]):
    """The parameters by name: arrays in the model's own memory.

    Writing into an array changes the model, and so does an assignment, which
    copies: `parameters["v"] = values`.
    """

    def __init__(self, arrays: dict[str, np.ndarray]) -> None:
        self._arrays = arrays

    def __getitem__(self, name: str) -> np.ndarray:
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def __repr__(self) -> str:
        return repr(self._arrays)

    def __setitem__(self, name: str, values: Any) -> None:
        if name not in self._arrays:
            raise SpecError(f"the model has no parameter '{name}'; there are " +
                            (", ".join(self._arrays) or "none"))
        array = self._arrays[name]
        if values is array:  # parameters["v"] *= 2
            return
        if _arguments.is_masked(values):
            raise SpecError(f"the values of '{name}' are masked")
        try:
            given = np.asarray(values)
        except (TypeError, ValueError, RuntimeError):
            given = np.asarray(None)
        if given.dtype.kind not in "biuf" or given.shape != array.shape:
            raise SpecError(f"'{name}' is an array of {list(array.shape)}, not "
                            f"{_arguments.short(values)}")
        array[...] = given


class Hypothesis(NamedTuple):
    """An output generated for an example."""

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
    """Returns the contents of a spec: parameters, data, equations, as `fovea check --json`.

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
    """Compiles a spec, with random weights from `seed` or weights from a file.

    spec: a .fov file, or the text of one (it begins with `model NAME`).
    sets: overrides, as `--set`: {"H": 64, "src.vocab": 97}.
    dtype: precision of computation, "f32" or "f64".
    threads: 0 means one per CPU; does not change results.
    weights: a safetensors file with the parameters.
    """
    source, text = _source(spec)
    dtype = _arguments.choice("dtype", dtype, ("f32", "f64"))
    seed = _arguments.whole("seed", seed)
    threads = _arguments.whole("threads", threads, high=_arguments.MANY)
    given = None if weights is None else _weights_in("weights", weights)
    folder = tempfile.TemporaryDirectory(prefix="fovea-")
    first = pathlib.Path(folder.name, "first.safetensors")
    run("init", source, *_sets(sets), "--seed", seed, "--dtype", dtype, "-o", first,
        text=text, warns=True)
    return Model(folder, first, given, dtype, threads)


def load(folder: str | os.PathLike[str], *, sets: Mapping[str, object] | None = None,
         dtype: str = "f32", threads: int = 0) -> Model:
    """Loads a training folder (`fovea train --out FOLDER`), its model.safetensors,
    or a file from Model.save(), with spec, vocabularies and weights. A file from
    save() also restores the optimiser state."""
    dtype = _arguments.choice("dtype", dtype, ("f32", "f64"))
    threads = _arguments.whole("threads", threads, high=_arguments.MANY)
    file = pathlib.Path(_weights_in("folder", folder)).absolute()
    return Model(tempfile.TemporaryDirectory(prefix="fovea-"), file, None, dtype,
                 threads, sets)


def _from_bytes(content: bytes, dtype: str, threads: int) -> Model:
    """Returns the model that save() has written."""
    folder = tempfile.TemporaryDirectory(prefix="fovea-")
    file = pathlib.Path(folder.name, "model.safetensors")
    file.write_bytes(content)
    return Model(folder, file, None, dtype, threads)


def _weights_in(name: str, value: object) -> str:
    """Returns a weights file; for a training folder, the one in it."""
    path = _arguments.path(name, value)
    return os.path.join(path, "model.safetensors") if os.path.isdir(path) else path


def _source(spec: str | os.PathLike[str]) -> tuple[str, str | None]:
    """Returns the spec argument, and the text for standard input."""
    if isinstance(spec, str) and "\n" in spec:
        return "-", spec
    return _arguments.path("spec", spec), None


def _sets(sets: Mapping[str, object] | None) -> Iterator[str]:
    for name, value in _arguments.overrides(sets).items():
        yield from ("--set", f"{name}={value}")


def _stored_spec(path: pathlib.Path, sets: Mapping[str, object] | None) -> dict[str, str]:
    """Returns the spec in a weights file, with more overrides, as metadata."""
    spec = _tensors.metadata(path).get("spec") if path.suffix == ".safetensors" else None
    if spec is None:
        return {}
    about = json.loads(spec)
    about["sets"] += [list(item) for item in _arguments.overrides(sets).items()]
    return {"spec": json.dumps(about)}


class Model:
    """Made by compile() and load()."""

    def __init__(self, folder: tempfile.TemporaryDirectory[str], spec: pathlib.Path,
                 weights: str | None, dtype: str, threads: int,
                 sets: Mapping[str, object] | None = None) -> None:
        self._folder = folder
        self._spec = spec
        self._sets = list(_sets(sets))
        self._dtype = dtype
        self._threads = threads
        about = json.loads(run("check", spec, "--json", *self._sets))
        self.name: str = about["model"]
        #: The dims of the spec, with every override.
        self.dims: Mapping[str, int] = MappingProxyType(about["dims"])
        self.equations = tuple(Equation(entry["name"], tuple(entry["extents"]))
                               for entry in about["equations"])
        self._metadata = _stored_spec(spec, sets)
        self._about = about["parameters"]
        self._data = [Data(entry) for entry in about["data"]]
        self._generates: bool = about["generates"]
        self._cannot_decode = f"cannot be decoded because {about['undecoded']}" \
            if about["undecoded"] else "generates nothing"
        self._library: Library | None = None
        self._has_members = False
        # What get() was asked for once, the types of that, and the libraries that
        # have it since.
        self._asked: set[frozenset[str]] = set()
        self._types: dict[str, Any] = {}
        self._getters: dict[frozenset[str], Library | None] = {}
        self._parameters: Parameters | None = None
        # Whether callers may write into them, and how many updates have.
        self._is_writable = False
        self._updates = 0
        if about["objective"] or self._generates:
            self._library = self._compile(weights, threads)
            for key, value in self._metadata.items():
                self._library.describe(key, value)
            self._has_parameters = bool(self._about)
        elif spec.suffix == ".onnx" and weights is None:
            # They stay in the file.
            self._parameters = Parameters({})
            self._has_parameters = False
        else:
            # There are equations alone, which get() evaluates.
            arrays = _tensors.read(spec if weights is None else weights)
            self._parameters = Parameters(arrays)
            self._has_parameters = bool(arrays)

    @property
    def parameters(self) -> Parameters:
        """The parameters by name, as numpy arrays without a copy: writing into an
        array changes the model.

        Until the first use of `parameters`, the model knows that nothing changes
        them, and packs the weights of its products once. After that, each call
        packs them.
        """
        self._is_writable = True
        if self._parameters is None:
            assert self._library is not None
            self._parameters = Parameters(
                self._library.arrays("parameter", self._about, self._library))
        return self._parameters

    def _compile(self, weights: str | os.PathLike[str] | None, threads: int, *more: str) -> Library:
        # The loader knows libraries by their paths, and takes none twice.
        path = pathlib.Path(tempfile.mkdtemp(dir=self._folder.name), "libmodel.so")
        given = ["--weights", weights] if weights is not None else []
        given += more
        run("compile", self._spec, "--emit", "so", "--dtype", self._dtype, "-o", path,
            *self._sets, *given)
        try:
            # Read once more from the file, which may have an optimiser's state.
            own = os.fspath(self._spec if weights is None else weights)
            return Library(os.fspath(path), _real(self._dtype), threads,
                           None if own.endswith(".onnx") else own)
        finally:
            path.unlink()

    # What it is.

    @property
    def data(self) -> list[str]:
        """The names of its data, with axes and kinds: `src[S] : sentence`."""
        return [str(data) for data in self._data]

    def __repr__(self) -> str:
        count = sum(int(np.prod(shape, dtype=np.int64)) for shape in self._shapes().values())
        return (f"<fovea.Model {self.name}: {', '.join(self.data)}; "
                f"{count:,} weights in {self._dtype}>")

    def _shapes(self) -> dict[str, list[int]]:
        """The shapes of the parameters, by name."""
        if self._parameters is None:
            return {entry["name"]: entry["shape"] for entry in self._about}
        return {name: list(array.shape) for name, array in self._parameters.items()}

    @property
    def text(self) -> str:
        """The text of the spec."""
        return run("compile", self._spec, "--emit", "spec")

    def _repr_html_(self) -> str:
        """Notebooks display the equations of a model, and its number of
        parameters."""
        rows = "".join(
            f"<tr><td>{html.escape(name)}</td><td>{shape}</td></tr>"
            for name, shape in self._shapes().items())
        return (f"<pre>{html.escape(self.text)}</pre>"
                f"<details><summary>{html.escape(repr(self)[1:-1])}</summary>"
                f"<table>{rows}</table></details>")

    # Objective.

    def loss(self, batch: Batch, seed: int | None = None) -> float:
        """Returns the objective to minimise, averaged as in the spec, in nats.

        seed: of dropout and noise; without one there is none.
        """
        return self._evaluate("loss", batch, seed)[0]

    def score(self, batch: Batch) -> list[float]:
        """Returns log p of each example, in nats."""
        examples = check_batch(self._data, batch)
        result: list[float] = []
        for first in range(0, examples, _CHUNK):
            part = {name: own[first:first + _CHUNK] for name, own in batch.items()}
            result += self._evaluate("loss", part, None)[1].tolist()
        return result

    def gradients(self, batch: Batch,
                  seed: int | None = None) -> tuple[float, dict[str, np.ndarray]]:
        """Returns the loss, and its gradient with respect to each parameter: views
        that the next call of gradients() or train_step() overwrites."""
        loss = self._evaluate("grad", batch, seed)[0]
        library = self._need("grad", "has no objective")
        return loss, library.arrays("gradient", self._about, library)

    def train_step(self, batch: Batch, seed: int = 0) -> float:
        """Makes one update with the spec's optimiser; returns the loss before it."""
        seed = _arguments.whole("seed", seed)
        library = self._need("train_step", "has nothing to train")
        self._updates += 1
        return library.train_step(self._pad(batch), seed)

    def fit(self, data: Any, valid: Any = None, *, epochs: int = 1, batch_size: int = 32,
            seed: int = 0, callbacks: _fit.Callback | Sequence[_fit.Callback] = (),
            progress: bool | None = None) -> list[_fit.Report]:
        """Trains on examples with the spec's optimiser; returns a Report per update.

        data, valid: columns (a dict of lists, a DataFrame, a Table of pyarrow), rows
            (a list of dicts, a Dataset), or batches of others (a DataLoader), which
            keep their size and order; or the path of a Parquet or Arrow file, of a
            folder of these, or of a folder that `datasets` has saved. Names that the
            model does not have are left out.
        epochs, batch_size: how often all examples are used, and how many an update
            takes.
        seed: of the order of the examples, and of dropout and noise.
        callbacks: called with each Report; the training stops if one returns False.
            What a callback raises ends the training; the updates so far remain.
        progress: one line on the terminal or in the notebook; by default where
            there is one.
        """
        return _fit.fit(self, data, valid, epochs, batch_size, seed, callbacks, progress)

    @property
    def state(self) -> dict[str, np.ndarray]:
        """Copies of what save() writes beside the parameters: after train_step() or
        fit(), the state of the optimiser."""
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder, "model.safetensors")
            self.save(path)
            return {name: array for name, array in _tensors.read(path).items()
                    if name not in self._shapes()}

    def __reduce__(self) -> Any:
        """pickle and copy: what save() writes, and the options of the model."""
        if self._has_members:
            raise SpecError("an ensemble cannot be copied; help: copy its first model, "
                            "and add() the others again")
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder, "model.safetensors")
            self.save(path)
            return _from_bytes, (path.read_bytes(), self._dtype, self._threads)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the model for load(): spec, vocabularies, weights, and after
        train_step() the optimiser state. compile(.., weights=path) and every
        `--weights` also accept the file."""
        where = _arguments.path("path", path)
        if self._library:
            self._library.save(where)
        elif self._spec.suffix == ".onnx":
            run("init", self._spec, *self._sets, "-o", where)
        else:
            _tensors.write(where, self._parameters or {}, self._metadata)

    def export(self, path: str | os.PathLike[str], emit: str | None = None, *,
               get: str | Sequence[str] = ()) -> None:
        """Writes what others run with the present weights, as `fovea compile` does.

        path, emit: the ending of the path decides: `.onnx`, `.so`, `.o`, or none for a
            program; `emit` says it otherwise, such as "web" for a page.
        get: equations that an ONNX model or a library also computes.
        """
        where = os.path.abspath(_arguments.path("path", path))
        given: list[str] = []
        if emit is not None:
            given += ["--emit", _arguments.choice(
                "emit", emit, ("exe", "so", "obj", "web", "onnx"))]
        for name in _arguments.texts("get", [get] if isinstance(get, str) else get):
            given += ["--get", name]
        if self._spec.suffix == ".onnx":
            raise SpecError(f"'{self._spec.name}' is an ONNX file already")
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            weights = pathlib.Path(folder, "model.safetensors")
            self.save(weights)
            run("compile", weights, "--dtype", self._dtype, *given, "-o", where)

    # Generation.

    def add(self, weights: str | os.PathLike[str]) -> None:
        """Adds a weights file as another member of an ensemble. Decoding uses the
        mean of the members' probabilities; losses, gradients and parameters are
        those of the first member."""
        self._need("add", self._cannot_decode).add(_weights_in("weights", weights))
        self._has_members = True

    def decode(self, batch: Batch, *, beam: int = 0, nbest: int = 1,
               max_length: int = 0, min_length: int = 0, sample: bool = False,
               seed: int = 0, temperature: float = 1.0, top_k: int = 0,
               top_p: float = 1.0,
               prefix: Sequence[str | None] | None = None) -> list[Any]:
        """Decodes each example, as `fovea decode` does.

        Returns the values of a single generated name, or a dict for several. With
        `nbest`, returns a list of those, best first (or samples). beam 0: the spec's
        beam. prefix: for each example, a line that its output starts with.
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
        """As decode(), but returns the hypotheses with log p and scores."""
        whole = _arguments.whole
        search = Search(
            whole("beam", beam), whole("nbest", nbest, 1),
            whole("max_length", max_length), whole("min_length", min_length),
            int(_arguments.flag("sample", sample)), whole("seed", seed),
            whole("top_k", top_k), _arguments.real("temperature", temperature),
            _arguments.real("top_p", top_p, most=1))
        library = self._need("decode", self._cannot_decode)
        chosen = [data for data in self._data if data.is_chosen]
        names = {data.name: data.kind == "real" for data in chosen}
        result = []
        examples = check_batch(self._data, batch)
        begins = _begins(prefix, examples)
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
        """Returns the values of equations: for one name a list with an unpadded array
        per example, for several names a dict of such lists."""
        wanted = [_arguments.text("names", names)] if isinstance(names, str) else \
            _arguments.texts("names", names)
        padded = self._pad(batch)
        library = self._getter(wanted, padded)
        result = self._run(wanted, padded) if library is None else \
            self._look(library, wanted, padded)
        return result[names] if isinstance(names, str) and names in result else result

    def _getter(self, wanted: list[str], padded: Padded) -> Library | None:
        """Returns the library with these equations. A single request does not justify
        one, and without a linker there is none."""
        known = {equation.name for equation in self.equations}
        key = frozenset(wanted)
        # A process may do with the data that these equations need.
        is_whole = all(data.name in padded.arrays for data in self._data)
        if not key <= known or not self._has_parameters or not is_whole:
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
                    made = self._compile(path, self._threads, "--entry", "get", *gets)
                    made.updates = self._updates
                    self._getters[key] = made
            except MachineError:
                self._getters[key] = None
        return self._getters[key]

    def _look(self, library: Library, wanted: list[str],
              padded: Padded) -> dict[str, Any]:
        """Computes the equations of a batch with the current weights."""
        # The library has the weights of its making.
        if self._is_writable or self._updates != library.updates:
            for name, array in library.arrays("parameter", self._about, library).items():
                array[...] = self.parameters[name]
        library.call("get", padded.words)
        return {name: [library.value(example, name).astype(self._types[name])
                       for example in range(padded.examples)] for name in wanted}

    def _run(self, wanted: list[str], padded: Padded) -> dict[str, Any]:
        """The same in a process; also computes gradients."""
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            path = pathlib.Path(folder)
            _tensors.write(path / "batch.safetensors", padded.arrays)
            given: list[object] = []
            if self._has_parameters:
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
        """Draws an equation of one example as `fovea plot` does: an alignment as a
        matrix. Notebooks display it."""
        name = _arguments.text("name", name)
        example = _arguments.whole("example", example, 0,
                                   check_batch(self._data, batch) - 1)
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
        drawn = -1 if seed is None else _arguments.whole("seed", seed)
        library = self._need(entry, "has no objective")
        padded = self._pad(batch)
        library.call("random", ctypes.c_int64(drawn),
                     ctypes.c_int64(0))
        return library.loss(entry, padded)


class _NoSymbols:
    """For a model without a library, which generates nothing."""

    def id_of(self, data: str, symbol: str) -> int:
        return -1

    def ids_of(self, data: str, line: str) -> list[int]:
        raise SpecError(f"'{data}' has no symbols")


def _real(dtype: str) -> Any:
    return np.float32 if dtype == "f32" else np.float64


def _begins(prefix: Sequence[str | None] | None, examples: int) -> list[bytes | None]:
    """Returns the prefix of each example, for C, or None without prefixes."""
    if prefix is None:
        return []
    if isinstance(prefix, (str, bytes, Mapping)) or not isinstance(prefix, Sequence):
        raise SpecError("prefix must be a list with a line or None for each example, "
                        f"got {_arguments.short(prefix)}")
    if len(prefix) != examples:
        raise SpecError(f"there are {len(prefix)} prefixes for {examples} examples")
    return [None if line is None else
            _arguments.text(f"prefix[{number}]", line).encode()
            for number, line in enumerate(prefix)]


def _extent(text: str, padded: Padded, example: int, room: int) -> int | None:
    """Returns the length of an example along an axis; all of it if unknown."""
    found = extent_of(text, {name: int(lengths[example])
                             for name, lengths in padded.lengths.items()
                             if lengths.ndim == 1})
    return None if found is None else min(room, int(found))
