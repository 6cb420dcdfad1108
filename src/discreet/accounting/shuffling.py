"""Amplification by shuffling: what reports cost when nobody knows who sent which."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, DiscreteLoss
from discreet.core.grid import Array
from discreet.core.loss_cells import LossCells

UP = 1 + 2.0**-48
BLOCKS = 256  # of numbers of clones, each block taken at its least
CELLS = 2**9  # of loss, on either side of 0
TAIL = 12.0  # in standard deviations: beyond lies exp(-72)
WRITTEN_OFF = 2.0**-100  # three such tails, and more


def shuffled(epsilon: float, people: int) -> DiscreteLoss:
    """The price of one report from each of n people, in random order, for replace neighbors.

    Everybody uses the same randomiser, whatever it is, and it is pure with epsilon. `shuffling.md` proves that what
    one person's report shows is dominated by two counts: of each other person a clone is counted with probability
    exp(-epsilon), on either side alike, and of the person one more, on the own side with odds exp(epsilon).
    Feldman, McMillan and Talwar 2021 (hiding among the clones).

    Parameters
    ----------
    epsilon : float
        Public. What each report costs whoever sees it alone.
    people : int
        Public. How many report, at least. Whoever colludes, or publishes the report, does not count.

    Returns
    -------
    DiscreteLoss
        The tabulated loss, rounded up. A probability of 1e-30 is written off.

    Examples
    --------
    >>> from discreet.accounting.accountant import epsilon
    >>> round(epsilon(shuffled(1.0, 10_000), 1e-6), 3)
    0.053
    """
    _check(epsilon, people)
    return _tabulated(epsilon, int(people), math.exp(-epsilon) * (1 - 2.0**-50))


def shuffled_response(epsilon: float, people: int) -> DiscreteLoss:
    """The price of one binary randomised response from each of n people, in random order.

    The two sides of this randomiser have no report in common, so that there are more clones than `shuffled` may count
    on: each of the others tosses a fair coin with probability 2 / (1 + exp(epsilon)). For replace neighbors, as there.

    Examples
    --------
    >>> from discreet.accounting.accountant import epsilon
    >>> round(epsilon(shuffled_response(1.0, 10_000), 1e-6), 3)
    0.043
    """
    _check(epsilon, people)
    return _tabulated(epsilon, int(people), 2 / (1 + math.exp(epsilon)) * (1 - 2.0**-50))


def shuffling_theorem(epsilon: float, people: int, delta: float) -> ApproximateLoss:
    """The closed form: ln(1 + tanh(epsilon / 2) (8 sqrt(e^epsilon ln(4 / delta) / n) + 8 e^epsilon / n)), for n people.

    Feldman, McMillan and Talwar 2021, Theorem 3.1, for epsilon <= ln(n / (16 ln(2 / delta))). `shuffled` is less.

    Examples
    --------
    >>> round(shuffling_theorem(1.0, 10_000, 1e-6).epsilon, 3)
    0.214
    """
    _check(epsilon, people)
    if not 0 < delta < 1:
        raise ParameterError("shuffling theorem", f"delta is {delta}", "Give a delta in (0, 1).", delta=delta)
    most = math.log(people / (16 * math.log(2 / delta)))
    if epsilon > most:
        raise ParameterError(
            "shuffling theorem",
            f"epsilon is {epsilon}, and for {people} people at delta {delta} the theorem covers at most {most:.4g}",
            "Use `shuffled`, which has no such limit.",
        )
    grown = math.exp(epsilon)
    spread = 8 * math.sqrt(grown * math.log(4 / delta) / people) + 8 * grown / people
    return ApproximateLoss(math.log1p(math.tanh(epsilon / 2) * spread) * UP, delta)


def _check(epsilon: float, people: int) -> None:
    if not 2.0**-20 <= epsilon <= 40:
        raise ParameterError("shuffling", f"epsilon is {epsilon}", "Give an epsilon between 1e-6 and 40.")
    check_whole("shuffling", "people", people, most=2**30)


@lru_cache(maxsize=256)
def _tabulated(epsilon: float, people: int, chance: float) -> DiscreteLoss:
    """The loss of the two counts, with clones of this chance among the others.

    Fewer clones lose more, since further ones could be added by whoever sees the counts; so a block of numbers of
    clones may be taken at its least.
    """
    clones = _Binomial(people - 1, chance)
    starts = np.unique(np.linspace(0, clones.last - clones.first + 1, BLOCKS + 1).astype(np.int64))[:-1]
    weights = np.add.reduceat(clones.masses, starts)
    sides = [_Counts(epsilon, clones.first + int(start)) for start in starts]
    top = max(side.top for side in sides)
    p, q = np.zeros((2, 2 * CELLS))
    for weight, side in zip(weights, sides, strict=True):
        cells = np.clip(np.floor(side.losses * (CELLS / top)).astype(np.int64) + CELLS, 0, 2 * CELLS - 1)
        p += np.bincount(cells, weight * side.masses(epsilon), 2 * CELLS)
        q += np.bincount(cells, weight * side.masses(-epsilon), 2 * CELLS)
    cut = clones.first > 0 or any(side.clones.cut for side in sides)
    table = LossCells(top / CELLS, -CELLS, p, q, WRITTEN_OFF if cut else 0.0).table
    return DiscreteLoss(top / CELLS, table, table)


@dataclass(frozen=True)
class _Binomial:
    """The number of successes in n trials.

    Only numbers within TAIL standard deviations and TAIL**2 of the mean: by Bernstein's inequality that leaves out at
    most exp(-TAIL**2 / 2) on either side.
    """

    trials: int
    chance: float

    @property
    def spread(self) -> float:
        return TAIL * math.sqrt(self.trials * self.chance * (1 - self.chance)) + TAIL**2

    @property
    def first(self) -> int:
        return max(0, math.floor(self.trials * self.chance - self.spread))

    @property
    def last(self) -> int:
        return min(self.trials, math.ceil(self.trials * self.chance + self.spread))

    @property
    def cut(self) -> bool:
        return self.first > 0 or self.last < self.trials

    @property
    def masses(self) -> Array:
        """The probabilities: ratios of neighbors, multiplied from the middle outwards, and scaled."""
        numbers = np.arange(self.first, self.last, dtype=np.float64)
        ratios = (self.trials - numbers) / (numbers + 1) * (self.chance / (1 - self.chance))
        middle = int(np.count_nonzero(ratios > 1))
        falling = np.cumprod(1 / ratios[:middle][::-1])[::-1]
        found = np.concatenate([falling, [1.0], np.cumprod(ratios[middle:])])
        return found / found.sum()


@dataclass(frozen=True)
class _Counts:
    """How many of the clones and the person are on the own side, and how many on the other."""

    epsilon: float
    number: int

    @property
    def clones(self) -> _Binomial:
        return _Binomial(self.number, 0.5)

    @property
    def losses(self) -> Array:
        """ln((e^epsilon a + b) / (a + e^epsilon b)) for a on the own side and b on the other."""
        own = np.arange(self.clones.first, self.clones.last + 2, dtype=np.float64)
        return self._loss(own)

    @property
    def top(self) -> float:
        return float(self._loss(np.array([self.clones.last + 1.0]))[0])

    def masses(self, log_odds: float) -> Array:
        """The probabilities, where the person is on the own side with these odds."""
        clones, odds = self.clones.masses, math.exp(log_odds)
        return (odds * np.append(0.0, clones) + np.append(clones, 0.0)) / (odds + 1)

    def _loss(self, own: Array) -> Array:
        other, grown = self.number + 1 - own, math.exp(self.epsilon)
        return np.log1p(math.expm1(self.epsilon) * (own - other) / (own + grown * other))
