"""The weights of a network as its server has them: in the clear, or under the masks of the client that trains them."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.gelu_net import Direction, GeluNet
from discreet.crypto.gelu_net.linear_cipher import Steps
from discreet.crypto.messages import framed, split

ASKED = "weights"
VERSION = b"discreet gelu weights 1"
GRADIENT = 20  # bits of a gradient after the point


def centred(steps: Steps, bits: int) -> Steps:
    """Modulo two to so many bits, between minus a half of it and a half.

    Examples
    --------
    >>> centred(np.array([7, 8, -9]), 4)
    array([ 7, -8,  7])
    """
    whole, half = 1 << bits, 1 << (bits - 1)
    return (steps + half) % whole - half


class ServerWeights(Held):
    """A matrix for each layer, of shape (fan_in + 1, channels): the last row has the biases.

    In the clear they are real numbers, rounded and cut to the range whenever they are used. Under masks they are whole
    numbers modulo a power of two, and only the client named in `masked_by` can read what they give.

    Parameters
    ----------
    net : GeluNet
        Public.
    values : sequence of array
        One for each layer.
    masked_by : str, optional
        Public. Under whose masks they are.
    """

    def __init__(self, net: GeluNet, values: Sequence[Numbers], masked_by: str = "") -> None:
        shapes = [(layer.fan_in + 1, layer.channels) for layer in net.layers]
        given: list[Any] = [np.array(one, dtype=np.int64 if masked_by else np.float64) for one in values]
        if [one.shape for one in given] != shapes or not all(np.isfinite(one).all() for one in given):
            raise ParameterError(ASKED, "their shapes are others, or some are not finite", f"Give shapes {shapes}.")
        self.net, self._values, self._masked_by = net, given, masked_by

    @property
    @exclusive
    def masked_by(self) -> str:
        """Under whose masks they are; empty where under nobody's."""
        return self._masked_by

    @exclusive
    def matrix(self, place: int, direction: Direction) -> Steps:
        """What the numbers of a layer, or its deltas, are multiplied by."""
        matrix = self.net.layers[place].spread(self._steps(place)[:-1])
        return matrix if direction == "forward" else np.ascontiguousarray(matrix.T)

    @exclusive
    def bias(self, place: int, direction: Direction) -> Steps:
        """What is added, in steps of the product."""
        if direction == "backward":
            return np.zeros(self.net.layers[place].inputs, dtype=np.int64)
        scale = 1 << getattr(self.net.precision, self.net.kind(place, direction))
        return self.net.layers[place].spread_bias(self._steps(place)[-1]) * scale

    def _steps(self, place: int) -> Steps:
        values = self._values[place]
        return values if self._masked_by else self.net.precision.steps(values, "weights")

    @exclusive
    def check_for(self, client: str, *, masked: bool) -> None:
        """Refuse a client to whom they mean nothing, or that would take the masks off by what it sends."""
        if self._masked_by and (client != self._masked_by or not masked):
            obstacle = f"they are under the masks of {self._masked_by!r}"
            raise NotPermitted(ASKED, obstacle, "Let that client go on, with its masks.", UNOPENED)

    @exclusive
    def move(self, gradients: Sequence[Steps]) -> None:
        """A step of descent, by gradients in steps of 2**-20."""
        for values, gradient in zip(self._values, gradients, strict=True):
            values -= self.net.rate * np.ldexp(gradient.astype(np.float64), -GRADIENT)

    @exclusive
    def add_masked(self, client: str, moves: Sequence[Steps]) -> None:
        """Add what a client sends, which is uniform, modulo a power of two."""
        if not self._masked_by:
            self._values = [self.net.precision.steps(one, "weights") for one in self._values]
            self._masked_by = client
        self._values = [
            centred(values + move, self.net.mask_bits(place))
            for place, (values, move) in enumerate(zip(self._values, moves, strict=True))
        ]

    @exclusive
    def copied_values(self) -> list[Numbers]:
        """The weights themselves, for their owner."""
        return [one.copy() for one in self._values]

    @exclusive
    def to_bytes(self) -> bytes:
        """The secret form, with a version: for its owner's file alone."""
        head = json.dumps({"net": self.net.to_json(), "masked_by": self._masked_by}).encode()
        kind = "<i8" if self._masked_by else "<f8"
        return framed(VERSION, head, b"".join(one.astype(kind).tobytes() for one in self._values))

    @classmethod
    def from_bytes(cls, data: bytes) -> ServerWeights:
        """The weights in these bytes."""
        version, head, body = split(data, 3)
        if version != VERSION:
            raise Malformed(ASKED, "they have another version, or are none", "Give what was written.", UNOPENED)
        try:
            found = json.loads(head)
            net, masked_by = GeluNet.from_json(found["net"]), str(found["masked_by"])
        except (ValueError, TypeError, KeyError) as why:
            raise Malformed(ASKED, "their network cannot be read", "Give what was written.", UNOPENED) from why
        return cls(net, arrays_in(body, net, "<i8" if masked_by else "<f8"), masked_by)

    def __repr__(self) -> str:
        return f"ServerWeights({self.net.weights} weights, secret)"


def arrays_in(body: bytes, net: GeluNet, kind: str) -> list[NDArray[Any]]:
    """An array for each layer from these bytes, which must be as many as there are weights."""
    size = np.dtype(kind).itemsize
    if len(body) != size * net.weights:
        obstacle = f"there are {len(body)} bytes and not {size * net.weights}"
        raise Malformed(ASKED, obstacle, "Send a number for each weight.", UNOPENED)
    found, place = [], 0
    for layer in net.layers:
        shape = layer.fan_in + 1, layer.channels
        found.append(np.frombuffer(body, kind, math.prod(shape), place).reshape(shape))
        place += size * math.prod(shape)
    return found
