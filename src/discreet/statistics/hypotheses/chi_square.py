"""Chi-square tests on noisy counts: the same noise is in the reference, so that a p-value means what it says.

The noise in a private table looks like a departure from any hypothesis, and a p-value that leaves it out is far too
small. Here its variance is added to the variance of every count, and the statistic is compared with that of many tables
that are drawn under the hypothesis and have the same noise added (Gaboardi, Lim, Rogers and Vadhan 2016; Rogers and
Kifer 2017).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.core.grid import Array, Grid
from discreet.releases.release import check_confidence
from discreet.releases.simulation import Simulation
from discreet.releases.spread import Spread
from discreet.releases.test_result import TestResult
from discreet.statistics.tables.contingency import ContingencyTable

DRAWS = 4999
MOST_CELLS = 2**12
AT_A_TIME = 2**20  # counts

Statistic = Callable[[Array, float], Array]
"""Tables, stacked along the first axis, and the deviation of their noise in; how far each is from its mean out."""


def chi_square(
    hypothesis: str, table: ContingencyTable, means: Array, statistic: Statistic, confidence: float
) -> TestResult:
    """Test a released table: post-processing.

    Tables under the hypothesis have counts of records that come independently. Their total is random, and taken from
    each noisy table, as it is from the released one.

    Parameters
    ----------
    hypothesis : str
        Public. What is tested.
    table : ContingencyTable
        Released counts.
    means : array
        The counts that the hypothesis expects, as far as the released table shows.
    statistic : callable
        How far tables are from the hypothesis; applied to simulated ones as well.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.

    Returns
    -------
    TestResult
        With a p-value of 1 / 5000 or more; the table is its evidence.
    """
    check_confidence(hypothesis, confidence)
    check_cells(hypothesis, table.counts.size, "The table is as it was.")
    noise = table.stddev
    found = float(statistic(table.counts[None], noise)[0])
    simulation, larger, left = Simulation(), 0, DRAWS
    while left:
        draws = min(left, max(1, AT_A_TIME // table.counts.size))
        noisy = _noise(simulation, table.spread, table.summed, (draws, *means.shape))
        tables = simulation.poisson(means, draws) + noisy
        larger += int((statistic(tables, noise) >= found).sum())
        left -= draws
    return TestResult(
        name="chi-square test",
        hypothesis=hypothesis,
        statistic=found,
        p_value=(1 + larger) / (1 + DRAWS),
        evidence=table,
        confidence=confidence,
        receipt=table.receipt,
    )


def check_cells(hypothesis: str, cells: int, consequence: str = UNTOUCHED) -> None:
    """Refuse to test a table of too many cells."""
    if cells > MOST_CELLS:
        raise ParameterError(
            hypothesis, f"there are {cells} cells, more than {MOST_CELLS}", "Use fewer bins.", consequence, cells=cells
        )


def _noise(simulation: Simulation, spread: Spread, summed: int, shape: tuple[int, ...]) -> Array:
    """The noise of sums of this many cells; normal, where they are many."""
    if summed > 6:
        return simulation.normal(spread.stddev * summed**0.5, shape)
    return np.sum([simulation.noise(spread, shape, Grid(0)) for _ in range(summed)], axis=0)
