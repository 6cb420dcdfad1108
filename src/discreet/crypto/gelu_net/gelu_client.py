"""The side that has the data: seals them, applies activations, and computes every gradient itself."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from hashlib import sha256
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.bits import Bits
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.gelu_net.activation import Numbers
from discreet.crypto.gelu_net.gelu_loss import deltas_and_loss
from discreet.crypto.gelu_net.gelu_message import (
    ANSWER,
    HELLO,
    NONCE,
    OPEN,
    OPENED,
    PRODUCT,
    UPDATE,
    UPDATED,
    GeluBody,
    Traffic,
)
from discreet.crypto.gelu_net.gelu_net import Choices, Direction, GeluNet
from discreet.crypto.gelu_net.linear_cipher import Sealer, Steps
from discreet.crypto.gelu_net.updates import ClearUpdates, UpdateKind, WeightUpdates
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed, framed
from discreet.noise.system_bits import system_bits

ASKED = "encrypted network"
Line = Callable[[Signed], Signed]
Purpose = Literal["train", "predict"]


@dataclass(frozen=True)
class ForwardPass:
    """What went through the layers: what each took, what each gave before its activation."""

    taken: list[Numbers]
    given: list[Numbers]

    @property
    def outputs(self) -> Numbers:
        return self.given[-1]


class GeluClient(Held):
    """One session with a server.

    Parameters
    ----------
    net : GeluNet
        Public. What the client takes the server's network to be; another one is refused.
    identity : Identity
        Who asks.
    roster : Roster
        Public. The client and the server.
    server : str
        Public. Who answers.
    line : callable
        Takes a signed message and gives the server's.
    sealer : Sealer
        With a key of this session alone.
    updates : WeightUpdates, optional
        How the server learns to move its weights; in the clear where not given.
    purpose : {"train", "predict"}
        Public.
    bits : Bits, optional
        Where the nonce comes from; the operating system's where not given.
    """

    def __init__(
        self,
        net: GeluNet,
        identity: Identity,
        roster: Roster,
        server: str,
        line: Line,
        sealer: Sealer,
        updates: WeightUpdates | None = None,
        purpose: Purpose = "predict",
        bits: Bits | None = None,
    ) -> None:
        self.net, self.purpose, self.traffic = net, purpose, Traffic()
        self._identity, self._roster, self._server, self._line = identity, roster, server, line
        self._sealer, self._updates = sealer, updates or ClearUpdates()
        self._number, self._sent, self._session, self._unsure = 0, dict[bytes, int](), HELLO, False
        self._session, self.most_rows, self.left = self._opened(bits or system_bits())

    @property
    def update_kind(self) -> UpdateKind:
        """How the server learns to move its weights."""
        return self._updates.kind

    @exclusive
    def forward(self, inputs: ArrayLike) -> ForwardPass:
        """All that each layer takes and gives, for some records.

        Parameters
        ----------
        inputs : array of shape (records, inputs)
            The records; values outside the range of the precision are refused.
        """
        return self._passed(inputs, 0)

    def _passed(self, inputs: ArrayLike, part: int) -> ForwardPass:
        """The same, of one of the parts of a step."""
        steps, kind = self._checked(inputs), "inputs"
        taken, given = [], []
        for place, layer in enumerate(self.net.layers):
            taken.append(np.ldexp(steps.astype(np.float64), -getattr(self.net.precision, kind)))
            given.append(self._product(place, "forward", steps, part))
            kind = "activations"
            steps = self.net.precision.steps(layer.applied.of(given[-1]), kind)
        return ForwardPass(taken, given)

    @exclusive
    def outputs(self, inputs: ArrayLike) -> Numbers:
        """What the last layer gives, batch by batch."""
        given = np.asarray(inputs)
        parts = [self.forward(given[at : at + self.most_rows]).outputs for at in range(0, len(given), self.most_rows)]
        return np.concatenate(parts) if parts else np.empty((0, self.net.layers[-1].outputs))

    @exclusive
    def predict(self, inputs: ArrayLike) -> NDArray[np.int64]:
        """The class of each record."""
        return self.outputs(inputs).argmax(axis=1)

    @exclusive
    def step(self, inputs: ArrayLike, targets: ArrayLike) -> float:
        """Train on one batch; gives its loss.

        Parameters
        ----------
        inputs : array of shape (records, inputs)
            The records.
        targets : array
            The class of each, or with squared errors what each output should be.
        """
        if self._updates.kind == "noisy":
            remedy = "Let `NoisyTraining` ask them of private data: a step would send what nobody has paid for."
            raise NotPermitted(ASKED, "updates are noisy", remedy)
        passed = self.forward(inputs)
        deltas, loss = deltas_and_loss(self.net, passed.outputs, targets)
        gradients = []
        for place, own in zip(range(len(self.net.layers) - 1, -1, -1), self._deltas(passed, deltas), strict=True):
            found = self.net.layers[place].gradient(passed.taken[place], own)
            gradients.append(np.vstack([found.kernel, found.bias[None]]) / len(own))
        self.update(gradients[::-1])
        return loss

    @exclusive
    def fit(self, inputs: ArrayLike, targets: ArrayLike, epochs: int, batch: int, generator: Choices) -> list[float]:
        """Train on batches that stay the same, so that the first layer's numbers are sent once; gives mean losses.

        Records beyond the last full batch are left out, others in each order of the generator.
        """
        given, wanted = np.asarray(inputs), np.asarray(targets)
        order = generator.permutation(len(given))
        batches = [order[at : at + batch] for at in range(0, len(order) - batch + 1, batch)]
        if not batches:
            raise ParameterError(ASKED, f"{len(given)} records are less than a batch of {batch}", "Take smaller ones.")
        losses = []
        for _ in range(epochs):
            chosen = generator.permutation(len(batches))
            losses.append(float(np.mean([self.step(given[batches[one]], wanted[batches[one]]) for one in chosen])))
        return losses

    @exclusive
    def record_gradients(self, inputs: ArrayLike, targets: ArrayLike, part: int = 0) -> Numbers:
        """The gradient of each record, all layers in a row: secret, for whoever clips and adds noise.

        Parameters
        ----------
        inputs, targets : array
            Of the records.
        part : int
            Public. Which part of its step this is. It is not sent again where it is that of an earlier step; and as
            other parts are not looked at, the server is not told which of them have the same records.
        """
        passed = self._passed(inputs, part)
        deltas, _ = deltas_and_loss(self.net, passed.outputs, targets)
        places = range(len(self.net.layers) - 1, -1, -1)
        found = [
            self.net.layers[place].gradients(passed.taken[place], own)
            for place, own in zip(places, self._deltas(passed, deltas), strict=True)
        ]
        return np.concatenate(found[::-1], axis=1)

    @exclusive
    def update(self, gradients: list[Numbers]) -> None:
        """Tell the server to move its weights by these gradients, in the way of this session."""
        body = GeluBody({"number": self._number}, self._updates.sent(gradients))
        try:
            self._asked(UPDATE, body, UPDATED)
        except BaseException:
            self._unsure = self._updates.kind == "masked"
            raise

    def _deltas(self, passed: ForwardPass, deltas: Numbers) -> Iterator[Numbers]:
        """How the loss grows with what each layer gives, from the last to the first."""
        for place in range(len(self.net.layers) - 1, -1, -1):
            yield deltas
            if place:
                back = self._product(place, "backward", self.net.precision.steps(deltas, "deltas"))
                deltas = back * self.net.layers[place - 1].applied.slope(passed.given[place - 1])

    def _checked(self, inputs: ArrayLike) -> Steps:
        """Inputs in steps."""
        given, wanted = np.asarray(inputs, dtype=np.float64), self.net.layers[0].inputs
        if given.ndim != 2 or given.shape[1] != wanted or not 1 <= len(given) <= self.most_rows:
            remedy = f"Give 1 to {self.most_rows} records of {wanted} numbers."
            raise ParameterError(ASKED, f"the shape is {given.shape}", remedy, "Nothing was sent.")
        most = self.net.precision.largest_input
        if not (np.abs(given) <= most).all():
            remedy = f"Give numbers from {-most:g} to {most:g}."
            raise ParameterError(ASKED, "a number is outside the range, or none", remedy, "Nothing was sent.")
        return self.net.precision.steps(given, "inputs")

    def _product(self, place: int, direction: Direction, steps: Steps, part: int = 0) -> Numbers:
        """What the weights give, as real numbers."""
        packing = self.net.packing(place, direction, masked=self._updates.kind == "masked")
        first = place == 0 and direction == "forward" and self.purpose == "train"
        about = sha256(repr((part, steps.shape)).encode() + steps.tobytes()).digest() if first else b""
        again = first and about in self._sent
        batch = self._sent.get(about, len(self._sent)) if first else 0
        facts = {"number": self._number, "place": place, "direction": direction, "rows": len(steps)}
        facts |= {"batch": batch, "sent": int(not again)}
        payload = b"" if again else self._sealer.sealed(steps, packing)
        answer, kept = self._asked(PRODUCT, GeluBody(facts, payload), ANSWER)
        if first and kept:
            self._sent[about] = batch
        found = self._sealer.opened(answer, packing, (len(steps), self.net.outputs(place, direction)))
        plain = self._updates.without_masks(place, direction, steps, found)
        return np.ldexp(plain.astype(np.float64), self.net.exponent(place, direction))

    def _opened(self, bits: Bits) -> tuple[str, int, int]:
        """The name of the session, how many records a message may have, and how many slots may be asked."""
        nonce = bits.integer(8 * NONCE).to_bytes(NONCE, "big").hex()
        facts = {"purpose": self.purpose, "update": self._updates.kind, "cipher": self._sealer.cipher, "nonce": nonce}
        opening = GeluBody(facts, framed(*self._sealer.opening()))
        message = self._exchanged(OPEN, opening, OPENED)
        try:
            kinds = {"nonce": str, "fresh": str, "net": str, "rows": int, "left": int, "history": str}
            found = GeluBody.from_bytes(message.body, **kinds).facts
            fresh = bytes.fromhex(found["fresh"])
        except ValueError as why:
            raise Malformed(ASKED, "the session cannot be read", "Open another.", UNOPENED) from why
        if found["nonce"] != nonce or GeluNet.from_json(found["net"]) != self.net or not 1 <= found["rows"] <= 2**16:
            remedy = "Ask for the network that the server has, and open another session."
            raise Malformed(ASKED, "the server has another network, or answers another session", remedy, UNOPENED)
        self._updates.continued(found["history"])
        return sha256(framed(nonce.encode(), fresh)).hexdigest(), found["rows"], found["left"]

    def _asked(self, kind: str, body: GeluBody, due: str) -> tuple[bytes, bool]:
        """What the server says to this, which must be the answer to it; and whether it has kept what was sent."""
        if self._unsure:
            obstacle = "nobody has said whether the server has the last update, so the masks may be ahead"
            raise OutOfOrder(ASKED, obstacle, "Open another session with these masks.", UNOPENED)
        message = self._exchanged(kind, body, due)
        found = GeluBody.from_bytes(message.body, number=int, kept=int)
        if found.facts["number"] != self._number:
            raise Malformed(ASKED, "it answers something else", "Open another session.", UNOPENED)
        self._number += 1
        return found.payload, bool(found.facts["kept"])

    def _exchanged(self, kind: str, body: GeluBody, due: str) -> Message:
        said = Message(self._session, self._identity.name, kind, body.to_bytes()).signed(self._identity)
        heard = self._line(said)
        self.traffic.sent += len(said.to_bytes())
        self.traffic.received += len(heard.to_bytes())
        self.traffic.messages += 1
        message = Signed(self._server, heard.written, heard.signature).verified(self._roster)
        if (message.round, message.kind) != (self._session, due):
            raise Malformed(ASKED, "the server says something else", "Open another session.", UNOPENED)
        return message

    def __repr__(self) -> str:
        return f"GeluClient({self._identity.name!r}, {self.purpose}, {self._sealer.cipher})"
