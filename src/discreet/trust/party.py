"""A party that holds records and takes part in secure sums; what it sends is noisy, masked and paid for."""

from __future__ import annotations

import json
import logging
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting.accountant import epsilon
from discreet.core.answer import Answer
from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError, NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.core.ledger import Ledger
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
from discreet.questions.recipe import Recipe
from discreet.trust.call import Call, agreed
from discreet.trust.exact_sum import where
from discreet.trust.federation import Federation
from discreet.trust.holder import Described, Holder
from discreet.trust.sources.source import check_counted
from discreet.trust.sources.source_of import source_of

HELLO, REFUSAL = "hello", "refusal"
LONGEST_REFUSAL = 1 << 10  # bytes


@dataclass(frozen=True)
class Policy:
    """The recipes that a party builds questions from, and the most that one question may cost.

    A party checks both before it builds anything and before it pays: a refusal depends on the question alone.

    Parameters
    ----------
    recipes : iterable of str, optional
        Public. The names of the only recipes that are used; all of its trusted packages where not given.
    most : Budget, optional
        Public. What a single question may cost at most; what the account can pay where not given. At delta 0 only
        Laplace noise can be asked for.

    Examples
    --------
    >>> from discreet.core.events import LaplaceLoss
    >>> counts = Policy(["count"], Budget(0.1))
    >>> counts.check(Recipe("count", {"column": "age"}), LaplaceLoss(20.0))
    >>> counts.check(Recipe("count", {"column": "age"}), LaplaceLoss(2.0))
    Traceback (most recent call last):
    discreet.core.errors.NotPermitted: count: it would cost epsilon 0.5 at delta 0, and one question may cost 0.1. \
Nothing was released or spent. Ask with more noise.
    """

    recipes: Iterable[str] | None = None
    most: Budget | None = None

    def __post_init__(self) -> None:
        if isinstance(self.recipes, str):
            raise ParameterError("policy", f"recipes is the single text {self.recipes!r}", "Give a list of names.")
        if self.recipes is not None:
            object.__setattr__(self, "recipes", frozenset(self.recipes))

    def check(self, recipe: Recipe, event: Event) -> None:
        """Refuse a question of another recipe, or at a higher price."""
        refused = [] if self.recipes is None else [name for name in recipe.names if name not in self.recipes]
        if self.recipes is not None and refused:
            allowed = f"Allowed: {', '.join(sorted(self.recipes)) or 'none'}."
            raise NotPermitted(f"recipe {refused[0]}", "the party's policy does not allow it", allowed, name=refused[0])
        if self.most is None:
            return
        price = epsilon(event, self.most.delta)
        if price > self.most.epsilon:
            raise NotPermitted(
                recipe.name.rpartition(":")[2],
                f"it would cost epsilon {price:.3g} at delta {self.most.delta:g}, and one question may cost "
                f"{self.most.epsilon:g}",
                "Ask with more noise.",
                price=price,
            )


ANYTHING = Policy()


@dataclass(frozen=True)
class RoundAccount(Holder):
    """Pays for the rounds of a party. Each is paid for under its name, once."""

    ledger: Ledger
    neighbors: Neighbors
    unit: Unit
    secret: bool

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        asked = f"round {key.removeprefix('round ')!r}"
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
        Public. Which of these, and what a single question may cost at most; anything where not given.
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
        self.packages, self.policy = tuple(packages), policy
        self.bits = system_bits() if bits is None else bits
        self.rounds = UsedRounds()
        self.tell: Callable[[str], object] = logging.getLogger("discreet.party").error
        """Given a line of text for the party's owner alone, when its records cannot be added up."""
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

    @exclusive
    def charged(self, event: Event, purpose: str, round: str) -> None:
        """Pay for a round; each is paid for once."""
        if self.ledger is None:
            return
        account = RoundAccount(self.ledger, self.federation.neighbors, self.federation.unit, self.bits.secret)
        account.permit(Described(event, f"{round} {purpose}"), purpose, key=f"round {round}").commit(b"")

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

    def _vector(self) -> np.ndarray:
        """What is put in, paid for: the exact sum of the own records, as the scheme of the federation wants it."""
        party, question = self._party, self.question
        party.charged(self.call.event, self.purpose, self.round)
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
