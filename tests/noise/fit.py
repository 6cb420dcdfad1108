"""How well draws fit a law: p-values, and sources of bits that say what they are told."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from discreet.core.grid import Array, Steps

ALARM = 1e-4  # seeds are fixed, so a test that passes once passes always


def chi_square(draws: Steps, probability: Callable[[Array], Array], reach: int) -> float:
    """The p-value of integer draws against the probabilities of -reach .. reach.

    Values that are expected fewer than ten times are put together; where even those are few, Poisson's law of their
    number gives a second p-value, and the smaller one counts.
    """
    values = np.arange(-reach, reach + 1)
    expected = probability(values.astype(np.float64)) * draws.size
    observed = np.array([np.count_nonzero(draws == k) for k in values], dtype=np.float64)
    common = expected > 10
    expected, observed = expected[common], observed[common]
    rest, others = max(0.0, draws.size - expected.sum()), draws.size - observed.sum()
    many = rest > 5
    if many:
        expected, observed = np.append(expected, rest), np.append(observed, others)
    few = 1.0 if many else float(stats.poisson.sf(others - 1, rest))
    if len(expected) == 1:
        return few
    return min(few, float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), len(expected) - 1)))


def chi_square_of_bins(draws: Array, quantile: Callable[[Array], Array], bins: int) -> float:
    """The p-value of real draws against so many equally likely bins."""
    edges = quantile(np.arange(1, bins) / bins)
    observed = np.bincount(np.searchsorted(edges, draws), minlength=bins)
    expected = draws.size / bins
    return float(stats.chi2.sf(((observed - expected) ** 2 / expected).sum(), bins - 1))


class ScriptedBits:
    """A source that gives out these words, and these integers."""

    secret = False

    def __init__(self, words: list[int], integers: list[int]) -> None:
        self._words, self._integers = list(words), list(integers)

    def words(self, count: int) -> NDArray[np.uint64]:
        taken, self._words = self._words[:count], self._words[count:]
        assert len(taken) == count
        return np.array(taken, dtype=np.uint64)

    def integer(self, width: int) -> int:
        return self._integers.pop(0) % (1 << width)
