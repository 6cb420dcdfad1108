"""A party that holds records and takes part in secure sums; what it sends is noisy, masked and paid for."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.errors import BudgetExceeded, DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.core.ledger import Entry, Ledger
from discreet.core.neighbors import Neighbors, Unit
from discreet.core.receipt import in_words
from discreet.crypto.errors import UNOPENED, RoundReused, UnknownParty
from discreet.crypto.identity import Identity
from discreet.crypto.messages import Message, Signed
from discreet.crypto.rounds.agreement import check_roster
from discreet.crypto.rounds.speaker import Speaker
from discreet.crypto.rounds.terms import UsedRounds
from discreet.noise.system_bits import system_bits
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.trust.call import Call, agreed
from discreet.trust.exact_sum import where
from discreet.trust.federation import Federation
from discreet.trust.holder import Described, Holder
from discreet.trust.policy import ANYTHING, OVER, Policy, set_digest, unpaid
from discreet.trust.sources.source import check_counted
from discreet.trust.sources.source_of import source_of

HELLO, REFUSAL = "hello", "refusal"
ROUND = "round "  # before the name of a round, in the key of its charge
LONGEST_REFUSAL = 1 << 10  # bytes


@dataclass(frozen=True)
class RoundAccount(Holder):
    """Pays for the rounds of a party. Each is paid for under its name, once."""

    ledger: Ledger
    neighbors: Neighbors
    unit: Unit
    secret: bool

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        asked = f"round {key.removeprefix(ROUND)!r}"
        return RoundReused(asked, "it was paid for and run before", "Begin a new one.", UNOPENED)


class Party(Held):
    """One party of a federation.

    It builds every question itself, from a recipe of code that it has installed; it charges its own ledger before its
    noisy, masked sum leaves; and it adds so much noise that the promise holds if no more parties drop out or collude
    than the federation allows.

    Parameters
    ----------
    identity : Identity
        Its name and signing key, as the federation knows it.
    records : array, data frame, path, query, Source
        Its own records; see `PrivateData.of`.
    federation : Federation
        Public. What all agreed on.
    ledger : Ledger, optional
        Its own account. Without one it pays for nothing and leaves the account to whoever asks: right for an example
        in one process, and for a party that trusts the server's books.
    packages : iterable of str
        Public. Whose recipes it uses.
    policy : Policy
        Public. Which of these, what a single question may cost, among how many and how often; anything where not given.
    bits : Bits, optional
        Where its noise and its masks come from; the operating system's where not given.

    Examples
    --------
    >>> from discreet.schema.schema import Schema
    >>> from discreet.crypto.certificate import PartyCertificate
    >>> from discreet.noise.system_bits import system_bits
    >>> drawn = [Identity.drawn(name, system_bits()) for name in ("server", "north", "south")]
    >>> server, *cards = map(PartyCertificate.of, drawn)
    >>> agreed = Federation(tuple(cards), server, 2, Schema.numeric(0.0, 1.0, 1))
    >>> Party(drawn[1], {"x0": [0.25, 0.5]}, agreed).name
    'north'
    """

    def __init__(
        self,
        identity: Identity,
        records: Any,
        federation: Federation,
        *,
        ledger: Ledger | None = None,
        packages: Iterable[str] = ("discreet",),
        policy: Policy = ANYTHING,
        bits: Bits | None = None,
    ) -> None:
        if identity.name not in federation.names:
            raise ParameterError("party", f"{identity.name!r} is not in the federation", "Use its own identity.")
        check_roster(identity, federation.terms("rehearsal", 1, b""), federation.roster)
        self.identity, self.federation, self.ledger = identity, federation, ledger
        self.source = source_of(records, federation.schema, federation.unit)
        if (self.source.schema, self.source.unit) != (federation.schema, federation.unit):
            raise ParameterError("party", "its schema or unit is not the federation's", "Agree on one of each.")
        check_counted(self.source, federation.neighbors)
        if ledger is not None and (ledger.neighbors, ledger.unit) not in (
            (federation.neighbors, federation.unit),
            (None, None),
        ):
            raise ParameterError("party", "its ledger was opened for another relation or unit", "Open one for this.")
        policy.check_federation(federation)
        self.packages, self.policy = tuple(packages), policy
        self.bits = system_bits() if bits is None else bits
        self.rounds = UsedRounds()
        self.tell: Callable[[str], object] = logging.getLogger("discreet.party").error
        """Given a line of text for the party's owner alone, when its records cannot be added up."""
        self._unpaid: list[Entry] = []
        self.keep: Callable[[str, bytes], object] = lambda round, opening: None
        """Given, for the owner alone, what the party committed to in a round, where the scheme has such a thing."""

    @property
    def name(self) -> str:
        return self.identity.name

    def hello(self) -> Signed:
        """Who it is and what it takes part in; and how many records it has, where that is public."""
        counted = self.federation.neighbors is Neighbors.REPLACE and self.federation.unit.is_row
        facts = {
            "federation": self.federation.digest.hex(),
            "units": self.source.units() if counted else None,
            "secret": self.bits.secret,
        }
        return self.said(HELLO, HELLO, json.dumps(facts).encode())

    @exclusive
    def seated(self, signed: Signed) -> Seat:
        """Take part in the round that this call opens, or refuse."""
        return Seat(self, signed)

    @property
    def answered(self) -> Sequence[Entry]:
        """The rounds that were answered so far, by the account; by this process, where there is none."""
        if self.ledger is None:
            return self._unpaid
        return [entry for entry in self.ledger.entries() if entry.key.startswith(ROUND)]

    @exclusive
    def charged(self, event: Event, purpose: str, round: str, names: Sequence[str] = ()) -> None:
        """Pay for a round with these parties, if the policy still allows it; each is paid for once."""
        if self.policy.counts:
            self.policy.check_day(self.answered)
            self.policy.check_set(names, self.answered)
        if self.policy.sets is not None:
            purpose += OVER + set_digest(names)
        if self.ledger is None:
            if self.policy.counts:
                self._unpaid.append(unpaid(event, purpose, f"{ROUND}{round}"))
            return
        account = RoundAccount(self.ledger, self.federation.neighbors, self.federation.unit, self.bits.secret)
        account.permit(Described(event, f"{round} {purpose}"), purpose, key=f"{ROUND}{round}").commit(b"")

    def said(self, round: str, kind: str, body: bytes) -> Signed:
        """A message of its own."""
        return Message(round, self.name, kind, body).signed(self.identity)


