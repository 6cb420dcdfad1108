"""Paid-for access: a permit answers what its plan paid for, and no more."""

from __future__ import annotations

import functools
import hashlib
import math
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from types import TracebackType
from typing import Any, Protocol, TypeVar, cast

from discreet.accounting.accountant import price
from discreet.core.errors import DiscreetError, EngineFailure, KeyReused, NotPermitted, UnplannedRelease
from discreet.core.events import Composed, Event, Repeated, written
from discreet.core.held import Held, exclusive, unheld
from discreet.core.identity import Unidentified, former_identity, identity
from discreet.core.ledger import Committed, Ledger, Reservation
from discreet.core.mechanism import Mechanism
from discreet.core.progress_bar import Progress, patient_bar
from discreet.core.receipt import Participants, Receipt, stated
from discreet.questions.question import BoundedSum, Question
from discreet.schema.schema import Schema
from discreet.trust.grant import Grant
from discreet.trust.stored import Artefact, KeptArtefact, Stored, text_of_artefact
from discreet.trust.trust_model import Promise, TrustModel, check_columns

Release = TypeVar("Release")
Opened = TypeVar("Opened", covariant=True)
RECENT = 256  # plans whose releases are remembered


class Description(Protocol):
    """What will be made, at a price that is known beforehand."""

    @property
    def event(self) -> Event:
        """The price of all of it together."""

    @property
    def terms(self) -> str:
        """All public parameters, in words."""


class Openable(Description, Protocol[Opened]):
    """What releases again and again: a description, from which the one object is made that does so."""

    @property
    def identity(self) -> str:
        """A digest of all public parameters."""

    def opened(self, grant: Grant) -> Opened:
        """The object that goes on; `grant` is taken by it."""


@unheld("own turns")
class Digests:
    """Digests of what was asked recently: the same objects, which cannot change, are walked once.

    A question by a recipe and a mechanism are made once for the same public parameters, and asked again and again.
    """

    def __init__(self) -> None:
        self._found: dict[tuple[int, ...], tuple[Any, str]] = {}
        self._lock = threading.Lock()

    def of(self, whole: tuple[Any, Any]) -> str:
        """The digest of a schema and what is asked of it."""
        schema, asked = whole
        parts = (schema, *asked) if isinstance(asked, tuple) else (schema, asked)
        name = tuple(map(id, parts))
        known = self._found.get(name)  # it keeps the parts, so that no others can have their places in memory
        if known is not None:
            return known[1]
        found = identity(whole)
        if isinstance(schema, Schema) and len(parts) == 3 and _stays(*parts[1:]):
            with self._lock:
                self._found[name] = parts, found
                if len(self._found) > RECENT:
                    del self._found[next(iter(self._found))]
        return found


def _stays(question: Any, mechanism: Any) -> bool:
    """Whether both are the same for ever: a question by a recipe of this library, and numbers and texts alone."""
    if not isinstance(question, BoundedSum) or question.recipe is None:
        return False
    try:
        hash(mechanism)  # no array
    except TypeError:
        return False
    frozen = getattr(type(mechanism), "__dataclass_params__", None)
    return frozen is not None and frozen.frozen and ":" not in "".join(question.recipe.names)


DIGESTS = Digests()


def releases(plan: Event) -> Counter[Event]:
    """How often a plan pays for each single event."""
    return Counter(_releases(plan))


@functools.lru_cache(maxsize=RECENT)
def _releases(plan: Event) -> Mapping[Event, int]:
    match plan:
        case Composed(events):
            found: Counter[Event] = Counter()
            for event in events:
                found.update(_releases(event))
            return found
        case Repeated(event, times):
            return {single: count * times for single, count in _releases(event).items()}
        case _:
            return {plan: 1}


