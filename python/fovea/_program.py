"""Runs the program `fovea`, which compiles.

The compiler stays in a process of its own: what it is built on does not meet
another copy of LLVM, such as PyTorch's, in this one.
"""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
import sys
import warnings

from . import _arguments
from ._errors import MachineError, SpecError, SpecWarning


def program() -> str:
    """Returns `$FOVEA_PROGRAM`, or the program of this package, or the one on PATH."""
    named = os.environ.get("FOVEA_PROGRAM")
    beside = pathlib.Path(__file__).parent / "bin" / "fovea"
    found = named or (str(beside) if beside.exists() else shutil.which("fovea"))
    if not found:
        raise MachineError("the program 'fovea' is not on the PATH; "
                           "FOVEA_PROGRAM names it")
    return found


def main() -> None:
    """The command `fovea` of an installed package: the program that is in it."""
    beside = pathlib.Path(__file__).parent / "bin" / "fovea"
    if not beside.exists():
        sys.exit("fovea: this installation has no program; help: pip install fovea again")
    os.execv(beside, ["fovea", *sys.argv[1:]])


def run(*arguments: object, text: str | None = None, warns: bool = False,
        within: str | None = None) -> str:
    """What it prints, started in the folder `within`. Raises what it says when it
    fails, and warns of what it warns of."""
    command = [program(), *(_arguments.text("an argument", str(own))
                            for own in arguments)]
    try:
        done = subprocess.run(command, input=text, capture_output=True, text=True,
                              cwd=within, encoding="utf-8", errors="replace")
    except OSError as error:
        raise MachineError(f"cannot run '{command[0]}': {error.strerror}") from None
    if done.returncode == 0:
        if warns and "warning: " in done.stderr:
            warnings.warn("\n" + done.stderr.rstrip("\n"), SpecWarning, stacklevel=3)
        return done.stdout
    if done.returncode == 130:
        raise KeyboardInterrupt
    said = "\n" + done.stderr.rstrip("\n") if "\n" in done.stderr.rstrip("\n") \
        else done.stderr.rstrip("\n")
    kind = SpecError if done.returncode in (1, 2) else MachineError
    raise kind(said or f"'fovea {arguments[0]}' ended with {done.returncode}")
