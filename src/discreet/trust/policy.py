"""What the owner of a party lets be asked of it, whatever all parties have agreed on."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from hashlib import sha256

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.ledger import Entry
from discreet.crypto.messages import listed
from discreet.questions.recipe import Recipe
from discreet.trust.federation import Federation

OVER = ", over the parties "  # in the purpose of a charge, before the digest of their names


@dataclass(frozen=True)
class Policy:
    """What a party answers: which recipes, at what price, among how many, and how often.

    All is checked before anything is built or paid for, and nothing of it depends on a record. Numbers of a day and of
    sets are those of the party's account, and of the process where it has none: a restart changes neither.

    Parameters
    ----------
    recipes : iterable of str, optional
        Public. The names of the only recipes that are used; all of its trusted packages where not given.
    most : Budget, optional
        Public. What a single question may cost at most; what the account can pay where not given. At delta 0 only
        Laplace noise can be asked for.
    parties : int, optional
        Public. The fewest parties that a sum may be over. What binds all is the federation's threshold: others open a
        sum without the word of this party. So the party takes no part where the threshold is lower.
    units : int, optional
        Public. The fewest units that a sum may be over, by what the parties state in the federation's `sizes`: those of
        the smallest parties, as many as the threshold. No table is asked, since its size may be secret.
    sets : int, optional
        Public. Over how many different sets of parties its records may be added up: two sums over different sets show,
        by their difference, the noisy sum of a few. It counts whatever is asked, since any question can be put in other
        words. The party refuses a further set before it pays, and signs no sum over fewer than those with whom it began
        to pay: who leaves in between ends the round, and what was charged for it stays so. Sums of the others are
        prevented where more parties than may leave have this rule.
    daily : int, optional
        Public. How many questions are answered on one day (UTC).

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
    parties: int | None = None
    units: int | None = None
    sets: int | None = None
    daily: int | None = None

    def __post_init__(self) -> None:
        if isinstance(self.recipes, str):
            raise ParameterError("policy", f"recipes is the single text {self.recipes!r}", "Give a list of names.")
        if self.recipes is not None:
            object.__setattr__(self, "recipes", frozenset(self.recipes))
        for name in ("parties", "units", "sets", "daily"):
            if (value := getattr(self, name)) is not None:
                check_whole("policy", name, value)

    @property
    def counts(self) -> bool:
        """Whether it depends on what was answered before."""
        return self.daily is not None or self.sets is not None

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

    def check_federation(self, agreed: Federation) -> None:
        """Refuse to take part where a sum may be over too few parties, or units.

        Examples
        --------
        >>> from discreet.schema.schema import Schema
        >>> from discreet.trust.secure_sum import SecureSum
        >>> wards = {"north": {"x0": [1.0]}, "south": {"x0": [2.0]}, "west": {"x0": [3.0]}}
        >>> with SecureSum.rehearsal(wards, Schema.numeric(0.0, 9.0, 1), threshold=2) as trust:
        ...     Policy(parties=3).check_federation(trust.federation)
        Traceback (most recent call last):
        discreet.core.errors.NotPermitted: federation: a sum may be over 2 parties, and the party's policy asks for 3. \
Nothing was released or spent. Agree on a threshold of 3 or more.
        """
        if self.parties is not None and agreed.threshold < self.parties:
            raise NotPermitted(
                "federation",
                f"a sum may be over {agreed.threshold} parties, and the party's policy asks for {self.parties}",
                f"Agree on a threshold of {self.parties} or more.",
                parties=agreed.threshold,
            )
        if self.units is not None and agreed.fewest_units < self.units:
            stated = f"{agreed.fewest_units} units" if agreed.sizes else "any number of units, as no sizes are stated"
            raise NotPermitted(
                "federation",
                f"a sum may be over {stated}, and the party's policy asks for {self.units}",
                "Agree on a higher threshold, or state larger sizes in the federation.",
                units=agreed.fewest_units,
            )

    def check_day(self, entries: Sequence[Entry]) -> None:
        """Refuse one question more than are answered on a day."""
        if self.daily is None:
            return
        asked = sum(entry.at == today() for entry in entries)
        if asked >= self.daily:
            obstacle = f"{asked} questions were answered today, and the party's policy allows {self.daily} a day"
            raise NotPermitted("question", obstacle, "Ask again tomorrow (UTC).", answered=asked)

    def check_set(self, names: Sequence[str], entries: Sequence[Entry]) -> None:
        """Refuse one more set of parties than sums may be over."""
        if self.sets is None:
            return
        earlier = {entry.purpose.rpartition(OVER)[2] for entry in entries if OVER in entry.purpose}
        if set_digest(names) not in earlier and len(earlier) >= self.sets:
            raise NotPermitted(
                "question",
                f"its sum would be over other parties than the {len(earlier)} set(s) of them that sums were over so "
                f"far, and the party's policy allows {self.sets}: their difference would show the sum of a few",
                "Ask when all are there who were there before.",
                sets=len(earlier),
            )


ANYTHING = Policy()


def set_digest(names: Iterable[str]) -> str:
    """Some parties, in sixteen letters: it is written in every account that counts sets."""
    return sha256(listed(sorted(names))).hexdigest()[:16]


def today() -> str:
    """The day as accounts write it."""
    return datetime.now(UTC).date().isoformat()


def unpaid(event: Event, purpose: str, key: str) -> Entry:
    """A round of a party without an account, as an account would have it."""
    return Entry(0, today(), key, purpose, event, None, None, 0.0, 0.0, committed=True, head="")
