"""Errors, with the compiler's messages."""


class Error(Exception):
    """The text is what `fovea` prints: place, message, line and caret."""


class SpecError(Error, ValueError):
    """An error in a spec, data or weights."""


class SpecWarning(UserWarning):
    """A valid spec that is probably a mistake: a warning of `fovea check`."""


class MachineError(Error, RuntimeError):
    """An environment failure: memory, disk, or a missing program."""