class Seat(Held):
    """A party's part in one round.

    Parameters
    ----------
    party : Party
        Whose.
    signed : Signed
        The server's call.
    """

    def __init__(self, party: Party, signed: Signed) -> None:
        message, federation = signed.verified(party.federation.roster), party.federation
        if message.sender != federation.server.name or message.kind != "call":
            raise UnknownParty("call", f"{message.sender!r} does not ask in this federation", "", UNOPENED)
        self.round, self._party = message.round, party
        self.call = Call.read(message.body)
        party.policy.check(self.call.recipe, self.call.event)
        if party.policy.daily is not None:
            party.policy.check_day(party.answered)
        self.question: BoundedSum = question_of(self.call.recipe, federation.schema, party.packages).for_unit(
            federation.unit
        )
        if party.ledger is not None and not party.ledger.affords(self.call.event):
            raise BudgetExceeded(
                f"{party.name!r}: {self.purpose}",
                "its account cannot pay",
                "Ask for less, or let its owner open another account.",
            )
        empty = agreed(self.call, self.question, federation)
        self._size = empty.size
        terms = self.call.terms(federation, self.round, empty)
        self._speaker: Speaker = federation.protocol.speaker(
            party.identity, terms, federation.roster, party.rounds, party.bits
        )
        self._names: tuple[str, ...] = ()
        if party.policy.sets is not None:
            self._watch()

    @property
    def purpose(self) -> str:
        """What is asked and promised, in words."""
        recipe = self.call.recipe
        parameters = ", ".join(f"{key}={_brief(value)}" for key, value in recipe.parameters.items())
        return f"{recipe.name.rpartition(':')[2]}({parameters}) with {in_words(self.call.event)}"

    @property
    def most(self) -> int:
        """The longest message of the server in this round, in bytes."""
        return self._speaker.most

    @exclusive
    def begin(self) -> Signed:
        return self._speaker.begin()

    @exclusive
    def answer(self, signed: Signed) -> Signed:
        """What the party says to a message of the server."""
        before = getattr(self._speaker, "opening", None)
        answer = self._speaker.answer(signed, self._vector)
        opening: bytes | None = getattr(self._speaker, "opening", None)
        if opening is not None and before is None:
            self._party.keep(self.round, opening)
        return answer

    def _watch(self) -> None:
        """Let the scheme say with whom this party's records are to be added up, before it pays and before it signs."""
        if not hasattr(self._speaker, "admit"):
            obstacle = f"scheme {self._party.federation.scheme!r} does not say who is in a sum before it is opened"
            raise NotPermitted("policy", obstacle, 'Leave out `sets`, or agree on scheme "masks".')
        self._speaker.admit = self._admit

    def _admit(self, names: Sequence[str]) -> None:
        """Refuse one set of parties too many; and, once it is paid for, any other than the one that was."""
        if not self._names:
            self._party.policy.check_set(names, self._party.answered)
            self._names = tuple(names)
        elif set(names) != set(self._names):
            raise NotPermitted(
                f"round {self.round!r}",
                "some have left since it was paid for, and the party's policy counts sets of parties",
                "Begin a new round.",
                "Nothing was opened; what was charged stays so.",
            )

    def _vector(self) -> np.ndarray:
        """What is put in, paid for: the exact sum of the own records, as the scheme of the federation wants it."""
        party, question = self._party, self.question
        party.charged(self.call.event, self.purpose, self.round, self._names)
        bound = question.bound.times(party.federation.unit.rows)
        own = Answer(self._own_sum(), question.grid, bound, party.federation.neighbors)
        agreed, share = party.federation, self.call.share(party.federation.honest)
        return agreed.protocol.vector(share, own, party.bits, agreed.largest)

    def _own_sum(self) -> Steps:
        """The exact sum of the own records; zeros if it fails.

        Whether it fails may depend on a single record. So only the party's owner is informed: the others receive noise
        alone, as from a party without records.
        """
        party, question = self._party, self.question
        try:
            return party.source.sum(question)
        except Exception as why:
            party.tell(f"{party.name} FAILED to add up its records and sent noise alone: {_told(why)}")
        return np.zeros(self._size, dtype=np.int64)


def _told(why: Exception) -> str:
    """What went wrong, as far as it quotes no record."""
    return str(why) if isinstance(why, DiscreetError) else where(why)


def _brief(value: Any) -> str:
    return f"{value.shape} array" if isinstance(value, np.ndarray) else repr(value)
