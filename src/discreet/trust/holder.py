"""The one door: whoever holds records or state charges a ledger here, and nowhere else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.core.checks import check_text
from discreet.core.errors import DiscreetError, NotPermitted
from discreet.core.events import Event, written
from discreet.core.ledger import Committed, Ledger
from discreet.ledger.admission import check_relation
from discreet.trust.permit import Description, Permit
from discreet.trust.trust_model import Promise


@dataclass(frozen=True)
class Described:
    """A plan with terms: what a key stands for, where neither purpose nor event says it.

    Parameters
    ----------
    event : Event
        Public. Everything that will be released.
    terms : str
        Public. All else that decides what is released, in words.
    """

    event: Event
    terms: str


class Holder:
    """Holds records, or state that follows from them, and gives them to a permit alone.

    A subclass has a `ledger`, and by itself or in another object (`_promise`) the `neighbors` and the `unit` that it
    speaks of and whether its bits are `secret`; an object that answers questions too has `ask` (`Curator`). It says
    what it refuses before any charge (`_check_plan`), and whether a committed key is answered again (`_reused`).
    """

    ledger: Ledger
    opens: ClassVar[bool] = False  # whether its permits open what goes on, such as a stream

    def permit(
        self,
        plan: Event | Description,
        purpose: str,
        *,
        key: str | None = None,
        analyst: str | None = None,
        waiver: str | None = None,
    ) -> Permit:
        """Charge the whole plan, then allow exactly the releases that it names.

        Parameters
        ----------
        plan : Event, or a description with an event and terms
            Public. Everything that will be released.
        purpose : str
            Public. What for; written in the ledger.
        key : str, optional
            Public. Makes a retry safe: a committed key never charges again. A table gives its stored releases again,
            each to the question and mechanism that it was made for; others refuse it.
        analyst, waiver : str, optional
            Public. Who asks; the owner's reason for a release without a promise.
        """
        for name, text in (("key", key), ("analyst", analyst), ("waiver", waiver)):
            if text is not None:
                check_text(purpose, name, text)
        plan = self._own(plan)
        event = plan if isinstance(plan, Event) else plan.event
        if hasattr(plan, "opened") and not self.opens:
            obstacle = f"a {type(self).__name__} opens nothing that goes on"
            raise NotPermitted(purpose, obstacle, "Pay for a stream from a `StreamAccount` of the same ledger.")
        purpose, promise = self._full(purpose), self._promise(plan)
        if self.ledger.neighbors is None:  # else the ledger does so
            check_relation(event, promise.neighbors, purpose)
        self._check_plan(plan, purpose, key)
        charge = self.ledger.reserve(
            event,
            purpose,
            request=self._request(plan, purpose),
            key=key,
            analyst=analyst,
            waiver=waiver,
            secret=promise.secret,
        )
        if isinstance(charge, Committed) and (refusal := self._reused(purpose, charge.key)) is not None:
            raise refusal
        keyed = key is not None or isinstance(charge, Committed)  # without a key, by an account that is elsewhere
        described = None if isinstance(plan, Event) else plan
        return Permit(promise, self.ledger, charge, event, purpose, keyed=keyed, described=described)

    def _own(self, plan: Event | Description) -> Event | Description:
        """The plan as it is paid for: a copy, where what is done to the given one later could matter."""
        return plan

    def _full(self, purpose: str) -> str:
        return purpose

    def _promise(self, plan: Event | Description) -> Promise:
        """What the charge speaks of."""
        return self  # type: ignore[return-value]

    def _check_plan(self, plan: Event | Description, purpose: str, key: str | None) -> None:
        """Refuse, before anything is charged, what cannot be done."""

    def _request(self, plan: Event | Description, purpose: str) -> str:
        """What a key stands for, beside the event."""
        return f"{purpose}\n{written(plan)}" if isinstance(plan, Event) else plan.terms

    def _reused(self, purpose: str, key: str) -> DiscreetError | None:
        """Why a key that was committed is refused; None where its releases are given again."""
        obstacle = f"the key {key!r} was paid for and used before, and what was made then is not given again"
        return NotPermitted(purpose, obstacle, "Take another key, or none.", "Nothing more was released or spent.")
