"""The side that has the weights: multiplies what it cannot read, counts what is asked, and moves weights."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Any

from discreet.core.bits import Bits
from discreet.core.checks import check_whole
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.gelu_net.ciphers import products_of
from discreet.crypto.gelu_net.gelu_message import (
    ANSWER,
    HELLO,
    LONGEST_HEAD,
    NONCE,
    OPEN,
    OPENED,
    REFUSAL,
    UPDATED,
    GeluBody,
)
from discreet.crypto.gelu_net.gelu_net import WAYS, Direction, GeluNet
from discreet.crypto.gelu_net.linear_cipher import SealedProducts
from discreet.crypto.gelu_net.server_weights import ServerWeights
from discreet.crypto.gelu_net.slot_allowance import SlotAllowance
from discreet.crypto.gelu_net.updates import SEEN, UpdateKind, updates_read
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed, framed, unframed
from discreet.noise.system_bits import system_bits

ASKED = "encrypted network"
MOST_ROWS = 4096  # records of a message
MOST_BATCHES = 4096  # that are kept in a session; others are sent again
MOST_KEPT = 1 << 29  # bytes of them
MOST_LEFT = 2**31 - 1  # slots that are told


@dataclass
class _Session:
    """A client that has opened one, and what it has sent so far."""

    name: str
    client: str
    training: bool
    update: UpdateKind
    products: SealedProducts
    due: int = 0
    kept: dict[int, tuple[int, Any]] = field(default_factory=dict, repr=False)
    kept_bytes: int = 0

    @property
    def masked(self) -> bool:
        return self.update == "masked"


class GeluServer(Held):
    """Answers clients that are on its roster. Each has one session, with a key of its own.

    A session is for training or for predictions. Predictions are answers to records that were encrypted, and are
    counted; a client that trains asks as often as it likes, and learns the weights (see `disclosures`). What is
    refused leaves the session as it was.

    Parameters
    ----------
    weights : ServerWeights
        The weights.
    identity : Identity
        Whose answers they are.
    roster : Roster
        Public. Who may ask, and the server itself.
    allowance : SlotAllowance
        What clients may ask for predictions.
    trainers : iterable of str
        Public. Who may train.
    ciphers : iterable of str
        Public. What linear parts may be sealed by: "paillier"; for tests "plain", and "ring" as an experiment.
    most_rows : int
        Public. How many records a message may have.
    bits : Bits, optional
        Where names of sessions come from; the operating system's where not given.
    """

    def __init__(
        self,
        weights: ServerWeights,
        identity: Identity,
        roster: Roster,
        *,
        allowance: SlotAllowance,
        trainers: Iterable[str] = (),
        ciphers: Iterable[str] = ("paillier",),
        most_rows: int = MOST_ROWS,
        bits: Bits | None = None,
    ) -> None:
        check_whole(ASKED, "most_rows", most_rows, 1, 2**16)
        self.net: GeluNet = weights.net
        self.weights, self.allowance, self.most_rows = weights, allowance, most_rows
        self.trainers, self.ciphers = frozenset(trainers), frozenset(ciphers)
        self.identity, self.roster = identity, roster
        roster.check_lists(identity.name)
        self._bits = bits or system_bits()
        self._sessions: dict[str, _Session] = {}

    @property
    def most_bytes(self) -> int:
        """The longest message that a client has a reason to send."""
        columns = [self.net.columns(place, way) for place in range(len(self.net.layers)) for way in WAYS]
        return max(columns) * (32 * self.most_rows + 2048) + 8 * self.net.weights + 4 * LONGEST_HEAD

    @exclusive
    def answer(self, signed: Signed) -> Signed:
        """What is said to a message of a client, or the reason why nothing is.

        Raises
        ------
        ProtocolError
            It is not signed, of another session, out of order, or not what it should be.
        NotPermitted
            The client may not train, or has asked as much as it may.
        """
        message = signed.verified(self.roster)
        if message.sender == self.identity.name:
            raise Malformed(ASKED, "the server asks itself", "Ask in another name.", UNOPENED)
        if (message.round, message.kind) == (HELLO, OPEN):
            return self._opened(message)
        session = self._sessions.get(message.sender)
        if session is None or session.name != message.round:
            raise OutOfOrder(ASKED, "there is no such session, or no longer", "Open one.", UNOPENED)
        match message.kind:
            case "product":
                return self._product(session, message)
            case "update":
                return self._updated(session, message)
        raise Malformed(ASKED, f"there is no {message.kind[:20]!r}", "Ask for a product or an update.", UNOPENED)

    @exclusive
    def end(self, client: str) -> None:
        """Forget the session of a client, and all that it has sent."""
        self._sessions.pop(client, None)

    def _opened(self, message: Message) -> Signed:
        body = GeluBody.from_bytes(message.body, purpose=str, update=str, cipher=str, nonce=str)
        purpose, update, cipher, nonce = (body.facts[name] for name in ("purpose", "update", "cipher", "nonce"))
        training = purpose == "train"
        if purpose not in ("train", "predict") or update not in SEEN or len(nonce) != 2 * NONCE:
            raise Malformed(ASKED, "its purpose, update or nonce cannot be", "Open another session.", UNOPENED)
        if cipher not in self.ciphers:
            known = ", ".join(sorted(self.ciphers))
            raise NotPermitted(ASKED, f"it does not compute under {cipher[:20]!r}", f"Take {known}.", UNOPENED)
        if training and message.sender not in self.trainers:
            raise NotPermitted(ASKED, f"{message.sender!r} may not train", "Ask for predictions.", UNOPENED)
        self.weights.check_for(message.sender, masked=update == "masked")
        if update == "masked" and not training and not self.weights.masked_by:
            obstacle = "there are no masks, and slots that are as wide as masks would tell more"
            raise NotPermitted(ASKED, obstacle, "Ask with clear updates.", UNOPENED)
        if update == "masked" and cipher == "ring":
            raise NotPermitted(ASKED, "the ring has no room for masks", "Take Paillier, or clear updates.", UNOPENED)
        if cipher == "ring" and not training:
            obstacle = "an answer on the ring shows all weights of its layer, however few slots are asked"
            raise NotPermitted(ASKED, obstacle, "Take Paillier.", UNOPENED)
        products = products_of(cipher, unframed(body.payload), self.net, strict=not training)
        fresh = self._bits.integer(8 * NONCE).to_bytes(NONCE, "big")
        name = sha256(framed(nonce.encode(), fresh)).hexdigest()
        self._sessions[message.sender] = _Session(name, message.sender, training, update, products)
        facts: dict[str, Any] = {"nonce": nonce, "fresh": fresh.hex(), "net": self.net.to_json()}
        facts |= {"rows": self.most_rows, "history": self.weights.history}
        facts["left"] = MOST_LEFT if training else min(self.allowance.left(message.sender), MOST_LEFT)
        return self._said(HELLO, OPENED, GeluBody(facts))

    def _product(self, session: _Session, message: Message) -> Signed:
        body = GeluBody.from_bytes(message.body, number=int, place=int, direction=str, rows=int, batch=int, sent=int)
        facts = body.facts
        place, direction, rows = facts["place"], facts["direction"], facts["rows"]
        _check_due(session, facts["number"])
        if place >= len(self.net.layers) or direction not in WAYS or (direction == "backward" and not place):
            raise Malformed(ASKED, "there is no such product", "Ask for one that the network has.", UNOPENED)
        if not 1 <= rows <= self.most_rows:
            raise Malformed(ASKED, f"it has {rows} records", f"Send 1 to {self.most_rows}.", UNOPENED)
        if direction == "backward" and not session.training:
            raise NotPermitted(ASKED, "deltas are for training", "Ask for predictions alone.", UNOPENED)
        self.weights.check_for(session.client, masked=session.masked)
        given = self._given(session, place, direction, facts, body.payload)
        if not session.training:
            self.allowance.spend(session.client, place, rows)
        packing = self.net.packing(place, direction, masked=session.masked)
        matrix, bias = self.weights.matrix(place, direction), self.weights.bias(place, direction)
        answer = session.products.answer(given, matrix, bias, packing)
        session.due += 1
        there = int(session.training and facts["batch"] in session.kept)
        return self._said(session.name, ANSWER, GeluBody({"number": facts["number"], "kept": there}, answer))

    def _given(self, session: _Session, place: int, direction: Direction, facts: dict[str, int], payload: bytes) -> Any:
        """The sealed numbers: those that come, or those of a batch that was sent before."""
        rows, batch, kept = facts["rows"], facts["batch"], session.kept
        if not facts["sent"]:
            if payload or place or direction != "forward" or kept.get(batch, (0, None))[0] != rows:
                raise Malformed(ASKED, "no such batch was sent", "Send it.", UNOPENED)
            return kept[batch][1]
        shape = rows, self.net.columns(place, direction)
        packing = self.net.packing(place, direction, masked=session.masked)
        given = session.products.read(payload, shape, packing)
        first = session.training and place == 0 and direction == "forward" and batch not in kept
        if first and session.kept_bytes + len(payload) <= MOST_KEPT and len(kept) < MOST_BATCHES:
            kept[batch] = rows, given
            session.kept_bytes += len(payload)
        return given

    def _updated(self, session: _Session, message: Message) -> Signed:
        body = GeluBody.from_bytes(message.body, number=int)
        _check_due(session, body.facts["number"])
        if not session.training:
            raise NotPermitted(ASKED, "updates are for training", "Ask for predictions alone.", UNOPENED)
        moves = updates_read(session.update, body.payload, self.net)
        self.weights.check_for(session.client, masked=session.masked)
        if session.masked:
            self.weights.add_masked(session.client, moves)
        else:
            self.weights.move(moves)
        session.due += 1
        return self._said(session.name, UPDATED, GeluBody({"number": body.facts["number"], "kept": 0}))

    def _said(self, round: str, kind: str, body: GeluBody) -> Signed:
        return Message(round, self.identity.name, kind, body.to_bytes()).signed(self.identity)

    def refusal(self, round: str, why: DiscreetError) -> Signed:
        """Why nothing is answered, in words that follow from public facts."""
        words = GeluBody({"words": str(why)[:1000], "refused": type(why).__name__})
        return self._said(round, REFUSAL, words)

    def __repr__(self) -> str:
        return f"GeluServer({self.identity.name!r}, {self.weights!r})"


def _check_due(session: _Session, number: int) -> None:
    """Refuse what was said before, and what is not next."""
    if number != session.due:
        raise OutOfOrder(ASKED, f"number {session.due} is due, and not {number}", "Go on in order.", UNOPENED)
