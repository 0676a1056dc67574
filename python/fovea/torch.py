"""A spec as a layer of a PyTorch model.

    layer = fovea.torch.Layer("attention.fov", outputs="c", sets={"H": 64})
    c = layer(query=q, key=k, lengths={"S": torch.tensor([5, 3])})
    c.sum().backward()

Gradients flow to the parameters of the spec, which are the layer's, and to what
it is given. What PyTorch has computed about an output comes in as one more name
of `data`, and a penalty, the sum of both multiplied, has the gradient that is
wanted: so the compiler derives it as that of any other model.

The layer is an operator of torch.library: torch.compile, torch.export, torch.func
and autocast treat it as one of PyTorch's own.
"""

from __future__ import annotations

import contextlib
import ctypes
import itertools
import os
import pathlib
import tempfile
import threading
import weakref
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
import torch

from . import _arguments
from ._batch import Data, extent_of
from ._errors import SpecError
from ._library import Library
from ._model import _sets, _source, check
from ._program import run

__all__ = ["Layer"]

_NAMES = {torch.float32: "f32", torch.float64: "f64"}
#: What layers of PyTorch give under autocast.
_HALVES = (torch.bfloat16, torch.float16)

#: What an operator's arguments call a layer, since they cannot be objects.
_layers: weakref.WeakValueDictionary[str, Layer] = weakref.WeakValueDictionary()
_numbers = itertools.count()


