"""What goes wrong: as the compiler says it."""


class Error(Exception):
    """The text is what `fovea` prints: place, message, line and caret."""


class SpecError(Error, ValueError):
    """A spec, data or weights are at fault."""


class SpecWarning(UserWarning):
    """A spec is right, and hardly ever meant: as `fovea check` warns."""


class MachineError(Error, RuntimeError):
    """Memory, disk, or a program that is not there."""
