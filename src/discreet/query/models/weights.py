"""Files that hold weights and nothing else, read as the linear model or the network that they fit."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import MissingExtra, ParameterError
from discreet.core.grid import Array

KINDS = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "<i1", "U8": "|u1"}
MOST_HEAD = 10**8  # bytes, as the format has it
ACTIVATIONS: dict[str, Callable[[Array], Array]] = {
    "relu": lambda rows: np.maximum(rows, 0.0),
    "tanh": np.tanh,
    "logistic": lambda rows: 1 / (1 + np.exp(-rows)),
    "identity": lambda rows: rows,
}
LAYOUT = (
    "Weights do not say how they are used. Give those of one linear layer, or of a chain of them: NAME.weight of shape"
    " (outputs, inputs) and NAME.bias for each, in the order of their names, with one --activation between them. For"
    " anything else write ONNX, or call `discreet.attacks.attacked` with the model itself."
)


@dataclass(frozen=True)
class LayeredModel:
    """Linear layers with one activation between them; probabilities are the softmax, or the logistic of one output.

    Parameters
    ----------
    layers : tuple of (weights, bias)
        Of shape (outputs, inputs) and (outputs,).
    activation : str, optional
        Between layers.

    Examples
    --------
    >>> model = LayeredModel(((np.array([[1.0], [-1.0]]), np.zeros(2)),))
    >>> model.predict_proba(np.array([[0.0], [50.0]])).tolist()
    [[0.5, 0.5], [1.0, 3.720075976020836e-44]]
    """

    layers: tuple[tuple[Array, Array], ...] = field(repr=False)
    activation: str | None = None

    @property
    def n_features_in_(self) -> int:
        """As many as the first layer takes."""
        return int(self.layers[0][0].shape[1])

    def predict_proba(self, rows: Any) -> Array:
        """A row of probabilities for each row."""
        values = np.asarray(rows, dtype=np.float64)
        for place, (weights, bias) in enumerate(self.layers):
            values = values if place == 0 else ACTIVATIONS[self.activation or "identity"](values)
            values = values @ weights.T + bias
        if values.shape[1] == 1:
            values = np.hstack([np.zeros_like(values), values])
        raised = np.exp(values - values.max(axis=1, keepdims=True))
        return np.asarray(raised / raised.sum(axis=1, keepdims=True))


def read_safetensors(path: str | Path, activation: str | None = None) -> LayeredModel:
    """The model of a file of the format safetensors: a length, a JSON head, and the bytes of arrays."""
    asked, raw = f"open {path}", Path(path).read_bytes()
    size = int.from_bytes(raw[:8], "little")
    try:
        if size > min(MOST_HEAD, len(raw) - 8):
            raise ValueError("no head")
        head = json.loads(raw[8 : 8 + size])
        named = {name: about for name, about in head.items() if name != "__metadata__"}
        tensors = {name: _tensor(about, raw[8 + size :]) for name, about in named.items()}
    except (ValueError, TypeError, KeyError, AttributeError, RecursionError) as why:
        remedy = f"Check the file. Of numbers it may hold {', '.join(KINDS)}."
        raise ParameterError(asked, f"it cannot be read as safetensors ({type(why).__name__})", remedy) from why
    return layered(asked, tensors, activation)


def _tensor(about: Any, body: bytes) -> Array:
    """An array, if its bytes are there and are as many as its shape says."""
    start, end = about["data_offsets"]
    kind, shape = np.dtype(KINDS[about["dtype"]]), about["shape"]
    whole = all(type(one) is int and one >= 0 for one in (start, end, *shape))
    if not (whole and start <= end <= len(body) and end - start == math.prod(shape) * kind.itemsize):
        raise ValueError("no tensor")
    return np.frombuffer(body[start:end], kind).reshape(shape).astype(np.float64)


def read_released_weights(path: str | Path, activation: str | None = None) -> LayeredModel:
    """The model of a file that `Trainer.release` of this library wrote, or of a `state_dict` of torch's own."""
    asked = f"open {path}"
    try:
        import torch
    except ImportError as why:
        raise MissingExtra(asked, "torch is not installed", "Run: pip install 'discreet[torch]'.") from why
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)  # refuses all that is no tensor
        weights = found.get("average", found.get("weights", found))
        tensors = {str(name): np.asarray(one.double().numpy()) for name, one in weights.items()}
    except Exception as why:
        remedy = "Give a file of `Trainer.release`, or one that torch.save(model.state_dict(), path) wrote."
        raise ParameterError(asked, f"it holds no weights alone ({type(why).__name__})", remedy) from why
    return layered(asked, tensors, activation)


def layered(asked: str, tensors: Mapping[str, Array], activation: str | None) -> LayeredModel:
    """The linear layers that these arrays are, in the order of their names."""
    names = [name.removesuffix("weight") for name in tensors if name.endswith("weight")]
    names.sort(key=lambda name: [int(part) if part.isdigit() else part for part in re.split(r"(\d+)", name)])
    layers = tuple((tensors[f"{name}weight"], _bias(tensors, name)) for name in names)
    known = {f"{name}{part}" for name in names for part in ("weight", "bias")}
    if not layers or set(tensors) - known or not all(_is_layer(*layer) for layer in layers) or not _chained(layers):
        shapes = ", ".join(f"{name} {one.shape}" for name, one in list(tensors.items())[:8])
        raise ParameterError(asked, f"its weights are no chain of linear layers ({shapes})", LAYOUT)
    if len(layers) > 1 and activation not in ACTIVATIONS:
        obstacle = f"it has {len(layers)} layers, and does not say what is between them"
        raise ParameterError(asked, obstacle, f"Give --activation: {', '.join(ACTIVATIONS)}.")
    return LayeredModel(layers, activation)


def _bias(tensors: Mapping[str, Array], name: str) -> Array:
    return tensors.get(f"{name}bias", np.zeros(len(tensors[f"{name}weight"]) if tensors[f"{name}weight"].ndim else 0))


def _is_layer(weights: Array, bias: Array) -> bool:
    return weights.ndim == 2 and 0 not in weights.shape and bias.shape == (len(weights),)


def _chained(layers: tuple[tuple[Array, Array], ...]) -> bool:
    return all(len(first) == second.shape[1] for (first, _), (second, _) in pairwise(layers))