class Layer(torch.nn.Module):
    """The equations of a spec, as a function of its data.

    spec: a .fov file, or the text of one. It has equations and no objective.
    outputs: the name of the equation that is wanted; of several, a tuple comes
        back.
    sets: overrides, as `--set`.
    seed: of the first weights.
    dtype: torch.float32 or torch.float64, what it computes in.
    by: the names of real data that gradients are wanted by; without it, all.
    threads: 0 is one per CPU; results do not depend on it.
    """

    def __init__(self, spec: str | os.PathLike[str], outputs: str | Sequence[str], *,
                 sets: Mapping[str, object] | None = None, seed: int = 0,
                 dtype: torch.dtype = torch.float32,
                 by: Sequence[str] | None = None, threads: int = 0) -> None:
        super().__init__()
        if not isinstance(dtype, torch.dtype) or dtype not in _NAMES:
            raise SpecError("dtype must be torch.float32 or torch.float64, got "
                            f"{_arguments.short(dtype)}")
        seed = _arguments.whole("seed", seed)
        threads = _arguments.whole("threads", threads, high=_arguments.MANY)
        self._made = (spec, outputs, _arguments.overrides(sets), seed, dtype, by,
                      threads)
        self.dtype = dtype
        self.outputs = [_arguments.text("outputs", outputs)] \
            if isinstance(outputs, str) else _arguments.texts("outputs", outputs)
        if not self.outputs:
            raise SpecError("outputs must name an equation, got none")
        self._is_one = isinstance(outputs, str)
        self._lock = threading.Lock()
        self._key = f"layer{next(_numbers)}"
        _layers[self._key] = self
        about = check(spec, sets)
        self.name: str = about["model"]
        self._given = [Data(entry) for entry in about["data"]]
        #: The lengths that come with the data.
        self._lengths = list(dict.fromkeys(
            data.extents[axis] for data in self._given for axis in data.free))
        self._equations = {entry["name"]: [_plain(text) for text in entry["extents"]]
                           for entry in about["equations"]}
        self._check(about)
        real = [data.name for data in self._given if data.kind == "real"]
        self.by = real if by is None else _arguments.texts("by", by)
        for name in self.by:
            if name not in real:
                raise SpecError(f"'{name}' is no real data of '{self.name}'; there "
                                f"are {', '.join(real) or 'none'}")
        #: Which data and parameters can get a gradient.
        self._flows = [*(data.name in self.by for data in self._given),
                       *(True for _ in about["parameters"])]
        self._adjoints = self._names_of_adjoints(about)
        self._library, self._about, data = self._compile(spec, sets, seed, threads)
        #: As the library has them: with one for each output.
        self._data = [Data(entry) for entry in data]
        self._views = self._library.arrays("parameter", self._about, self._library)
        #: What PyTorch calls the parameters, in the order of the views.
        self._names = [_register(self, path, torch.from_numpy(view))
                       for path, view in self._views.items()]

    def _check(self, about: Mapping[str, Any]) -> None:
        if about["objective"]:
            raise SpecError(f"'{self.name}' has an objective of its own, which a "
                            "layer has not: leave out its '~' and 'penalty'")
        for name in self.outputs:
            if name not in self._equations:
                raise SpecError(f"no equation of '{self.name}' is called '{name}'; "
                                f"there are {', '.join(sorted(self._equations))}")
        for data in self._given:
            if any(data.parents):
                raise SpecError(f"'{data}' has lengths that depend on an index, "
                                "which a tensor has not")

    def _names_of_adjoints(self, about: Mapping[str, Any]) -> dict[str, str]:
        """A name that the spec has not, for what comes back of each output."""
        taken = {entry["name"].split(".")[0]
                 for kind in ("data", "equations", "parameters")
                 for entry in about[kind]} | set(about["dims"])
        result = {}
        for output in self.outputs:
            name = "d_" + output.replace(".", "_")
            while name in taken:
                name += "_"
            taken.add(name)
            result[output] = name
        return result

    def _text(self, text: str) -> str:
        """Returns the spec, plus the penalty with the layer's gradient."""
        for output, adjoint in self._adjoints.items():
            extents = self._equations[output]
            places = [f"at_{number}" for number in range(len(extents))]
            axes = f"[{', '.join(extents)}]" if extents else ""
            place = f"[{', '.join(places)}]" if places else ""
            term = f"{output}{place} * {adjoint}{place}"
            if extents:
                over = ", ".join(f"{at} < {extent}"
                                 for at, extent in zip(places, extents))
                term = f"sum[{over}]({term})"
            text += f"\ndata {adjoint}{axes} : real\npenalty {term}\n"
        return text

    def _compile(self, spec: str | os.PathLike[str],
                 sets: Mapping[str, object] | None, seed: int,
                 threads: int) -> tuple[Library, list[Any], list[Any]]:
        source, text = _source(spec)
        beside = None
        if text is None:
            text = pathlib.Path(source).read_text(encoding="utf-8")
            beside = os.fspath(pathlib.Path(source).absolute().parent)
        wanted = [*self.outputs, *(f"adjoint/{name}" for name in self.by)]
        with tempfile.TemporaryDirectory(prefix="fovea-") as folder:
            first = pathlib.Path(folder, "first.safetensors")
            path = pathlib.Path(folder, "libmodel.so")
            dtype = _NAMES[self.dtype]
            run("init", "-", *_sets(sets), "--seed", seed, "--dtype", dtype, "-o",
                first, text=self._text(text), within=beside)
            run("compile", first, "--emit", "so", "--entry", "get,grad", "--dtype",
                dtype, "-o", path, *(item for name in wanted
                                     for item in ("--get", name)))
            about = check(first)
            return (Library(os.fspath(path), np.dtype(self._real), threads),
                    about["parameters"], about["data"])

    @property
    def _real(self) -> Any:
        return np.float32 if self.dtype == torch.float32 else np.float64

    def extra_repr(self) -> str:
        given = ", ".join(map(str, self._given))
        return f"{self.name}: {given} -> {', '.join(self.outputs)}"

    def __reduce__(self) -> Any:
        return _again, (self._made, self.state_dict(), self.training)

    def forward(self, *, lengths: Mapping[str, torch.Tensor] | None = None,
                **given: torch.Tensor) -> Any:
        """The outputs for a batch, [examples, axes..], zeros past a length.

        given: a tensor for each name of the spec's data, [examples, axes..],
            padded on the right; ids of tokens are torch.int64, bits torch.bool.
        lengths: for each length of the spec that differs between examples,
            [examples]; without it, examples are as long as tensors are.
        """
        for name, tensor in given.items():
            if not isinstance(tensor, torch.Tensor):
                raise SpecError(f"'{name}' must be a torch.Tensor, got "
                                f"{_arguments.short(tensor)}")
        names = {data.name for data in self._given}
        if given.keys() != names:
            missing, others = sorted(names - given.keys()), sorted(given.keys() - names)
            raise SpecError(
                f"'{self.name}' is given " + ", ".join(sorted(names)) +
                (f"; '{missing[0]}' is missing" if missing else
                 f", and no '{others[0]}'"))
        lengths = {} if lengths is None else lengths
        self._check_lengths(lengths)
        if torch.is_autocast_enabled("cpu"):
            given = {name: tensor.to(self.dtype) if tensor.dtype in _HALVES else tensor
                     for name, tensor in given.items()}
        # As a tensor, it is drawn again in each call of a compiled function.
        seed = torch.randint(2**31, ()) if self.training else torch.tensor(-1)
        results = _Apply.apply(self._key, self._flows, len(lengths),
                               ",".join(lengths), seed,
                               *lengths.values(),
                               *(given[data.name] for data in self._given),
                               *self._parameters_now())
        return results[0] if self._is_one else tuple(results)

    def _check_lengths(self, lengths: Mapping[str, torch.Tensor]) -> None:
        if not isinstance(lengths, Mapping):
            raise SpecError("lengths must be a dict of torch.Tensor, got "
                            f"{_arguments.short(lengths)}")
        for name, length in lengths.items():
            if name not in self._lengths:
                raise SpecError(f"'{self.name}' has no length '{name}'; there are "
                                f"{', '.join(self._lengths) or 'none'}")
            if not isinstance(length, torch.Tensor) or length.is_floating_point() or \
                    length.is_complex() or length.dtype == torch.bool:
                raise SpecError(f"the lengths '{name}' must be a torch.Tensor of "
                                f"integers, got {_arguments.short(length)}")

    def _parameters_now(self) -> list[torch.Tensor]:
        """The caller may have replaced them."""
        named = dict(self.named_parameters(remove_duplicate=False))
        return [named[name] for name in self._names]

    @contextlib.contextmanager
    def _with_weights(self, weights: Sequence[torch.Tensor]) -> Iterator[Library]:
        """Returns the library with these weights: its own, or temporary ones."""
        kept = []
        with self._lock:
            for (path, view), weight in zip(self._views.items(), weights):
                if weight.data_ptr() == view.ctypes.data:
                    continue
                if weight.dtype != self.dtype or weight.device.type != "cpu":
                    raise SpecError(f"'{path}' is {weight.dtype} on {weight.device}; "
                                    f"the layer computes in {self.dtype} on the CPU")
                kept.append((view, view.copy()))
                view[...] = weight.detach().numpy()
            try:
                yield self._library
            finally:
                for view, values in kept:
                    view[...] = values


