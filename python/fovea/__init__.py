"""Fovea: attention models, written as equations, from Python.

    import fovea

    model = fovea.compile("rnnsearch.fov", sets={"src.vocab": 97, "tgt.vocab": 97})
    batch = {"src": [[5, 6, 1], [7, 1]], "tgt": [[8, 1], [9, 9, 1]]}
    model.loss(batch)
    model.train_step(batch)
    model.decode({"src": [[5, 6, 1]]})
    model.get("align", batch)

A batch has a list of examples for each name of `data`: each of them a number, a
list (of lists) or an array of numpy, of its own length. Nothing is padded and
nothing is masked by the caller.
"""

from typing import Any as _Any

from ._errors import Error, MachineError, SpecError, SpecWarning
from ._fit import Report
from ._model import Equation, Hypothesis, Model, Picture, check, compile, load

__all__ = ["Equation", "Error", "Hypothesis", "MachineError", "Model", "Picture",
           "Report", "SpecError", "SpecWarning", "check", "compile", "load"]
__version__ = "0.2.0"


def load_ipython_extension(shell: _Any) -> None:
    """`%load_ext fovea` in a notebook: a cell `%%fovea` is a spec."""
    from ._magic import register
    register(shell)
