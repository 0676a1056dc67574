"""A cell of a notebook that is a spec: `%load_ext fovea`, then `%%fovea`."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from typing import Any

from ._errors import SpecError
from ._model import Model, compile

_HELP = "help: %%fovea NAME=VALUE .. --seed N --dtype f32|f64 --threads N"
_OPTIONS: dict[str, Callable[[str], object]] = {"seed": int, "dtype": str, "threads": int}


def _read(line: str) -> tuple[dict[str, object], dict[str, Any]]:
    """Returns the overrides and the options in the first line of a cell."""
    try:
        words = iter(shlex.split(line))
    except ValueError as error:
        raise SpecError(f"%%fovea: {error}; {_HELP}") from None
    sets: dict[str, object] = {}
    options: dict[str, Any] = {}
    for word in words:
        name, equal, value = word.removeprefix("--").partition("=")
        if not word.startswith("--"):
            if not name or not equal:
                raise SpecError(f"%%fovea: '{word}' is not NAME=VALUE; {_HELP}")
            sets[name] = value
            continue
        if name not in _OPTIONS:
            raise SpecError(f"%%fovea: '{word}' is not an option; {_HELP}")
        if not equal:
            value = next(words, "")
        try:
            options[name] = _OPTIONS[name](value)
        except ValueError:
            raise SpecError(f"%%fovea: '--{name}' takes a number, got '{value}'; "
                            f"{_HELP}") from None
    return sets, options


def register(shell: Any) -> None:
    """Gives an IPython shell the cell magic."""

    def fovea(line: str, cell: str) -> Model:
        """Compiles the spec in this cell. The model is the value of the cell, and
        the variable that has the name of the spec."""
        sets, options = _read(line)
        model = compile(cell + "\n", sets=sets, **options)
        shell.push({model.name: model})
        return model

    shell.register_magic_function(fovea, magic_kind="cell")
