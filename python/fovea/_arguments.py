"""Checks arguments before they reach the compiler or compiled code.

C would cut an integer to 64 bits and a text at its first NUL without an error.
"""

from __future__ import annotations

import math
import operator
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ._errors import SpecError

#: The largest integer of C's int64_t.
LARGEST = 2**63 - 1
#: The largest number of threads, a C int.
MANY = 2**31 - 1


def whole(name: str, value: object, low: int = 0, high: int = LARGEST) -> int:
    """An integer from low to high."""
    try:
        number = operator.index(value)  # type: ignore[arg-type]
    except TypeError:
        number = None
    if number is None or isinstance(value, (bool, np.bool_)):
        raise SpecError(f"{name} must be an integer, got {short(value)}")
    if not low <= number <= high:
        raise SpecError(f"{name} must be between {low} and {high}, got {number}")
    return number


def real(name: str, value: object, most: float = math.inf) -> float:
    """A finite number above 0, and at most `most`."""
    if isinstance(value, (bool, np.bool_, str, bytes)):
        raise SpecError(f"{name} must be a number, got {short(value)}")
    try:
        number = float(value)  # type: ignore[arg-type]
    except (TypeError, ValueError, OverflowError):
        raise SpecError(f"{name} must be a number, got {short(value)}") from None
    if not 0 < number <= most or math.isinf(number):
        limit = "" if math.isinf(most) else f" and at most {most:g}"
        raise SpecError(f"{name} must be above 0{limit}, got {number:g}")
    return number


def flag(name: str, value: object) -> bool:
    """True or False."""
    if not isinstance(value, (bool, np.bool_)):
        raise SpecError(f"{name} must be True or False, got {short(value)}")
    return bool(value)


def text(name: str, value: object) -> str:
    """A text without NUL characters, for C and files."""
    if not isinstance(value, str):
        raise SpecError(f"{name} must be a str, got {short(value)}")
    if "\0" in value:
        raise SpecError(f"{name} must not contain NUL, found one in {short(value)}")
    try:
        value.encode()
    except UnicodeEncodeError:
        raise SpecError(f"{name} must be valid Unicode, got {short(value)}") from None
    return value


def texts(name: str, value: object) -> list[str]:
    """A sequence of texts, but not a single text."""
    if isinstance(value, (str, bytes, Mapping)) or not isinstance(value, Sequence):
        raise SpecError(f"{name} must be a list of str, got {short(value)}")
    return [text(f"{name}[{number}]", item) for number, item in enumerate(value)]


def path(name: str, value: object) -> str:
    """A path, as text."""
    try:
        return text(name, os.fsdecode(value))  # type: ignore[arg-type]
    except TypeError:
        raise SpecError(f"{name} must be a path, got {short(value)}") from None


def choice(name: str, value: object, choices: Sequence[str]) -> str:
    """One of a few words."""
    for word in choices:
        if isinstance(value, str) and value == word:
            return word
    wanted = " or ".join(f"'{word}'" for word in choices)
    raise SpecError(f"{name} must be {wanted}, got {short(value)}")


def overrides(value: object) -> dict[str, str]:
    """The overrides for `--set`, by name."""
    if value is None:
        return {}
    if not isinstance(value, Mapping):
        raise SpecError(f"sets must be a dict, got {short(value)}")
    return {text("a name in sets", name): text(f"sets['{name}']", str(own))
            for name, own in value.items()}


def is_masked(value: object) -> bool:
    """Returns whether a numpy mask hides one of its values."""
    return isinstance(value, np.ma.MaskedArray) and bool(np.any(value.mask))


def short(value: object) -> str:
    """Returns the form of a value in an error message."""
    shown = repr(value)
    return shown if len(shown) <= 60 else shown[:57] + "..."
