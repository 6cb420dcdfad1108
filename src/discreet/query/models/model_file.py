"""A model in a file: files are data, and nothing in them is run unless their owner says so."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import MissingExtra, ParameterError
from discreet.core.grid import Array
from discreet.query.models.allowed_pickle import read_allowed
from discreet.query.models.weights import read_released_weights, read_safetensors

PICKLES, TENSORS = (".pkl", ".pickle"), (".pt", ".pth")
ENDINGS = (*PICKLES, ".joblib", ".onnx", ".safetensors", *TENSORS)


def read_model(path: str | Path, *, trust_pickle: bool = False, activation: str | None = None) -> Any:
    """The model in a file, by the ending of its name.

    Parameters
    ----------
    path : path
        Of a file: .joblib (estimators of an explicit list), .onnx, .safetensors, .pt (weights alone), or .pkl.
    trust_pickle : bool
        Whether pickles may run their code, as a program may.
    activation : str, optional
        Between the layers of a file that holds weights alone.

    Raises
    ------
    ParameterError
        It is not opened, or cannot be read; what would work is said.
    MissingExtra
        What reads it is not installed.
    """
    place, asked = Path(path), f"open {path}"
    if not place.is_file():
        raise ParameterError(asked, "there is no such file", f"Give a file: {', '.join(ENDINGS)}.")
    if place.suffix in (*PICKLES, ".joblib") and trust_pickle:
        return _trusted(place, asked)
    readers: dict[str, Callable[[], Any]] = {
        ".joblib": lambda: read_allowed(place),
        ".onnx": lambda: OnnxModel.read(place),
        ".safetensors": lambda: read_safetensors(place, activation),
        **{ending: lambda: read_released_weights(place, activation) for ending in TENSORS},
    }
    if place.suffix in PICKLES:
        remedy = (
            "Save it by joblib.dump(model, 'model.joblib'), which is opened by a list of what it may hold; or write"
            " ONNX or safetensors. If you made the file yourself: --trust-pickle."
        )
        raise ParameterError(asked, "a pickle runs whatever its writer wanted, as soon as it is opened", remedy)
    if place.suffix not in readers:
        raise ParameterError(asked, "its name does not say what it is", f"Name it by one of {', '.join(ENDINGS)}.")
    return readers[place.suffix]()


def _trusted(path: Path, asked: str) -> Any:
    """Whatever the pickle makes. Its code is run."""
    try:
        if path.suffix == ".joblib":
            import joblib

            return joblib.load(path)
        with open(path, "rb") as file:
            return pickle.load(file)
    except Exception as why:
        remedy = "Open it where the packages that it was made with are installed."
        raise ParameterError(asked, f"opening it raised {type(why).__name__}", remedy) from why


@dataclass(frozen=True)
class OnnxModel:
    """A model in the format ONNX, run by onnxruntime: it computes, and calls nothing else.

    Parameters
    ----------
    session : onnxruntime.InferenceSession
        With one input, of rows.
    """

    session: Any = field(repr=False)

    @classmethod
    def read(cls, path: Path) -> OnnxModel:
        """The model of a file."""
        asked = f"open {path}"
        try:
            import onnxruntime
        except ImportError as why:
            raise MissingExtra(asked, "onnxruntime is not installed", "Run: pip install 'discreet[onnx]'.") from why
        try:
            session = onnxruntime.InferenceSession(path.read_bytes(), providers=["CPUExecutionProvider"])
        except Exception as why:
            raise ParameterError(asked, f"onnxruntime refuses it ({type(why).__name__})", "Check the file.") from why
        if len(session.get_inputs()) != 1:
            obstacle = f"it has {len(session.get_inputs())} inputs"
            raise ParameterError(asked, obstacle, "Write a model with one input of rows: a column for each feature.")
        return cls(session)

    def predict_proba(self, rows: Any) -> Array:
        """The output that has a number for each row and class; or the mappings from class to number, as skl2onnx has.

        Labels alone are given back as they are.
        """
        (given,) = self.session.get_inputs()
        kind = np.float64 if given.type == "tensor(double)" else np.float32
        outputs = self.session.run(None, {given.name: np.asarray(rows, dtype=kind)})
        for found in outputs:
            if isinstance(found, list) and found and isinstance(found[0], dict):
                return np.array([[row[name] for name in sorted(row)] for row in found], dtype=np.float64)
            if isinstance(found, np.ndarray) and found.ndim == 2 and found.dtype.kind == "f":
                return _as_probabilities(found.astype(np.float64))
        return np.asarray(outputs[0])


def _as_probabilities(found: Array) -> Array:
    """Probabilities as they are; a single one with that of the other class; otherwise the softmax."""
    if (found >= 0).all() and found.shape[1] == 1 and (found <= 1).all():
        return np.hstack([1 - found, found])
    if (found >= 0).all() and np.allclose(found.sum(axis=1), 1, atol=1e-3):
        return found
    raised = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
