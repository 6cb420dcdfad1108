"""A pair for several releases at once, so that a sample can be asked all of them."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.accounting.pairs.pairs import Array, AtomsPair, LossPair
from discreet.accounting.pairs.tabulation import TabulatedLoss, table_above

CELLS = 2**13
LOG_TAIL = math.log(1e-45)
ROUNDING = 2.0**-39  # a sum of CELLS products of positive numbers, some sixty times over


@dataclass(frozen=True)
class _Law:
    """Masses from index `first` of a lattice on; what is missing is infinite."""

    first: int
    masses: Array

    def plus(self, other: _Law) -> _Law:
        return _Law(self.first + other.first, np.convolve(self.masses, other.masses))

    def times(self, count: int) -> _Law:
        if count == 1:
            return self
        half = self.times(count // 2)
        return half.plus(half).plus(self) if count % 2 else half.plus(half)


def convolved(parts: list[tuple[LossPair, int]]) -> AtomsPair:
    """A pair that dominates the composition of these pairs, each repeated a given number of times.

    The tables above are convolved term by term, without a transform: all terms are positive, so every mass keeps its
    relative precision, and a bound on it goes into the masses.
    """
    reaches = [(pair.reach(LOG_TAIL), times) for pair, times in parts]
    step = max(math.fsum(times * (reach.high - reach.low) for reach, times in reaches), 1e-9) / CELLS
    tables = [(table_above(pair, step, LOG_TAIL), times) for pair, times in parts]
    law = _Law(0, np.ones(1))
    for table, times in tables:
        law = law.plus(_Law(table.first, table.masses).times(times))
    slack = math.fsum(times * table.slack for table, times in tables)
    losses = step * (law.first + np.arange(len(law.masses), dtype=np.float64)) + slack
    infinity = -math.expm1(math.fsum(times * _log1m(table) for table, times in tables))
    p = law.masses * (1 + ROUNDING)
    kept, q = p > 0, p * np.exp(-losses)
    return AtomsPair(losses[kept], p[kept], q[kept], infinity, max(0.0, 1 - float(q.sum())))


def _log1m(table: TabulatedLoss) -> float:
    return math.log1p(-table.infinity) if table.infinity < 1 else -math.inf
