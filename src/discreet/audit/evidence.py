"""Witnesses from outputs: one part of the outputs chooses events, the rest counts them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy import special

from discreet.audit.ratio import Ratio, Score, Teacher, Values, scores, spread
from discreet.audit.witness import Count, Witness, at_least, at_most
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

THRESHOLDS = 64  # at most, of equal shares of the outputs between thresholds, and finer ones at both ends
CROWD = 8  # no fewer outputs between two thresholds
FEWEST = 40  # outputs on each data set
LEARN = 200_000  # at most half of the outputs, and no more than these, choose events
FIT = 50_000  # at most half of those, and no more than these, teach the scores


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


@dataclass(frozen=True)
class Parts:
    """Outputs on one data set, in three independent parts."""

    fit: Values = field(repr=False)
    choose: Values = field(repr=False)
    count: Values = field(repr=False)

    @classmethod
    def of(cls, outputs: Values) -> Parts:
        """Cut in their order; independent outputs need no shuffling."""
        learn = min(len(outputs) // 2, LEARN)
        fit = min(learn // 2, FIT)
        return cls(outputs[:fit], outputs[fit:learn], outputs[learn:])


def witnesses(
    first: ArrayLike, second: ArrayLike, *, deltas: Sequence[float], confidence: float, teach: Teacher = scores
) -> tuple[Witness, ...]:
    """Events chosen for epsilon at each delta and for mu, with bounds that hold all at once with this confidence.

    The events are among those that the scores of `teach` order.
    """
    outputs, others = _numbers(first), _numbers(second)
    _check(outputs, others, deltas, confidence)
    here, there = Parts.of(outputs), Parts.of(others)
    known = teach(here.fit, there.fit)
    risk = 1 - confidence
    rules = promising(known, here.choose, there.choose, deltas, risk / (2 + 4 * len(deltas)))
    return _counted(rules, known, here.count, there.count, risk / (2 * len(rules)))


def _counted(
    rules: Sequence[Rule], known: dict[str, Score], first: Values, second: Values, risk: float
) -> tuple[Witness, ...]:
    levels = {name: (known[name](first), known[name](second)) for name in {rule.score for rule in rules}}
    return tuple(_witness(rule, known[rule.score], *levels[rule.score], risk) for rule in rules)


def _witness(rule: Rule, score: Score, first: Values, second: Values, risk: float) -> Witness:
    here, there = (Count(rule.hits(levels), len(levels)) for levels in (first, second))
    words = rule.words(score)
    if rule.first_likelier:
        return Witness(words, "first", often=here, seldom=there, risk=risk)
    return Witness(words, "second", often=there, seldom=here, risk=risk)


def _numbers(outputs: ArrayLike) -> Values:
    found = np.asarray(outputs)
    if found.dtype.kind not in "biuf" or found.ndim == 0 or 0 in found.shape[1:]:
        raise ParameterError(
            "audit",
            f"the outputs are of type {found.dtype} and shape {found.shape}",
            "Turn each output into a number or a row of numbers; any fixed function may do so.",
            shape=found.shape,
        )
    rows = found.reshape(len(found), -1).astype(np.uint8 if found.dtype.kind == "b" else found.dtype, copy=False)
    return rows[:, 0] if rows.shape[1] == 1 else rows


def _check(first: Values, second: Values, deltas: Sequence[float], confidence: float) -> None:
    if first.shape[1:] != second.shape[1:]:
        raise ParameterError(
            "audit",
            f"rows have {first.shape[1:]} numbers on one data set and {second.shape[1:]} on the other",
            "Give outputs of one shape; let a shape that differs be a number of its own.",
        )
    if min(len(first), len(second)) < FEWEST:
        raise ParameterError(
            "audit",
            f"there are {len(first)} and {len(second)} outputs",
            f"Give at least {FEWEST} of each; ten thousand show more.",
        )
    if not deltas or not all(0 <= delta < 1 for delta in deltas):
        raise ParameterError("audit", f"delta is {list(deltas)}", "Give deltas in [0, 1).")
    if not 0.5 <= confidence < 1:
        raise ParameterError("audit", f"confidence is {confidence}", "Give a confidence in [0.5, 1).")
