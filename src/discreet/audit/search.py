"""The events that distinguish two data sets best, by some of the outputs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy import special

from discreet.audit.proportion import at_least, at_most
from discreet.audit.ratio import Ratio, Values, spread
from discreet.audit.scores import Score
from discreet.core.grid import Array

THRESHOLDS = 64  # at most, of equal shares of the outputs between thresholds, and finer ones at both ends
CROWD = 8  # no fewer outputs between two thresholds


@dataclass(frozen=True)
class Rule:
    """The event that a score is at or above a threshold (or at or below it), thought likelier on one data set."""

    score: str
    threshold: float
    above: bool
    first_likelier: bool

    def hits(self, levels: Array) -> int:
        """How many outputs, given by their scores, are in the event."""
        return int(np.count_nonzero(levels >= self.threshold if self.above else levels <= self.threshold))

    def words(self, score: Score) -> str:
        """The event as text."""
        if isinstance(score, Ratio):
            return score.where(self.threshold, self.above)
        return f"{self.score} {'>=' if self.above else '<='} {self.threshold:.6g}"


@dataclass(frozen=True)
class Search:
    """Rules of one score and one direction, with bounds on how likely each event is on either data set."""

    score: str
    above: bool
    first_likelier: bool
    thresholds: Array = field(repr=False)
    least: Array = field(repr=False)
    most: Array = field(repr=False)

    def rule(self, place: int) -> Rule:
        """The rule with this threshold."""
        return Rule(self.score, float(self.thresholds[place]), self.above, self.first_likelier)

    def epsilons(self, delta: float) -> Array:
        """What each event would show for epsilon, without a floor at zero."""
        excess = self.least - delta
        return np.where(excess > 0, np.log(np.maximum(excess, 1e-300) / self.most), -np.inf)

    def mus(self) -> Array:
        """What each event would show for mu; nothing where a bound is trivial."""
        return special.ndtri(self.least) - special.ndtri(self.most)


def promising(
    scores: Mapping[str, Score], first: Values, second: Values, deltas: Sequence[float], risk: float
) -> list[Rule]:
    """The best rules for epsilon at each delta, in both directions, and the best for mu; without repetition."""
    searches = [
        search for name, score in scores.items() for search in _searches(name, score(first), score(second), risk)
    ]
    chosen = [_best(searches, [search.mus() for search in searches])]
    for side in (True, False):
        one_way = [search for search in searches if search.first_likelier is side]
        chosen += [_best(one_way, [search.epsilons(delta) for search in one_way]) for delta in deltas]
    return list(dict.fromkeys(chosen))


def _best(searches: Sequence[Search], shown: Sequence[Array]) -> Rule:
    tops = [float(values.max()) for values in shown]
    winner = int(np.argmax(tops))
    return searches[winner].rule(int(np.argmax(shown[winner])))


def _searches(name: str, first: Array, second: Array, risk: float) -> list[Search]:
    thresholds = np.unique(spread(np.concatenate([first, second]), THRESHOLDS, CROWD))
    found = []
    for above in (True, False):
        here, there = (_hits(levels, thresholds, above) for levels in (first, second))
        n, m = len(first), len(second)
        found += [
            Search(name, above, True, thresholds, at_least(here, n, risk), at_most(there, m, risk)),
            Search(name, above, False, thresholds, at_least(there, m, risk), at_most(here, n, risk)),
        ]
    return found


def _hits(levels: Array, thresholds: Array, above: bool) -> Values:
    ordered = np.sort(levels)
    if above:
        return len(ordered) - np.searchsorted(ordered, thresholds, side="left")
    return np.searchsorted(ordered, thresholds, side="right")