def _plain(extent: str) -> str:
    """`S + 1` as the compiler writes it elsewhere."""
    return extent.replace(" ", "")


def _again(made: tuple[Any, ...], state: Mapping[str, Any], training: bool) -> Layer:
    spec, outputs, sets, seed, dtype, by, threads = made
    layer = Layer(spec, outputs, sets=sets, seed=seed, dtype=dtype, by=by,
                  threads=threads)
    layer.load_state_dict(state)
    return layer.train(training)


def _register(module: torch.nn.Module, path: str, values: torch.Tensor) -> str:
    """Adds a parameter, and gives its name, which is its path. A word that modules
    of PyTorch have, such as `forward`, gets a `_` at its end."""
    *groups, last = path.split(".")
    names = []
    for name in groups:
        while name not in module._modules and hasattr(module, name):
            name += "_"
        if name not in module._modules:
            module.add_module(name, torch.nn.Module())
        names.append(name)
        module = module.get_submodule(name)
    while hasattr(module, last):
        last += "_"
    module.register_parameter(last, torch.nn.Parameter(values))
    return ".".join([*names, last])


class _Batch:
    """The lengths and extents of a call's inputs. While PyTorch traces a function,
    the lengths are not known."""

    def __init__(self, layer: Layer, given: Mapping[str, torch.Tensor],
                 lengths: Mapping[str, torch.Tensor] | None) -> None:
        self.layer = layer
        # Not len(), which would fix the number for all calls of a traced function.
        shape = next(iter(given.values())).shape if given else ()
        self.examples = shape[0] if shape else 1
        self.extents: dict[str, int] = {}
        first: dict[str, str] = {}
        for data in layer._given:
            self._check(data, given[data.name])
            for axis in data.free:
                extent, name = given[data.name].shape[1 + axis], data.extents[axis]
                if self.extents.setdefault(name, extent) != extent:
                    raise SpecError(
                        f"'{first[name]}' has {self.extents[name]} along {name} but "
                        f"'{data.name}' has {extent}")
                first.setdefault(name, data.name)
        self.lengths: dict[str, Any] = {}
        if lengths is not None:
            self._look_at(lengths)
        # Those of the outputs, as `S // 2 + 1`.
        for text in {text for name in layer.outputs for text in layer._equations[name]}:
            extent = extent_of(text, self.extents)
            if extent is None:
                raise SpecError(f"no data of '{layer.name}' says what '{text}' is")
            self.extents.setdefault(text, extent)
            if lengths is not None and not text.isdigit():
                self.lengths.setdefault(text, np.ascontiguousarray(
                    extent_of(text, self.lengths), np.int64))

    def _look_at(self, lengths: Mapping[str, torch.Tensor]) -> None:
        self.lengths = {name: np.full(self.examples, extent, np.int64)
                        for name, extent in self.extents.items()}
        for name, length in lengths.items():
            own = np.ascontiguousarray(length.detach().cpu().numpy(), np.int64)
            if own.shape != (self.examples,) or (own < 0).any() or \
                    (own > self.extents[name]).any():
                raise SpecError(
                    f"the lengths '{name}' are {self.examples} numbers of at most "
                    f"{self.extents[name]}, not {own.tolist()}")
            self.lengths[name] = own

    def _check(self, data: Data, tensor: torch.Tensor) -> None:
        shape = tuple(tensor.shape)
        fits = len(shape) == 1 + data.rank and shape[0] == self.examples and all(
            size in (-1, have) for size, have in zip(data.sizes, shape[1:]))
        if not fits or self.examples == 0:
            axes = (text if size < 0 or text == str(size) else f"{text} = {size}"
                    for text, size in zip(data.extents, data.sizes))
            wanted = ", ".join([str(self.examples or "examples"), *axes])
            raise SpecError(f"'{data.name}' is [{wanted}], not {list(shape)}")
        dtype = {"real": self.layer.dtype, "bit": torch.bool}.get(data.kind,
                                                                  torch.int64)
        if tensor.dtype != dtype or tensor.device.type != "cpu":
            raise SpecError(f"'{data.name}' is {tensor.dtype} on {tensor.device}; the "
                            f"layer takes {dtype} on the CPU")

    def shape(self, output: str) -> list[int]:
        return [self.extents[text] for text in self.layer._equations[output]]

    def words(self, tensors: Mapping[str, torch.Tensor]) -> list[int]:
        """The struct `model_batch` of the header."""
        words: list[int] = [self.examples, 0]
        for data in self.layer._data:
            tensor = tensors.get(data.name)
            if tensor is None:
                words += [0] * (1 + 2 * len(data.free))
                continue
            words.append(tensor.data_ptr())
            for axis in data.free:
                length = self.lengths.get(_plain(data.extents[axis]))
                words += [tensor.shape[1 + axis],
                          0 if length is None else length.ctypes.data]
        return words

    def values(self, library: Library, name: str,
               extents: Sequence[str]) -> torch.Tensor:
        """An equation of all examples, as wide as what is given; zeros past
        the end of an example."""
        parts = [library.value(example, name) for example in range(self.examples)]
        shape = [max(sizes) for sizes in zip(*(part.shape for part in parts))]
        for axis, extent in enumerate(extents):
            shape[axis] = self.extents.get(extent, shape[axis])
        result = torch.zeros([self.examples, *shape], dtype=self.layer.dtype)
        array = result.numpy()
        for example, part in enumerate(parts):
            place: Any = (example, *(slice(size) for size in part.shape))
            array[place] = part
        return result


