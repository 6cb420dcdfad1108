"""How a client tells the server to move its weights, and what the server sees of it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar, Literal, Protocol

import numpy as np

from discreet.core.bits import Bits
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.gelu_net import Direction, GeluNet
from discreet.crypto.gelu_net.linear_cipher import Steps, exact_product
from discreet.crypto.gelu_net.server_weights import GRADIENT, arrays_in, centred
from discreet.crypto.messages import framed, split
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

    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        """What the weights alone would have given, in place of an answer under masks."""

    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        """What the server gets of the gradients of a batch, one for each layer."""


def gradient_bytes(gradients: Sequence[Numbers]) -> bytes:
    """Gradients in steps of 2**-20, four bytes each."""
    steps = [np.clip(np.rint(np.ldexp(one, GRADIENT)), -LARGEST, LARGEST) for one in gradients]
    return b"".join(one.astype("<i4").tobytes() for one in steps)


class ClearUpdates:
    """The gradient of each batch, in the clear."""

    kind: ClassVar[UpdateKind] = "clear"

    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        return answer

    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        return gradient_bytes(gradients)


class MaskedUpdates(Held):
    """Steps under fresh uniform masks: the server holds W + E, and the client E.

    The client takes E's part off whatever it decrypts, and keeps what steps lose by rounding for the next one. Nothing
    can be computed without E any more: who trains keeps it (`to_bytes`).

    Parameters
    ----------
    net : GeluNet
        Public.
    bits : Bits, optional
        Where masks come from; the operating system's where not given.
    """

    kind: ClassVar[UpdateKind] = "masked"

    def __init__(self, net: GeluNet, bits: Bits | None = None) -> None:
        shapes = [(layer.fan_in + 1, layer.channels) for layer in net.layers]
        self.net, self._bits = net, bits or system_bits()
        self._masks: list[Steps] = [np.zeros(shape, dtype=np.int64) for shape in shapes]
        self._left = [np.zeros(shape) for shape in shapes]

    @exclusive
    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        layer, masks = self.net.layers[place], self._masks[place]
        matrix, width = layer.spread(masks[:-1]), self.net.packing(place, direction, masked=True).width
        if direction == "forward":
            scale = 1 << getattr(self.net.precision, self.net.kind(place, direction))
            own = exact_product(given, matrix, width) + layer.spread_bias(masks[-1]) * scale
        else:
            own = exact_product(given, matrix.T, width)
        return centred(answer - own, self.net.mask_bits(place))

    @exclusive
    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        found = []
        for place, gradient in enumerate(gradients):
            step = self._left[place] - self.net.rate * np.ldexp(gradient, self.net.precision.weights)
            whole = np.rint(step)
            self._left[place] = step - whole
            bits = self.net.mask_bits(place)
            fresh = (self._bits.words(whole.size) >> np.uint64(64 - bits)).astype(np.int64).reshape(whole.shape)
            self._masks[place] = centred(self._masks[place] + fresh, bits)
            found.append(((whole.astype(np.int64) + fresh) % (1 << bits)).astype("<i8").tobytes())
        return b"".join(found)

    @exclusive
    def to_bytes(self) -> bytes:
        """The secret form: for its owner's file alone."""
        parts = ([one.astype("<i8") for one in self._masks], [one.astype("<f8") for one in self._left])
        return framed(MASKS, self.net.to_json().encode(), *(b"".join(a.tobytes() for a in arrays) for arrays in parts))

    @classmethod
    def from_bytes(cls, data: bytes) -> MaskedUpdates:
        """The masks in these bytes."""
        version, net, masks, left = split(data, 4)
        if version != MASKS:
            raise Malformed("masks", "they have another version, or are none", "Give what was written.", UNOPENED)
        found = cls(GeluNet.from_json(net))
        found._masks = [one.astype(np.int64) for one in arrays_in(masks, found.net, "<i8")]
        found._left = [one.astype(np.float64) for one in arrays_in(left, found.net, "<f8")]
        return found

    def __repr__(self) -> str:
        return f"MaskedUpdates({self.net.weights} masks, secret)"


class NoisedUpdates:
    """Gradients that were clipped and noised, and paid for, before they come here; `trust.gelu_net` makes them."""

    kind: ClassVar[UpdateKind] = "noisy"

    def without_masks(self, place: int, direction: Direction, given: Steps, answer: Steps) -> Steps:
        return answer

    def sent(self, gradients: Sequence[Numbers]) -> bytes:
        return gradient_bytes(gradients)


def updates_read(kind: UpdateKind, body: bytes, net: GeluNet) -> list[Steps]:
    """The numbers of an update, at the server."""
    if kind != "masked":
        return [one.astype(np.int64) for one in arrays_in(body, net, "<i4")]
    found = [one.astype(np.int64) for one in arrays_in(body, net, "<i8")]
    if any(one.min() < 0 or one.max() >> net.mask_bits(place) for place, one in enumerate(found)):
        raise Malformed("update", "a number is outside the masks", "Send numbers under masks.", UNOPENED)
    return found
