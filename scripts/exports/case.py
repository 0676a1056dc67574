"""What scripts/onnx-exports exports."""

import typing


class Case(typing.NamedTuple):
    """`draw` makes inputs of the sizes that it is given by letter. `axes` has a word for
    each input and a letter or a point for each of its axes: `BS` is a batch of sequences.
    Files whose lengths are open have these letters as lengths."""
    make: typing.Callable
    draw: typing.Callable
    axes: str