def _batch_of(layer: Layer, tensors: Sequence[torch.Tensor], names: str,
              lengths: Sequence[torch.Tensor] | None) -> _Batch:
    given = {data.name: tensor for data, tensor in zip(layer._given, tensors)}
    return _Batch(layer, given, None if lengths is None else
                  dict(zip(names.split(","), lengths)))


@torch.library.custom_op("fovea::apply", mutates_args=())
def _apply(layer: str, tensors: list[torch.Tensor], names: str,
           lengths: list[torch.Tensor], seed: torch.Tensor) -> list[torch.Tensor]:
    """The outputs of a layer. tensors: its data and its weights; names: of the
    lengths."""
    own = _layers[layer]
    batch = _batch_of(own, tensors, names, lengths)
    # Of what comes back nothing is known yet.
    none = [torch.zeros([batch.examples, *batch.shape(name)], dtype=own.dtype)
            for name in own.outputs]
    with _called("get", batch, int(seed), tensors, none) as library:
        return [batch.values(library, name, own._equations[name])
                for name in own.outputs]


@_apply.register_fake
def _(layer: str, tensors: list[torch.Tensor], names: str,
      lengths: list[torch.Tensor], seed: torch.Tensor) -> list[torch.Tensor]:
    own = _layers[layer]
    batch = _batch_of(own, tensors, names, None)
    return [torch.empty([batch.examples, *batch.shape(name)], dtype=own.dtype)
            for name in own.outputs]


