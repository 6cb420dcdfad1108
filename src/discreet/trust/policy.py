"""Which questions a party answers, whatever its account could pay."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.accounting.accountant import epsilon
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.questions.recipe import Recipe


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
