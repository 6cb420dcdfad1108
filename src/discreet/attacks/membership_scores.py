"""Scores of records that were in and of others that were not, and how well they tell these apart."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "scores of members and others"


@dataclass(frozen=True)
class MembershipScores:
    """One score for each member and each other record, in the order of their rows; a member's is meant to be higher.

    Parameters
    ----------
    members, others : array
        The scores. What is not a number counts as the lowest score.

    Examples
    --------
    >>> scores = MembershipScores.of([3.0, 2.0, 0.5], [0.0, 1.0, 0.2])
    >>> round(scores.area, 3), round(scores.rate_at(0.0), 3), scores.guessed_right
    (0.889, 0.667, 4)
    """

    members: Array = field(repr=False)
    others: Array = field(repr=False)

    @classmethod
    def of(cls, members: ArrayLike, others: ArrayLike) -> MembershipScores:
        """Scores from two sequences of numbers, neither of which is empty."""
        here, there = (_scores(values) for values in (members, others))
        if not len(here) or not len(there):
            obstacle = f"there are {len(here)} members and {len(there)} others"
            raise ParameterError(ASKED, obstacle, "Give at least one of each.")
        return cls(here, there)

    @property
    def share(self) -> float:
        """The share of members among all."""
        return len(self.members) / (len(self.members) + len(self.others))

    @property
    def curve(self) -> tuple[Array, Array]:
        """False- and true-positive rates at every threshold, from none accused to all: the ROC curve."""
        scores = np.concatenate([self.members, self.others])
        steps = np.unique(scores)[::-1]
        wrong, right = (_above(steps, values) for values in (self.others, self.members))
        return np.r_[0.0, wrong], np.r_[0.0, right]

    @property
    def area(self) -> float:
        """The area under the curve: how often a member has the higher score, ties counting a half."""
        wrong, right = self.curve
        return float(np.trapezoid(right, wrong))

    def rate_at(self, false_positives: float) -> float:
        """The true-positive rate where at most this share of others is accused; no line is drawn between thresholds."""
        wrong, right = self.curve
        return float(right[np.searchsorted(wrong, false_positives, side="right") - 1])

    @property
    def guessed_right(self) -> int:
        """How many guesses are right if as many records are called members as there are members, by score.

        Records that tie at the threshold are called members in the share that is left for them, rounded down.
        """
        return self._right_of_highest(len(self.members)) + self._right_of_lowest(len(self.others))

    def right_of_ends(self, guesses: int) -> int:
        """How many are right if half of the guesses call the highest scores members, and half the lowest others."""
        high = guesses // 2
        return self._right_of_highest(high) + self._right_of_lowest(guesses - high)

    def _right_of_highest(self, guesses: int) -> int:
        return _fewest(self.members, self.others, guesses)

    def _right_of_lowest(self, guesses: int) -> int:
        return _fewest(-self.others, -self.members, guesses)

    @property
    def worst_off(self) -> NDArray[np.int64]:
        """The rows of members, those that stand out most first."""
        return np.argsort(-self.members, kind="stable").astype(np.int64)


def _scores(values: ArrayLike) -> Array:
    scores = np.asarray(values, dtype=np.float64).ravel()
    return np.where(np.isnan(scores), -np.inf, scores)


def _above(steps: Array, values: Array) -> Array:
    ordered = np.sort(values)
    return 1 - np.searchsorted(ordered, steps) / len(values)


def _fewest(wanted: Array, unwanted: Array, guesses: int) -> int:
    """The wanted among the highest `guesses`, where ties at the end count in proportion, rounded down."""
    if guesses == 0:
        return 0
    ordered = np.sort(np.concatenate([wanted, unwanted]))[::-1]
    last = ordered[guesses - 1]
    surely = int((wanted > last).sum())
    left = guesses - int((ordered > last).sum())
    tied, among = int((wanted == last).sum()), int((ordered == last).sum())
    return surely + left * tied // among