@torch.library.custom_op("fovea::gradients", mutates_args=())
def _gradients(layer: str, flows: list[bool], cotangents: list[torch.Tensor],
               tensors: list[torch.Tensor], names: str, lengths: list[torch.Tensor],
               seed: torch.Tensor) -> list[torch.Tensor]:
    """The gradients of the penalty by the tensors for which `flows` is true."""
    own = _layers[layer]
    batch = _batch_of(own, tensors, names, lengths)
    results = []
    with _called("grad", batch, int(seed), tensors, cotangents) as library:
        # The loss is a mean over the examples.
        for data, is_needed in zip(own._given, flows):
            if is_needed:
                results.append(batch.values(library, f"adjoint/{data.name}",
                                            data.extents) * batch.examples)
        gradients = library.arrays("gradient", own._about, library)
        for path, is_needed in zip(own._views, flows[len(own._given):]):
            if is_needed:
                results.append(torch.from_numpy(gradients[path]) * batch.examples)
    return results


@_gradients.register_fake
def _(layer: str, flows: list[bool], cotangents: list[torch.Tensor],
      tensors: list[torch.Tensor], names: str, lengths: list[torch.Tensor],
      seed: torch.Tensor) -> list[torch.Tensor]:
    return [tensor.new_empty(tensor.shape)
            for tensor, is_needed in zip(tensors, flows) if is_needed]


