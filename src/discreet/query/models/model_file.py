"""A model in a file: files are data, and nothing in them is run unless their owner says so."""

from __future__ import annotations

import pickle
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import MissingExtra, ParameterError
from discreet.core.grid import Array
from discreet.query.models.allowed_pickle import read_allowed
from discreet.query.models.weights import read_released_weights, read_safetensors

PICKLES, TENSORS = (".pkl", ".pickle"), (".pt", ".pth")
ROUNDED = 1e-5  # sums in single precision, such as those of the trees of a forest, are below 0 or above 1 by less
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
    classes_ : array, optional
        The labels, where it answers with a mapping from label to number; otherwise they are the columns' places.
    """

    session: Any = field(repr=False)
    classes_: NDArray[Any] | None = None

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
        return cls(session, _named(session))

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


def _named(session: Any) -> NDArray[Any] | None:
    """The labels of a model that names them, in the order of its probabilities: asked by a row of zeros."""
    (given,) = session.get_inputs()
    shape = getattr(given, "shape", None) or [None]
    if not any(str(own.type).startswith("seq(map(") for own in session.get_outputs()) or not isinstance(shape[-1], int):
        return None
    kind = np.float64 if given.type == "tensor(double)" else np.float32
    for found in session.run(None, {given.name: np.zeros((1, shape[-1]), dtype=kind)}):
        if isinstance(found, list):
            return np.array(sorted(found[0]))
    return None


def _as_probabilities(found: Array) -> Array:
    """Probabilities as they are, but for what was rounded; a single one with the other's; otherwise the softmax."""
    rounded = np.clip(found, 0.0, 1.0)
    alike = bool((np.abs(found - rounded) <= ROUNDED).all())
    if alike and found.shape[1] == 1:
        return np.hstack([1 - rounded, rounded])
    if alike and np.allclose(found.sum(axis=1), 1, atol=1e-3):
        return rounded
    raised = np.exp(found - found.max(axis=1, keepdims=True))
    return np.asarray(raised / raised.sum(axis=1, keepdims=True))
