"""The weights of a network as its server has them: in the clear, or under the masks of the client that trains them."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Sequence
from hashlib import sha256
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
Keep = Callable[[bytes], object]


def history_after(history: str, moves: Sequence[Steps]) -> str:
    """The name of all updates under masks so far, once this one has followed: both sides compute it."""
    return sha256(framed(history.encode(), bytes_of(moves, "<i8"))).hexdigest()


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

    A change is kept before it is in force: after a crash a file has what was answered, or the update after that.

    Parameters
    ----------
    net : GeluNet
        Public.
    values : sequence of array
        One for each layer.
    masked_by : str, optional
        Public. Under whose masks they are.
    history : str
        Public. What updates under masks they have had; empty for none.
    keep : callable, optional
        Given the secret form with every change, before it is in force.
    """

    def __init__(
        self, net: GeluNet, values: Sequence[Numbers], masked_by: str = "", history: str = "", keep: Keep = len
    ) -> None:
        shapes = [(layer.fan_in + 1, layer.channels) for layer in net.layers]
        given: list[Any] = [np.array(one, dtype=np.int64 if masked_by else np.float64) for one in values]
        if [one.shape for one in given] != shapes or not all(np.isfinite(one).all() for one in given):
            raise ParameterError(ASKED, "their shapes are others, or some are not finite", f"Give shapes {shapes}.")
        self.net, self._values, self._masked_by, self._history, self._keep = net, given, masked_by, history, keep

    @property
    @exclusive
    def masked_by(self) -> str:
        """Under whose masks they are; empty where under nobody's."""
        return self._masked_by

    @property
    @exclusive
    def history(self) -> str:
        """What updates under masks they have had."""
        return self._history

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
        steps = [self.net.rate * np.ldexp(one.astype(np.float64), -GRADIENT) for one in gradients]
        moved = [values - step for values, step in zip(self._values, steps, strict=True)]
        self._keep(self._written(moved, "", ""))
        self._values = moved

    @exclusive
    def add_masked(self, client: str, moves: Sequence[Steps]) -> None:
        """Add what a client sends, which is uniform, modulo a power of two."""
        before = [self._steps(place) for place in range(len(self._values))]
        moved = [
            centred(values + move, self.net.mask_bits(place))
            for place, (values, move) in enumerate(zip(before, moves, strict=True))
        ]
        history = history_after(self._history, moves)
        self._keep(self._written(moved, client, history))
        self._values, self._masked_by, self._history = moved, client, history

    @exclusive
    def copied_values(self) -> list[Numbers]:
        """The weights themselves, for their owner."""
        return [one.copy() for one in self._values]

    @exclusive
    def to_bytes(self) -> bytes:
        """The secret form, with a version: for its owner's file alone."""
        return self._written(self._values, self._masked_by, self._history)

    def _written(self, values: Sequence[Numbers], masked_by: str, history: str) -> bytes:
        head = json.dumps({"net": self.net.to_json(), "masked_by": masked_by, "history": history}).encode()
        return framed(VERSION, head, bytes_of(values, "<i8" if masked_by else "<f8"))

    @classmethod
    def from_bytes(cls, data: bytes, keep: Keep = len) -> ServerWeights:
        """The weights in these bytes."""
        version, head, body = split(data, 3)
        if version != VERSION:
            raise Malformed(ASKED, "they have another version, or are none", "Give what was written.", UNOPENED)
        try:
            found = json.loads(head)
            net, masked_by, history = GeluNet.from_json(found["net"]), str(found["masked_by"]), str(found["history"])
        except (ValueError, TypeError, KeyError) as why:
            raise Malformed(ASKED, "their network cannot be read", "Give what was written.", UNOPENED) from why
        return cls(net, arrays_in(body, net, "<i8" if masked_by else "<f8"), masked_by, history, keep)

    def __repr__(self) -> str:
        return f"ServerWeights({self.net.weights} weights, secret)"


def bytes_of(arrays: Sequence[NDArray[Any]], kind: str) -> bytes:
    """Arrays, one for each layer, as bytes."""
    return b"".join(one.astype(kind).tobytes() for one in arrays)


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