def _one_by_one(operator: Any) -> Any:
    """The rule of torch.vmap: one call for each place of the mapped axis."""
    def rule(info: Any, in_dims: tuple[Any, ...], *args: Any) -> tuple[Any, Any]:
        def at(value: Any, axis: Any, place: int) -> Any:
            if isinstance(value, torch.Tensor):
                return value if axis is None else value.select(axis, place)
            if isinstance(value, list) and isinstance(axis, (list, tuple)):
                return [at(*both, place) for both in zip(value, axis)]
            return value
        calls = [operator(*(at(value, axis, place)
                            for value, axis in zip(args, in_dims)))
                 for place in range(info.batch_size)]
        results = [torch.stack(parts) for parts in zip(*calls)]
        return results, [0] * len(results)
    return rule


for _operator in _apply, _gradients:
    _operator.register_vmap(_one_by_one(_operator))


class _Apply(torch.autograd.Function):
    """Computes the equations forward, and their gradients backward. The operators
    take lists, with which torch.func cannot differentiate them."""

    generate_vmap_rule = True

    @staticmethod
    def forward(layer: str, flows: list[bool], count: int, names: str,
                seed: torch.Tensor,
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        return tuple(_apply(layer, list(tensors[count:]), names,
                            list(tensors[:count]), seed))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.layer, ctx.flows, ctx.count, ctx.names, seed, *tensors = inputs
        if not torch.compiler.is_compiling():
            # It lives as long as what it has computed.
            ctx.owner = _layers[ctx.layer]
        ctx.save_for_backward(seed, *tensors)

    @staticmethod
    def backward(ctx: Any, *cotangents: torch.Tensor) -> tuple[Any, ...]:
        # A function of its own, because once_differentiable looks only at the
        # cotangents: with create_graph=True, gradients also depend on the data and
        # the parameters.
        seed, *tensors = ctx.saved_tensors
        fixed = 5 + ctx.count
        flows = [can and is_needed for can, is_needed
                 in zip(ctx.flows, ctx.needs_input_grad[fixed:])]
        found = iter(_Gradients.apply(ctx.layer, flows, ctx.count, ctx.names, seed,
                                      len(cotangents), *cotangents, *tensors))
        return (None,) * fixed + tuple(
            next(found) if is_needed else None for is_needed in flows)


class _Gradients(torch.autograd.Function):
    """The gradient of the penalty, which cannot be differentiated again."""

    generate_vmap_rule = True

    @staticmethod
    def forward(layer: str, flows: list[bool], count: int, names: str,
                seed: torch.Tensor, outputs: int,
                *tensors: torch.Tensor) -> tuple[torch.Tensor, ...]:
        rest = tensors[outputs:]
        return tuple(_gradients(layer, flows, list(tensors[:outputs]),
                                list(rest[count:]), names, list(rest[:count]), seed))

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> None:
        ctx.layer = inputs[0]

    @staticmethod
    def backward(ctx: Any, *_: torch.Tensor) -> tuple[Any, ...]:
        raise SpecError(
            f"the layer '{_layers[ctx.layer].name}' has no second derivatives; help: "
            "compute what depends on its gradient, such as a gradient penalty, from "
            "layers of PyTorch")


@contextlib.contextmanager
def _called(entry: str, batch: _Batch, seed: int, tensors: Sequence[torch.Tensor],
            back: Sequence[torch.Tensor]) -> Iterator[Library]:
    """The library after a call of `entry`, for its results."""
    layer = batch.layer
    count = len(layer._given)
    names = [*(data.name for data in layer._given), *layer._adjoints.values()]
    dense = {name: tensor.detach().contiguous()
             for name, tensor in zip(names, [*tensors[:count], *back])}
    words = batch.words(dense)
    with layer._with_weights(tensors[count:]) as library:
        library.call("random", ctypes.c_int64(seed), ctypes.c_int64(0))
        library.call(entry, (ctypes.c_int64 * len(words))(*words),
                     *([None, None] if entry == "grad" else []))
        yield library
