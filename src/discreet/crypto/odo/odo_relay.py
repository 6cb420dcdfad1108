"""The one who carries messages of a sum in verified shares, and opens the total (`odo.py` states the protocol)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from discreet.core.bits import Bits
from discreet.core.held import exclusive
from discreet.crypto.errors import UNOPENED, Malformed, OutOfOrder
from discreet.crypto.identity import Identity, Roster
from discreet.crypto.messages import Message, Signed, framed, labelled, split, unlabelled
from discreet.crypto.odo.odo_terms import OdoTerms
from discreet.crypto.odo.proceedings import ANSWERED, SAID, Header, Proceedings
from discreet.crypto.odo.transcript import Transcript
from discreet.crypto.rounds.agreement import AnnouncedKeys, PublicKeys
from discreet.crypto.rounds.round_relay import RoundRelay
from discreet.crypto.rounds.speaker import Total
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.system_bits import system_bits


class OdoRelay(RoundRelay[OdoTerms]):
    """Hears the parties step by step, and passes on to all what each has said.

    Parameters
    ----------
    identity : Identity
        Who it is: the server of the terms.
    terms : OdoTerms
        Public. What all agreed on.
    roster : Roster
        Public. The keys of all parties and of the relay.
    rounds : UsedRounds
        The rounds that it has run.
    bits : Bits, optional
        Where the challenge comes from that finds false shares of the sum.
    """

    def __init__(
        self, identity: Identity, terms: OdoTerms, roster: Roster, rounds: UsedRounds, bits: Bits | None = None
    ) -> None:
        super().__init__(identity, terms, roster, rounds, SAID)
        self._bits = bits or system_bits()
        self._kept: dict[str, dict[str, bytes]] = {}
        self._total: Total | None = None
        self._announced = AnnouncedKeys(terms, {})
        self._proceedings = Proceedings(terms, b"", {})

    def _take(self, message: Message) -> None:
        """Check what one party says, where it alone can be wrong."""
        if message.kind == "keys":
            PublicKeys.of(message, self.terms)
        elif message.kind == "deal":
            self._check_dealt(message)

    @exclusive
    def passed_on(self) -> Mapping[str, Signed]:
        """End a step: everybody hears what all have said, and of dealings what was sealed for it."""
        place = SAID.index(self.step)
        if place == len(SAID) - 1:
            return {}
        said, self.step = self._ended(), SAID[place + 1]
        kind = ANSWERED[place]
        if place != 1:
            self._kept[SAID[place]] = {name: one.to_bytes() for name, one in said.items()}
        if place == 0:
            keys = {name: PublicKeys.of(one.message, self.terms) for name, one in said.items()}
            self._announced = AnnouncedKeys(self.terms, keys)
        elif place == 1:
            return self._delivered(said)
        else:
            self._proceedings.hear(SAID[place], {name: one.message.body for name, one in said.items()})
            if SAID[place] == "answers" and self._proceedings.undisputed:
                self._seen.skip("agreed")
                self.step = "sum"
        everything = self._signed(kind, labelled(self._kept[SAID[place]]))
        return dict.fromkeys(said, everything)

    @exclusive
    def total(self) -> Total:
        """The sum over all dealings that count, exact, with who lied.

        Raises
        ------
        TooFewSurvivors
            Fewer than the threshold gave their shares of the sum.
        WrongShares
            More of them are false than can be told from the others.
        """
        self._check_step("sum", "total")
        self._kept["sum"] = {name: one.to_bytes() for name, one in self._heard.items()}
        self._proceedings.hear("sum", {name: one.message.body for name, one in self._heard.items()})
        total = self._proceedings.total(self._bits)
        self.step, self._total = "nothing", total
        return total

    @exclusive
    def transcript(self, call: bytes = b"") -> bytes:
        """All that was said in public, signed, once the total is known: for whoever checks it later."""
        if self._total is None:
            raise OutOfOrder("transcript", f"the relay is at the step of {self.step}", "", UNOPENED)
        return Transcript(self.terms, self._kept, self._total.vector, call).to_bytes()

    @property
    def refuted(self) -> Mapping[str, str]:
        """Whose dealings do not count, and why."""
        return self._proceedings.refuted

    def _delivered(self, said: Mapping[str, Signed]) -> dict[str, Signed]:
        parts = {name: split(one.message.body, 2) for name, one in said.items()}
        headers = {name: header for name, (header, _) in parts.items()}
        boxes = {name: unlabelled(sealed) for name, (_, sealed) in parts.items()}
        self._kept["header"] = headers
        bodies = {name: Signed.from_bytes(data, name).message.body for name, data in headers.items()}
        self._proceedings = Proceedings(self.terms, self._announced.transcript, bodies)
        return {
            name: self._signed(
                "delivery",
                framed(
                    labelled(headers), labelled({one: sealed[name] for one, sealed in boxes.items() if name in sealed})
                ),
            )
            for name in said
        }

    def _check_dealt(self, message: Message) -> None:
        header, sealed = split(message.body, 2)
        inner = Signed.from_bytes(header, message.sender).verified(self._roster)
        if (inner.round, inner.kind) != (self.terms.round, "header"):
            raise Malformed(f"dealing of {message.sender!r}", "its header belongs elsewhere", "", UNOPENED)
        boxes = {name: sha256(box).digest() for name, box in unlabelled(sealed).items()}
        if set(boxes) != set(self._announced.keys) - {message.sender} or Header.from_bytes(inner.body).boxes != boxes:
            obstacle = "it is not one box for each other party, as its header says"
            raise Malformed(f"dealing of {message.sender!r}", obstacle, "", UNOPENED)
