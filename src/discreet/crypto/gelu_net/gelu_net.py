"""What both sides agree on: the layers, how finely numbers are rounded, and so how wide each slot is."""

from __future__ import annotations

import json
import math
from dataclasses import asdict, dataclass, field
from functools import cached_property
from hashlib import sha256
from typing import Any, Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_one_of, check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.layers import ConvolutionLayer, DenseLayer, Layer
from discreet.crypto.paillier.packing import Packing

ASKED = "encrypted network"
VERSION = "discreet gelu-net 1"
MOST_LAYERS = 32
LONGEST = 1 << 14  # bytes of its JSON form

Direction = Literal["forward", "backward"]
WAYS: tuple[Direction, ...] = ("forward", "backward")
WIDEST = 62  # bits of a slot, so that masks are taken off in 64
Loss = Literal["cross entropy", "squares"]


class Choices(Protocol):
    """Draws what is no secret of a record, as numpy's generators do: an order, and weights to begin with."""

    def permutation(self, x: int, /) -> NDArray[np.int64]: ...

    def normal(self, loc: float, scale: float, size: tuple[int, int], /) -> Numbers: ...


@dataclass(frozen=True)
class Precision:
    """How many bits each kind of number has after the point, and how large it may be.

    Parameters
    ----------
    weights, inputs, activations, deltas : int
        Public. Bits after the point.
    largest_weight, largest_input, largest_activation, largest_delta : float
        Public. Larger inputs are refused; the others are moved to these.

    Examples
    --------
    >>> Precision().most("weights")
    8192
    """

    weights: int = 11
    inputs: int = 8
    activations: int = 8
    deltas: int = 11
    largest_weight: float = 4.0
    largest_input: float = 1.0
    largest_activation: float = 16.0
    largest_delta: float = 4.0

    def __post_init__(self) -> None:
        for name in ("weights", "inputs", "activations", "deltas"):
            check_whole("precision", name, getattr(self, name), 0, 24)
            check_positive(
                "precision", f"largest_{name[:-1]}", getattr(self, f"largest_{name[:-1]}"), 2.0**-20, 2.0**20
            )

    def most(self, kind: str) -> int:
        """The largest absolute value, in steps."""
        return max(1, math.floor(math.ldexp(getattr(self, f"largest_{kind[:-1]}"), getattr(self, kind))))

    def steps(self, values: Numbers, kind: str) -> np.ndarray[Any, np.dtype[np.int64]]:
        """Rounded to steps, and moved into the range."""
        most = self.most(kind)
        return np.clip(np.rint(np.ldexp(values, getattr(self, kind))), -most, most).astype(np.int64)