class Permit(Held):
    """Access to one holder for one plan. Use it in a `with` block: leaving it commits what was released.

    A permit whose key was committed before gives the stored releases again, each to the question and the mechanism
    that it was made for, without touching the data. Leaving the block by an exception commits nothing, and the charge
    stays spent. Where what a curator reads from fails at the first question, nothing was released: the permit is over,
    and the same key goes on with the same question, without another charge. Threads may share a permit, and are
    answered one after another; a fork is refused. After a second, `progress` shows how many of the planned releases
    were made.
    """

    def __init__(
        self,
        promise: Promise,
        ledger: Ledger,
        charge: Reservation | Committed,
        plan: Event,
        purpose: str,
        *,
        keyed: bool = True,
        described: Description | None = None,
    ) -> None:
        self._promise, self._ledger, self._charge = promise, ledger, charge
        self._described = described
        self._plan, self._purpose = plan, purpose
        self._keyed = self._storing = keyed
        self._unspent = releases(plan)
        self._made = Stored()
        self._participants: Participants | None = None
        condition = getattr(promise, "condition", None)
        self._where = None if condition is None else str(condition)
        self._stored = Stored.read(charge.result) if isinstance(charge, Committed) else None
        self._known = {getattr(charge, "asked", None)} if self._stored is None else self._stored.digests
        self._open = False
        self.progress: Progress = patient_bar()
        self._done, self._planned = 0, sum(self._unspent.values())
        self._asked = 0
        self._failed = False

    @exclusive
    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question, if the plan pays for it."""
        trust = self._trust
        check_columns(self._purpose, question, getattr(trust, "schema", None))
        self._check_open()
        self._take(mechanism.event)
        asked = self._identity((question, mechanism))
        try:
            answer = functools.partial(trust.ask, question, mechanism)
            release = (
                self._again(asked) if self._stored is not None else self._first_or_next((question, mechanism), answer)
            )
        except DiscreetError as error:
            error.settle(self._settlement(error))
            raise
        if asked is not None:
            self._made.add(asked, release)
        self._note(1)
        return release

    @exclusive
    def ask_each(self, asked: Sequence[tuple[Question, Mechanism[Any]]]) -> list[Any]:
        """Release the answers to several questions, if the plan pays for all; sums may share a reading of the records.

        It is the same as asking one after the other, but that none is given where one of them fails.

        Parameters
        ----------
        asked : sequence of (Question, Mechanism)
            Public. What is asked, in this order.
        """
        trust: Any = self._trust
        for question, _ in asked:
            check_columns(self._purpose, question, getattr(trust, "schema", None))
        whole = Composed(tuple(mechanism.event for _, mechanism in asked))
        self.check_pays(whole)
        if not asked or self._stored is not None or not getattr(trust, "answers_together", False):
            return [self.ask(*one) for one in asked]
        self._take(whole)
        digests = [self._identity(one) for one in asked]
        try:
            found: list[Any] = self._first_or_next(asked[0], lambda: trust.ask_each(asked))
        except DiscreetError as error:
            error.settle(self._settlement(error))
            raise
        for digest, release in zip(digests, found, strict=True):
            if digest is not None:
                self._made.add(digest, release)
        self._note(len(found))
        return found

    @property
    def _trust(self) -> TrustModel:
        """Who answers questions; refused where what is held answers none."""
        if not hasattr(self._promise, "ask"):
            obstacle = f"a {type(self._promise).__name__} answers no questions"
            raise NotPermitted(self._purpose, obstacle, "Use what is made for it.", self._consequence)
        return cast(TrustModel, self._promise)

    @property
    def _schema(self) -> Schema | None:
        """That of a table."""
        return getattr(self._trust, "schema", None)

    @exclusive
    def open(self, description: Openable[Opened]) -> Opened:
        """The one object that does what this permit was made for, with its receipt; once.

        The charge is committed before the first release, and the object goes on after its permit. What is opened is a
        copy that was made when it was paid for.

        Parameters
        ----------
        description : counter, series, filter or curator of rewards
            Public. What was given as the plan, or its equal.
        """
        own: Any = self._described
        if getattr(own, "identity", None) != description.identity:
            obstacle = f"it does not pay for {description.terms}"
            raise NotPermitted(self._purpose, obstacle, "Give the permit the description itself as its plan.", KEPT)
        self._take(self._plan)
        self.commit(own.terms.encode())
        opened: Opened = own.opened(Grant(own, cast(Any, self._promise).bits, self.receipt))
        return opened

    def pays_from(self, ledger: Ledger) -> bool:
        """Whether this account paid for it."""
        return self._ledger is ledger

    @exclusive
    def commit(self, result: bytes) -> None:
        """Write in the ledger what was made, where it is no answer to a question; nothing more is released after it.

        Parameters
        ----------
        result : bytes
            Public. What was released, or a digest of it.
        """
        if not isinstance(self._charge, Reservation) or self._failed:
            raise NotPermitted(self._purpose, "its charge was committed before", "Ask for another permit.", KEPT)
        self._unspent.clear()
        promise = self._promise
        said = stated(promise.neighbors, promise.unit, promise.secret, self._participants, self._where)
        self._charge = self._ledger.commit(self._charge, result, said)

    @exclusive
    def artefact(self, make: Callable[[], Artefact], about: Any, where: str | None = None) -> Artefact:
        """What the plan is for, made from releases, and stored in their place.

        A retry with the key of a committed plan is given the artefact, and `make` is not called. One that is too large
        for an entry is kept beside the ledger under its digest. Where its owner keeps it, the ledger has the digest
        alone, and a retry raises an error that says where it is.

        Parameters
        ----------
        make : callable
            Asks this permit, and gives the artefact: a mapping of names to arrays, numbers, texts or None.
        about : Any
            Public. All that decides what is made: a retry has to give the same.
        where : str, optional
            Public. Where it is kept, for one that is too large for a ledger: a path, or whatever its owner will find.

        Examples
        --------
        >>> import numpy as np
        >>> from discreet.core.budget import Budget
        >>> from discreet.schema.schema import Schema
        >>> from discreet.mechanisms.additive.laplace import Laplace
        >>> from discreet.questions.columns.total import count_of
        >>> from discreet.trust.private_data import PrivateData
        >>> data = PrivateData.of(np.ones((100, 1)), Schema.numeric(0.0, 2.0, 1), Budget(1.0))
        >>> with data.permit(Laplace(1.0).event, "count") as permit:
        ...     counted = permit.artefact(lambda: {"n": permit.ask(count_of(data.schema, "x0"), Laplace(1.0))}, "n")
        >>> counted["n"].shape
        (1,)
        """
        asked = self._identity(about)
        if self._stored is not None:
            kept = self._stored.artefact
            if kept is None or asked is None or kept.asked != asked:
                raise self._another()
            apart = None if kept.values is not None or kept.where is not None else self._ledger.kept(kept.digest)
            return kept.given(self._purpose, self._charge.key, apart)
        self._storing = False
        try:
            made = make()
        finally:
            self._storing = self._keyed
        self._made.artefact = KeptArtefact.of(made, asked, where)
        if self._keyed and self._made.artefact.values is None and where is None:
            self._ledger.keep(text_of_artefact(made).encode())
        return made

    def _note(self, number: int) -> None:
        """Note so many releases, and who was in every sum, where the trust model knows: those of this thread's last."""
        latest: Participants | None = None if self._stored is not None else getattr(self._promise, "participants", None)
        if latest is not None:
            self._participants = latest if self._participants is None else self._participants & latest
        self._done += number
        self.progress(min(self._done, self._planned), self._planned, self._purpose)

    @exclusive
    def check_pays(self, event: Event) -> None:
        """Refuse, before anything is asked, what the plan does not pay for any more; nothing is taken.

        Parameters
        ----------
        event : Event
            Public. All that will be asked.
        """
        self._check_open()
        self._check_unspent(event)

    def _check_unspent(self, event: Event) -> Counter[Event]:
        price = releases(event)
        if not price <= self._unspent:
            raise UnplannedRelease(
                self._purpose,
                f"the plan does not pay for another {written(event)}",
                "Put every release into the plan.",
                self._consequence,
            )
        return price

    def _check_open(self) -> None:
        if not self._open:
            raise NotPermitted(
                self._purpose,
                "the permit is not open",
                "Ask inside `with data.permit(...) as permit:`.",
                self._consequence,
            )

    def _take(self, event: Event) -> None:
        self._unspent -= self._check_unspent(event)

    def _identity(self, asked: Any) -> str | None:
        """What a retry has to ask again; None where no retry can come, or where it could not be recognised."""
        return self._digest(asked) if self._storing else None

    def _digest(self, asked: Any) -> str | None:
        """The digest of what is asked, in the form that the ledger has, where it has one of it."""
        whole = self._schema, asked
        try:
            found = DIGESTS.of(whole)
            if found in self._known or not any(self._known):
                return found
            former = former_identity(whole)
            return former if former in self._known else found
        except Unidentified:
            return None

    def _again(self, asked: str | None) -> Any:
        """The first stored release to the same question and mechanism that was not given yet."""
        assert self._stored is not None
        if self._stored.holds(asked):
            return self._stored.taken(asked)
        raise self._another()

    def _another(self) -> KeyReused:
        return KeyReused(
            self._purpose,
            f"the key {self._charge.key!r} belongs to another question, or to a function that cannot be identified",
            "Use a new key for a new question.",
            self._consequence,
            key=self._charge.key,
        )

    def _first_or_next(self, first: tuple[Question, Mechanism[Any]], answer: Callable[[], Release]) -> Release:
        """What the trust model releases; where it fails before it ever released anything, the charge is let go."""
        self._asked += 1
        before = self._charge.asked if isinstance(self._charge, Reservation) and self._asked == 1 else None
        if before is not None and before != self._digest(first):
            raise self._another()
        try:
            return answer()
        except EngineFailure:
            if self._asked == 1 and getattr(self._trust, "asks_again", False):
                self._let_go(self._digest(first))
            raise

    def _let_go(self, asked: str | None) -> None:
        """End this permit, and leave its charge to whoever asks the same again; never, if that cannot be recognised."""
        if asked is not None and isinstance(self._charge, Reservation):
            self._unspent.clear()
            self._ledger.fail(self._charge, asked)
            self._failed = True

    def _settlement(self, error: DiscreetError) -> str:
        """What happened to the budget by the time of this error."""
        if not isinstance(error, EngineFailure) or self._stored is not None:
            return self._consequence
        cost = price(self._plan, self._ledger.budget)
        delta = f", delta {cost.delta:g}" if cost.delta else ""
        spent = f", epsilon {cost.epsilon:.4g}{delta}," if math.isfinite(cost.epsilon) else ""  # else it was waived
        kept = f"The plan was charged{spent} and stays so;"
        key = f"nothing was released, and the same key goes on without another charge: key={self._charge.key!r}."
        return f"{kept} {key if self._failed else 'this was not released.'}"

    @property
    def _consequence(self) -> str:
        return KEPT if self._stored is None else REPLAYED

    def random_state(self, given: Any) -> Any:
        """A seed for public choices: the one that was given; else one that is the same in a retry with the same key."""
        if given is not None:
            return given
        return int.from_bytes(hashlib.sha256(self._charge.key.encode()).digest()[:4], "big")

    @property
    def receipt(self) -> Receipt:
        """What this permit cost."""
        cost, kept = price(self._plan, self._ledger.budget), None
        if self._stored is not None and isinstance(self._charge, Committed):  # else it is what is said here
            kept = self._charge.stated
        made = Receipt(
            self._purpose,
            self._plan,
            cost.epsilon,
            cost.delta,
            self._promise.neighbors,
            self._promise.unit,
            self._promise.secret,
            self._charge.key,
            self._charge.head,
            self._stored is not None and getattr(self._charge, "replayed", True),
            self._participants,
            self._where,
        )
        if signed := getattr(self._charge, "checkpoint", None):
            made = made.signed(signed)
        return made if kept is None else made.as_stated(kept)

    @exclusive
    def __enter__(self) -> Permit:
        self._open = True
        return self

    @exclusive
    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._open = False
        if isinstance(error, DiscreetError):
            error.settle(self._settlement(error))
        if kind is None and isinstance(self._charge, Reservation) and not self._failed:
            self.commit(self._made.written())
        self.progress(self._planned, self._planned, self._purpose)


KEPT = "The plan was charged and stays so; this was not released."
REPLAYED = "The plan was charged when its key was first used, and nothing more was released or spent."
