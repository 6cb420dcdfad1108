"""One party of a sum in verified shares (`odo.py` states the protocol)."""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.crypto.errors import UNOPENED, Disagreement, Malformed, OutOfOrder, ProtocolError, UnknownParty
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, ReplayGuard, Signed, framed, labelled, listed, split, unlabelled
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.proceedings import ANSWERED, Header, Proceedings
from discreet.crypto.odo.share_dealing import HeldShares, ShareDealing, degrees_of, squares_of
from discreet.crypto.rounds.agreement import AnnouncedKeys, PublicKeys, SecretKeys, check_roster
from discreet.crypto.rounds.speaker import Vector
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.system_bits import system_bits


class OdoParty(Held):
    """One party. It begins, and each message of the relay lets it take one step.

    Parameters
    ----------
    identity : Identity
        Who it is.
    terms : OdoTerms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the relay.
    rounds : UsedRounds
        The rounds that this party has taken part in.
    bits : Bits, optional
        Where its coins, shares and keys come from.
    """

    def __init__(
        self, identity: Identity, terms: OdoTerms, roster: Roster, rounds: UsedRounds, bits: Bits | None = None
    ) -> None:
        self.index = terms.index(identity.name)
        check_roster(identity, terms, roster)
        rounds.claim(terms.round)
        self.name, self.terms = identity.name, terms
        self._identity, self._roster, self._bits = identity, roster, bits or system_bits()
        self._seen = ReplayGuard(terms.round, *ANSWERED)
        self._keys = SecretKeys.drawn(self._bits)
        self._announced = AnnouncedKeys(terms, {})
        self._dealing: ShareDealing | None = None
        self._held: dict[str, HeldShares] = {}
        self._proceedings = Proceedings(terms, b"", {})

    @property
    def most(self) -> int:
        """The longest message of the relay in this round, in bytes."""
        return self.terms.passed_on

    @property
    @exclusive
    def opening(self) -> bytes | None:
        """What this party committed to, for its owner alone, who may show it later to whoever must see it."""
        opening = None if self._dealing is None else self._dealing.opening
        return None if opening is None else opening.to_bytes()

    @exclusive
    def begin(self) -> Signed:
        """Say which keys boxes for this party are sealed with."""
        return self._keys.public.announced(self._identity, self.terms)

    @exclusive
    def answer(self, heard: Signed, vector: Callable[[], Vector]) -> Signed:
        """The step that a message of the relay asks for."""
        steps: dict[str, Callable[[bytes], Signed]] = {
            "announcements": lambda body: self._deal(body, vector),
            "delivery": self._take,
            "dealings": self._open_seeds,
            "openings": self._prove,
            "proofs": self._complain,
            "accusations": self._defend,
            "defences": self._agree,
            "accord": self._add_up,
        }
        if heard.sender != self.terms.server:
            raise UnknownParty(f"round {self.terms.round!r}", f"{heard.sender!r} is not the relay", "", UNOPENED)
        message = heard.verified(self._roster)
        step = steps.get(message.kind)
        if step is None:
            raise OutOfOrder(f"{message.kind!r}", "there is no such step", "", UNOPENED)
        with self._seen.admitting(message):
            return step(message.body)

    def _deal(self, body: bytes, vector: Callable[[], Vector]) -> Signed:
        """Share the own numbers and coins among all who announced keys, each in a box of its own."""
        keys = {one.sender: PublicKeys.of(one, self.terms) for one in self._listed(body, "keys")}
        announced = AnnouncedKeys(self.terms, keys)
        if announced.keys.get(self.name) != self._keys.public:
            raise Disagreement("keys", f"those of {self.name!r} are missing or not its own", "", UNOPENED)
        dealing = self._dealt(np.asarray(vector(), dtype=np.int64))
        boxes = {name: self._sealed(announced, dealing, name) for name in announced.keys if name != self.name}
        numbers = b"" if dealing.opening is None else dealing.opening.commitments
        header = Header(dealing.commitment, {name: sha256(box).digest() for name, box in boxes.items()}, numbers)
        signed = self._signed("header", header.to_bytes()).to_bytes()
        self._announced, self._dealing = announced, dealing
        return self._signed("deal", framed(signed, labelled(boxes)))

    def _dealt(self, numbers: Steps) -> ShareDealing:
        return ShareDealing.of(self._bits, self.terms, numbers)

    def _sealed(self, announced: AnnouncedKeys, dealing: ShareDealing, name: str) -> bytes:
        content = dealing.held(self.terms.index(name)).to_bytes()
        return announced.sealed(self._bits, self.name, self._keys.sealing, name, content)

    def _take(self, body: bytes) -> Signed:
        """Open the boxes, and say which headers came with them. What a box lacks is complained about later."""
        headers, boxes = (unlabelled(part) for part in split(body, 2))
        bodies = self._bodies(headers, "header")
        self.terms.check_enough("deal", len(bodies))
        self._proceedings = Proceedings(self.terms, self._announced.transcript, bodies)
        if self.name not in bodies:
            raise Disagreement("delivery", f"the dealing of {self.name!r} is missing", "", UNOPENED)
        self._held[self.name] = self._own.held(self.index)
        for name, header in self._proceedings.headers.items():
            if name != self.name:
                self._unseal(name, header, boxes.get(name, b""))
        return self._signed("dealt", self._proceedings.said())

    def _unseal(self, name: str, header: Header, box: bytes) -> None:
        """Open a box of the dealer's; one of somebody else's is no fault of its, and nothing that it must answer for.

        A complaint makes a dealer open shares. If the relay could cause complaints of honest parties, it would see more
        shares than the threshold allows.
        """
        if sha256(box).digest() != header.boxes.get(self.name):
            raise Disagreement("delivery", f"the box is not the one that {name!r} has sealed", "", UNOPENED)
        try:
            content = self._announced.unsealed(name, self._keys.sealing, self.name, box)
            self._held[name] = HeldShares.from_bytes(self.terms, self.index, content)
        except ProtocolError:
            self._held.pop(name, None)

    def _open_seeds(self, body: bytes) -> Signed:
        """Now that all dealings are fixed, give the shares of all seeds away: zeros of what was never held."""
        self._hear("dealt", body)
        nothing = bytes(self._own.seed.nbytes)
        held = {
            name: self._held[name].seed.tobytes() if name in self._held else nothing
            for name in self._proceedings.headers
        }
        return self._signed("seeds", self._proceedings.said(labelled(held)))

    def _prove(self, body: bytes) -> Signed:
        self._hear("seeds", body)
        proof = self._own.proof(self._proceedings.coins)
        return self._signed("proof", self._proceedings.said(proof.to_bytes()))

    def _complain(self, body: bytes) -> Signed:
        """Name the dealers whose proofs do not go through the shares that this party holds."""
        self._hear("proof", body)
        coins, held = self._proceedings.coins, self._held
        proofs = {name: one for name, one in self._proceedings.proofs.items() if name in self._proceedings.headers}
        shown = [name for name in proofs if name in held and name != self.name]
        rows = [held[name] for name in shown]
        values = zip(shown, degrees_of(rows, coins), squares_of(rows, coins), strict=True)
        fitting = {name for name, degrees, squares in values if proofs[name].fits(self.index, degrees, squares)}
        wrong = [name for name in proofs if name not in fitting and name != self.name]
        return self._signed("complaints", self._proceedings.said(listed(wrong)))

    def _defend(self, body: bytes) -> Signed:
        """Open the shares of whoever complained: it lies, or knows them, or was meant to."""
        self._hear("complaints", body)
        complaining = self._proceedings.complaints.get(self.name, [])
        shown = {name: self._own.held(self.terms.index(name)).to_bytes() for name in complaining}
        return self._signed("answers", self._proceedings.said(labelled(shown)))

    def _agree(self, body: bytes) -> Signed:
        """Sign whose dealings count; where nobody complained, enough have done so in saying that they heard of none."""
        self._hear("answers", body)
        if self.name not in self._proceedings.good:
            why = self._proceedings.refuted.get(self.name, "it is missing")
            raise Disagreement("dealings that count", f"that of {self.name!r} does not: {why}", "", UNOPENED)
        return self._added() if self._proceedings.undisputed else self._signed("agreed", self._proceedings.said())

    def _add_up(self, body: bytes) -> Signed:
        """Give the own share of the sum away, once enough have signed which dealings are in it."""
        self._hear("agreed", body)
        return self._added()

    def _added(self) -> Signed:
        """The own share of the sum over all dealings that count."""
        modulo = self.terms.field
        total = np.zeros(self.terms.size, modulo.dtype)
        for name in self._proceedings.good:
            opened = self._proceedings.answers.get(name, {})
            held = opened[self.name] if self.name in self._proceedings.complaints[name] else self._held[name]
            modulo.accumulate(total, held.added(self._proceedings.coins, self.terms.index(name)))
        return self._signed("sum", self._proceedings.said(total.tobytes()))

    @property
    def _own(self) -> ShareDealing:
        assert self._dealing is not None
        return self._dealing

    def _hear(self, kind: str, body: bytes) -> None:
        self._proceedings.hear(kind, {one.sender: one.body for one in self._listed(body, kind)})

    def _listed(self, body: bytes, kind: str) -> list[Message]:
        found = self._messages(unlabelled(body), kind)
        self.terms.check_enough(kind, len(found))
        return found

    def _bodies(self, said: dict[str, bytes], kind: str) -> dict[str, bytes]:
        return {one.sender: one.body for one in self._messages(said, kind)}

    def _messages(self, said: dict[str, bytes], kind: str) -> list[Message]:
        """What the relay passes on: signed, of this round and kind, one from each party."""
        found = []
        for name, data in said.items():
            self.terms.index(name)
            message = Signed.from_bytes(data, name).verified(self._roster)
            if (message.round, message.kind) != (self.terms.round, kind):
                raise Malformed(f"{kind} of {name!r}", "it belongs elsewhere", "", UNOPENED)
            found.append(message)
        return found

    def _signed(self, kind: str, body: bytes) -> Signed:
        return Message(self.terms.round, self.name, kind, body).signed(self._identity)