@dataclass(frozen=True)
class GeluNet:
    """A network: the layers, the loss, and how numbers are rounded. No weights.

    Parameters
    ----------
    layers : tuple of DenseLayer or ConvolutionLayer
        Public. Each takes what the one before gives. The last has the activation "identity".
    loss : {"cross entropy", "squares"}
        Public. What training makes small: of the softmax of the outputs, or of their distance from targets.
    rate : float
        Public. What a gradient is multiplied by in a step.
    precision : Precision
        Public.

    Examples
    --------
    >>> net = GeluNet((DenseLayer(64, 32), DenseLayer(32, 10, "identity")))
    >>> net.weights, net.packing(0, "forward").width, net.packing(0, "forward", masked=True).width
    (2410, 29, 44)
    """

    layers: tuple[Layer, ...]
    loss: Loss = "cross entropy"
    rate: float = 0.2
    precision: Precision = field(default_factory=Precision)

    def __post_init__(self) -> None:
        object.__setattr__(self, "layers", tuple(self.layers))
        check_one_of(ASKED, "loss", self.loss, ("cross entropy", "squares"))
        check_positive(ASKED, "rate", self.rate)
        if not 1 <= len(self.layers) <= MOST_LAYERS or self.layers[-1].activation != "identity":
            remedy = f"Give 1 to {MOST_LAYERS} layers, the last with the activation 'identity'."
            raise ParameterError(ASKED, "its layers do not end with plain outputs", remedy)
        for one, other in zip(self.layers, self.layers[1:], strict=False):
            if one.outputs != other.inputs:
                obstacle = f"a layer gives {one.outputs} numbers and the next takes {other.inputs}"
                raise ParameterError(ASKED, obstacle, "Give layers that fit.")
        widest = max(self.packing(place, way, masked=True).width for place in range(len(self.layers)) for way in WAYS)
        if widest > WIDEST:
            remedy = f"Take fewer bits after the point, smaller ranges or layers: at most {WIDEST}."
            raise ParameterError(ASKED, f"slots under masks would have {widest} bits", remedy)

    @property
    def weights(self) -> int:
        """How many there are, with biases."""
        return sum((layer.fan_in + 1) * layer.channels for layer in self.layers)

    def kind(self, place: int, direction: Direction) -> str:
        """Which kind of number is encrypted."""
        if direction == "backward":
            return "deltas"
        return "activations" if place else "inputs"

    def columns(self, place: int, direction: Direction) -> int:
        """How many numbers of each record are encrypted."""
        layer = self.layers[place]
        return layer.inputs if direction == "forward" else layer.outputs

    def outputs(self, place: int, direction: Direction) -> int:
        """How many numbers of each record come back."""
        layer = self.layers[place]
        return layer.outputs if direction == "forward" else layer.inputs

    def packing(self, place: int, direction: Direction, *, masked: bool = False) -> Packing:
        """How numbers lie, with room for whatever weights there may be: nothing depends on those there are."""
        return self._packed(place, direction, 2 ** (self.mask_bits(place) - 1) if masked else None)

    def mask_bits(self, place: int) -> int:
        """The bits of masked weights: modulo two to these, whatever weights can give keeps its sign."""
        ways: tuple[Direction, ...] = ("forward", "backward") if place else ("forward",)
        return max(self._packed(place, way, None).width for way in ways)

    def exponent(self, place: int, direction: Direction) -> int:
        """What comes back is in steps of two to this."""
        return -self.precision.weights - int(getattr(self.precision, self.kind(place, direction)))

    def fresh(self, generator: Choices) -> list[Numbers]:
        """Weights to begin with, the bias of each column below it: normal, of variance 2 / inputs."""
        found = []
        for layer in self.layers:
            kernel = generator.normal(0.0, math.sqrt(2 / layer.fan_in), (layer.fan_in, layer.channels))
            found.append(np.vstack([kernel, np.zeros((1, layer.channels))]))
        return found

    def telling_slots(self, place: int) -> int:
        """From how many slots on the answers of a layer have as many bits as its weights; below, some stay unknown."""
        layer, bits = self.layers[place], (2 * self.precision.most("weights")).bit_length()
        return -(-(layer.fan_in + 1) * bits // (layer.uses * (self.packing(place, "forward").width)))

    def to_json(self) -> str:
        """The form in which it is agreed on."""
        layers = [
            {"kind": "dense" if isinstance(one, DenseLayer) else "convolution", **asdict(one)} for one in self.layers
        ]
        document = {"version": VERSION, "layers": layers, "loss": self.loss, "rate": self.rate}
        return json.dumps(document | {"precision": asdict(self.precision)}, sort_keys=True)

    @classmethod
    def from_json(cls, text: str | bytes) -> GeluNet:
        """The network of this form."""
        try:
            if len(text) > LONGEST:
                raise ValueError("it is too long")
            found = json.loads(text)
            if found["version"] != VERSION or set(found) != {"version", "layers", "loss", "rate", "precision"}:
                raise ValueError("it has another version")
            layers = tuple(_read_layer(dict(one)) for one in found["layers"])
            return cls(layers, found["loss"], found["rate"], Precision(**found["precision"]))
        except (ValueError, TypeError, KeyError, AttributeError, RecursionError, OverflowError) as why:
            raise Malformed(ASKED, "its layers cannot be read", "Give what was written.", UNOPENED) from why

    @cached_property
    def digest(self) -> str:
        """The network in 32 bytes, as hexadecimal digits."""
        return sha256(self.to_json().encode()).hexdigest()

    def _packed(self, place: int, direction: Direction, most_weight: int | None) -> Packing:
        layer, most = self.layers[place], self.precision.most(self.kind(place, direction))
        weight = most_weight or self.precision.most("weights")
        terms = layer.fan_in if direction == "forward" else layer.fan_out
        one = 2 ** getattr(self.precision, self.kind(place, direction)) if direction == "forward" else 0
        return Packing(-most, most, headroom=terms * weight + -(-weight * one // most))


def _read_layer(given: dict[str, Any]) -> Layer:
    kind = given.pop("kind")
    return {"dense": DenseLayer, "convolution": ConvolutionLayer}[kind](**given)
