"""How a client tells the server to move its weights, and what the server sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Literal, Protocol

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.gelu_net import Direction, GeluNet
from discreet.crypto.gelu_net.linear_cipher import Steps, exact_product
from discreet.crypto.gelu_net.server_weights import GRADIENT, Keep, arrays_in, bytes_of, centred, history_after
from discreet.crypto.messages import framed, split, text
from discreet.noise.system_bits import system_bits

UpdateKind = Literal["clear", "masked", "noisy"]
SEEN: dict[str, str] = {
    "clear": "the server sees the gradient of every batch in the clear: of one record, it is the record",
    "masked": "the server sees uniform numbers; its weights mean nothing without the client's masks",
    "noisy": "the server sees clipped gradients with noise, paid for from a ledger: the promise is its receipt",
}
"""What the server sees of each kind of update."""
MASKS = b"discreet gelu masks 1"
LARGEST = 2**31 - 1


class WeightUpdates(Protocol):
    """What a client does about updates."""

    kind: ClassVar[UpdateKind]

    def continued(self, history: str) -> None:
        """Go on from the updates under masks that the server's weights have had."""

    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        """What the weights alone would have given, in place of an answer under masks."""

    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        """What the server gets of the gradients of a batch, one for each layer."""


def gradient_bytes(gradients: Sequence[Numbers]) -> bytes:
    """Gradients in steps of 2**-20, four bytes each."""
    return bytes_of([np.clip(np.rint(np.ldexp(one, GRADIENT)), -LARGEST, LARGEST) for one in gradients], "<i4")


class ClearUpdates:
    """The gradient of each batch, in the clear."""

    kind: ClassVar[UpdateKind] = "clear"

    def continued(self, history: str) -> None:
        """There are no masks: a server refuses who comes without those of its weights."""

    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        return answer

    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        return gradient_bytes(gradients)


@dataclass(frozen=True)
class _Masks:
    """E after some updates, what steps have lost by rounding, and the name of these updates."""

    masks: list[Steps] = field(repr=False)
    left: list[Numbers] = field(repr=False)
    history: str = ""

    def fields(self) -> list[bytes]:
        return [self.history.encode(), bytes_of(self.masks, "<i8"), bytes_of(self.left, "<f8")]

    @classmethod
    def read(cls, net: GeluNet, history: bytes, masks: bytes, left: bytes) -> _Masks:
        return cls(arrays_in(masks, net, "<i8"), arrays_in(left, net, "<f8"), text(history))


class MaskedUpdates(Held):
    """Steps under fresh uniform masks: the server holds W + E, and the client E.

    The client takes E's part off whatever it decrypts, and keeps what steps lose by rounding for the next one. Nothing
    can be computed without E any more: who trains keeps it (`to_bytes`), with the E before, as nobody knows whether an
    update has arrived when a line breaks. The next session goes on with the one that the server's weights have.

    Parameters
    ----------
    net : GeluNet
        Public.
    bits : Bits, optional
        Where masks come from; the operating system's where not given.
    keep : callable, optional
        Given the secret form before each update is sent.
    """

    kind: ClassVar[UpdateKind] = "masked"

    def __init__(self, net: GeluNet, bits: Bits | None = None, keep: Keep = len) -> None:
        shapes = [(layer.fan_in + 1, layer.channels) for layer in net.layers]
        self.net, self._bits, self._keep = net, bits or system_bits(), keep
        self._now = _Masks([np.zeros(shape, dtype=np.int64) for shape in shapes], [np.zeros(shape) for shape in shapes])
        self._before = self._now

    @exclusive
    def continued(self, history: str) -> None:
        if history not in (self._now.history, self._before.history):
            obstacle = "the server's weights have had other updates than those of these masks"
            raise ParameterError("masks", obstacle, "Give the masks of their last update.", UNOPENED)
        if history != self._now.history:
            self._now = self._before

    @exclusive
    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        layer, masks = self.net.layers[place], self._now.masks[place]
        matrix, width = layer.spread(masks[:-1]), self.net.packing(place, direction, masked=True).width
        if direction == "forward":
            scale = 1 << getattr(self.net.precision, self.net.kind(place, direction))
            own = exact_product(given, matrix, width) + layer.spread_bias(masks[-1]) * scale
        else:
            own = exact_product(given, matrix.T, width)
        return centred(answer - own, self.net.mask_bits(place))

    @exclusive
    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        moves, masks, left = [], [], []
        for place, gradient in enumerate(gradients):
            step = self._now.left[place] - self.net.rate * np.ldexp(gradient, self.net.precision.weights)
            whole = np.rint(step)
            left.append(step - whole)
            bits = self.net.mask_bits(place)
            fresh = (self._bits.words(whole.size) >> np.uint64(64 - bits)).astype(np.int64).reshape(whole.shape)
            masks.append(centred(self._now.masks[place] + fresh, bits))
            moves.append((whole.astype(np.int64) + fresh) % (1 << bits))
        following = _Masks(masks, left, history_after(self._now.history, moves))
        self._keep(self._written(following, self._now))
        self._now, self._before = following, self._now
        return bytes_of(moves, "<i8")

    @exclusive
    def to_bytes(self) -> bytes:
        """The secret form: for its owner's file alone."""
        return self._written(self._now, self._before)

    def _written(self, now: _Masks, before: _Masks) -> bytes:
        return framed(MASKS, self.net.to_json().encode(), *now.fields(), *before.fields())

    @classmethod
    def from_bytes(cls, data: bytes, keep: Keep = len) -> MaskedUpdates:
        """The masks in these bytes."""
        version, net, *fields = split(data, 8)
        if version != MASKS:
            raise Malformed("masks", "they have another version, or are none", "Give what was written.", UNOPENED)
        found = cls(GeluNet.from_json(net), keep=keep)
        found._now, found._before = (_Masks.read(found.net, *fields[at : at + 3]) for at in (0, 3))
        return found

    def __repr__(self) -> str:
        return f"MaskedUpdates({self.net.weights} masks, secret)"


class NoisedUpdates(ClearUpdates):
    """Gradients that were clipped and noised, and paid for, before they come here; `trust.gelu_net` makes them."""

    kind: ClassVar[UpdateKind] = "noisy"


def updates_read(kind: UpdateKind, body: bytes, net: GeluNet) -> list[Steps]:
    """The numbers of an update, at the server."""
    if kind != "masked":
        return [one.astype(np.int64) for one in arrays_in(body, net, "<i4")]
    found = [one.astype(np.int64) for one in arrays_in(body, net, "<i8")]
    if any(one.min() < 0 or one.max() >> net.mask_bits(place) for place, one in enumerate(found)):
        raise Malformed("update", "a number is outside the masks", "Send numbers under masks.", UNOPENED)
    return found
