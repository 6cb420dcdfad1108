"""What a run of an encrypted network will cost, before anything is sealed."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.checks import check_whole
from discreet.crypto.gelu_net.gelu_net import Direction, GeluNet
from discreet.crypto.gelu_net.updates import UpdateKind
from discreet.crypto.paillier.big_integers import big
from discreet.crypto.paillier.packing import Packing
from discreet.crypto.paillier.public_key import PublicKey, Randomness
from discreet.crypto.paillier.work_plan import (
    SQUARINGS,
    WorkPlan,
    plan_decryption,
    plan_encryption,
    plan_product,
    product_seconds,
)

ASKED = "plan"
NUMBER = {"clear": 4, "masked": 8, "noisy": 4}  # bytes of each weight in an update


@dataclass(frozen=True)
class GeluPlan:
    """A run, counted beforehand; seconds of one core of this machine, right within a factor of about two.

    Parameters
    ----------
    sent, received : int
        Public. How many ciphertexts the client sends and receives.
    bytes : int
        Public. Of these, and of updates.
    client_seconds, server_seconds : float
        Public. What each side computes on encrypted numbers.
    slots : int
        Public. How many slots of each layer are asked for predictions; none in training.
    """

    sent: int
    received: int
    bytes: int
    client_seconds: float
    server_seconds: float
    slots: int

    def __str__(self) -> str:
        return (
            f"{self.sent} ciphertexts are sent and {self.received} received, {self.bytes / 1e6:.3g} MB in all;"
            f" {self.client_seconds:.2g} s at the client and {self.server_seconds:.2g} s at the server"
        )


def plan_training(
    net: GeluNet,
    records: int,
    batch: int,
    epochs: int,
    update: UpdateKind = "masked",
    key_bits: int = 2048,
    randomness: Randomness = "short",
) -> GeluPlan:
    """What training on batches that stay the same costs.

    Parameters
    ----------
    net : GeluNet
        Public.
    records, batch, epochs : int
        Public. How many records there are, in each batch, and how often all come.
    update : {"clear", "masked", "noisy"}
        Public.
    key_bits, randomness
        Public. Of the client's key.

    Examples
    --------
    >>> from discreet.crypto.gelu_net.layers import DenseLayer
    >>> net = GeluNet((DenseLayer(64, 32), DenseLayer(32, 10, "identity")))
    >>> plan = plan_training(net, records=56, batch=56, epochs=1, update="clear")
    >>> plan.sent, plan.received
    (106, 74)
    """
    for name, number in (("records", records), ("batch", batch), ("epochs", epochs)):
        check_whole(ASKED, name, number)
    key, batches = _sized(key_bits, randomness), records // batch
    found = _Sum()
    for place in range(len(net.layers)):
        found.add(
            net, key, place, "forward", batch, update, times=batches * epochs, seals=batches if place == 0 else None
        )
        if place:
            found.add(net, key, place, "backward", batch, update, times=batches * epochs)
    moved = NUMBER[update] * net.weights * batches * epochs
    return found.plan(moved, slots=0)


def plan_prediction(
    net: GeluNet, records: int, update: UpdateKind = "clear", key_bits: int = 2048, randomness: Randomness = "short"
) -> GeluPlan:
    """What predictions for so many records cost."""
    check_whole(ASKED, "records", records)
    key, found = _sized(key_bits, randomness), _Sum()
    for place in range(len(net.layers)):
        found.add(net, key, place, "forward", records, update, strict=True)
    return found.plan(0, slots=records)


class _Sum:
    """Parts of a run, added up; made, used and dropped within one plan."""

    def __init__(self) -> None:
        self._sent, self._received = WorkPlan(0, 0, 0.0), WorkPlan(0, 0, 0.0)
        self._client = self._server = 0.0

    def add(
        self,
        net: GeluNet,
        key: PublicKey,
        place: int,
        direction: Direction,
        rows: int,
        update: UpdateKind,
        *,
        times: int = 1,
        seals: int | None = None,
        strict: bool = False,
    ) -> None:
        """A product that is asked so often, of numbers that are sealed each time or fewer times."""
        masked, columns, outputs = update == "masked", net.columns(place, direction), net.outputs(place, direction)
        packing = net.packing(place, direction, masked=masked)
        bits = net.mask_bits(place) if masked else net.precision.most("weights").bit_length()
        sealing = plan_encryption(key, (rows, columns), packing)
        product = plan_product(key, (rows, columns), outputs, bits, packing)
        opening = plan_decryption(key, (rows, outputs), packing)
        seals = times if seals is None else seals
        self._sent, self._received = _plus(self._sent, sealing, seals), _plus(self._received, opening, times)
        self._client += seals * sealing.seconds + times * opening.seconds
        self._server += times * (product.seconds + _refreshing(key, (rows, outputs), packing, strict))

    def plan(self, moved: int, slots: int) -> GeluPlan:
        """All parts together."""
        both = self._sent.bytes + self._received.bytes + moved
        return GeluPlan(self._sent.ciphertexts, self._received.ciphertexts, both, self._client, self._server, slots)


def _refreshing(key: PublicKey, shape: tuple[int, int], packing: Packing, strict: bool) -> float:
    """The seconds of fresh zeros for an answer: powers of a base, or uniform."""
    plain = plan_encryption(key, shape, packing)
    if not strict:
        return plain.seconds
    return plain.ciphertexts * SQUARINGS * key.key_bits * product_seconds(key.key_bits)


def _plus(one: WorkPlan, other: WorkPlan, times: int) -> WorkPlan:
    bytes, seconds = one.bytes + times * other.bytes, one.seconds + times * other.seconds
    return WorkPlan(one.ciphertexts + times * other.ciphertexts, bytes, seconds)


def _sized(key_bits: int, randomness: Randomness) -> PublicKey:
    """A key of this size that nobody uses: sizes and times are all that is asked of it."""
    return PublicKey((big(1) << (key_bits - 1)) + 1, big(2), randomness)
