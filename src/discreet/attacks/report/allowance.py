"""What a promise allows an adversary at most."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.attacks.attack_result import AttackResult
from discreet.core.neighbors import Neighbors
from discreet.core.receipt import Receipt


@dataclass(frozen=True)
class Allowance:
    """What epsilon and delta leave possible, whatever the adversary knows and computes.

    Parameters
    ----------
    epsilon, delta : float
        Of the promise.
    neighbors : Neighbors
        For which data sets it is made. Where a record is added or removed, another value of a record is two steps away.

    Notes
    -----
    Let a record be in with some probability, or have one of several values, p being the greatest prior probability. A
    guess is right with probability at most p e^epsilon / (1 - p + p e^epsilon) + delta, for two values and for any
    number of values that are equally likely. Sum the promise over all wrong guesses w of values v:
    P(w | v) >= e^-epsilon (P(w | w) - delta). For two values the bound is reached (Kairouz, Oh and Viswanath 2015).

    Examples
    --------
    >>> promise = Allowance(1.0, 1e-6)
    >>> round(promise.true_positives(0.01), 4), round(promise.success(0.5), 4), promise.success(1.0)
    (0.0272, 0.7311, 1.0)
    """

    epsilon: float
    delta: float = 0.0
    neighbors: Neighbors = Neighbors.ADD_REMOVE

    @classmethod
    def of(cls, receipt: Receipt) -> Allowance:
        """That of a receipt; none at all where the noise was known."""
        if not receipt.secret:
            return cls(math.inf, 0.0, receipt.neighbors)
        return cls(receipt.epsilon, receipt.delta, receipt.neighbors)

    def true_positives(self, false_positives: float) -> float:
        """The share of members that are found, where this share of others is accused wrongly."""
        if math.isinf(self.epsilon):
            return 1.0
        straight = math.exp(min(self.epsilon, 700.0)) * false_positives + self.delta
        across = 1 - math.exp(-self.epsilon) * (1 - self.delta - false_positives)
        return min(1.0, straight, across)

    def success(self, chance: float) -> float:
        """How often a guess is right which would be right by chance so often."""
        if chance in (0.0, 1.0) or math.isinf(self.epsilon):
            return 1.0 if chance > 0 else chance
        odds = chance * math.exp(min(self.epsilon, 700.0))
        return min(1.0, odds / (1 - chance + odds) + self.delta)

    @property
    def between_values(self) -> Allowance:
        """The same for two values of one record that is there anyway."""
        if self.neighbors is Neighbors.REPLACE:
            return self
        twice = self.delta * (1 + math.exp(min(self.epsilon, 700.0)))
        return Allowance(2 * self.epsilon, min(1.0, twice), Neighbors.REPLACE)

    def for_result(self, result: AttackResult) -> float:
        """The success that it leaves to an attack."""
        return (self if result.scores is not None else self.between_values).success(result.chance)

    def exceeded_by(self, result: AttackResult) -> bool:
        """Whether an attack on membership went beyond it, with the confidence of its interval."""
        most = self.for_result(result)
        if result.scores is None or most >= 1 or not 0 < result.chance < 1:
            return False
        return result.epsilon > math.log(most * (1 - result.chance) / (result.chance * (1 - most))) + 1e-9
