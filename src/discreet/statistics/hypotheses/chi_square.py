"""Chi-square tests on noisy counts: the same noise is in the reference, so that a p-value means what it says.

The noise in a private table looks like a departure from any hypothesis, and a p-value that leaves it out is far too
small. Here its variance is added to the variance of every count, and the statistic is compared with that of many tables
that are drawn under the hypothesis and have the same noise added (Gaboardi, Lim, Rogers and Vadhan 2016; Rogers and
Kifer 2017).

Noise also hides what the hypothesis leaves open, such as the number of records. Where a test names all that is
plausible, its p-value is the greatest for any of it, plus the chance that the truth is not among it: then it is never
too small (Berger and Boos 1994, Lemma 1). Which tables are drawn follows from the released one, so that whoever has it
finds the same p-value, and the luck of one stream of draws is not in all of them.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Sequence

import numpy as np

from discreet.core.errors import UNTOUCHED, ParameterError
from discreet.core.grid import Array, Grid
from discreet.mechanisms.additive.error_law import NormalError
from discreet.releases.release import check_confidence
from discreet.releases.simulation import Simulation
from discreet.releases.test_result import TestResult
from discreet.statistics.tables.contingency import ContingencyTable

DRAWS = 4999
MOST_CELLS = 2**12
AT_A_TIME = 2**20  # counts
ONE_BY_ONE = 6  # cells whose noises are drawn and added

Statistic = Callable[[Array, float], Array]
"""Tables, stacked along the first axis, and the deviation of their noise in; how far each is from its mean out."""


def chi_square(
    hypothesis: str,
    table: ContingencyTable,
    means: Sequence[Array],
    statistic: Statistic,
    confidence: float,
    *,
    missed: float = 0.0,
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
    means : sequence of arrays
        The counts that the hypothesis expects, as far as the released table shows: all that are plausible.
    statistic : callable
        How far tables are from the hypothesis; applied to simulated ones as well.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.
    missed : float
        Public. The chance that the right counts are not plausible.

    Returns
    -------
    TestResult
        With a p-value of 1 / 5000 or more; the table is its evidence.
    """
    check_confidence(hypothesis, confidence)
    check_cells(hypothesis, table.counts.size, "The table is as it was.")
    found = float(statistic(table.counts[None], table.stddev)[0])
    larger = max(_larger(table, expected, statistic, found) for expected in means)
    return TestResult(
        name="chi-square test",
        hypothesis=hypothesis,
        statistic=found,
        p_value=min((1 + larger) / (1 + DRAWS) + missed, 1.0),
        evidence=table,
        confidence=confidence,
        receipt=table.receipt,
    )


def _larger(table: ContingencyTable, means: Array, statistic: Statistic, found: float) -> int:
    """How many tables with these means, and the noise of this one, are as far from the hypothesis or farther."""
    simulation, larger, left = Simulation(_seed(table)), 0, DRAWS
    while left:
        draws = min(left, max(1, AT_A_TIME // table.counts.size))
        noisy = _noise(simulation, table, (draws, *means.shape))
        tables = simulation.poisson(means, draws) + noisy
        larger += int((statistic(tables, table.stddev) >= found).sum())
        left -= draws
    return larger


def _seed(table: ContingencyTable) -> int:
    """The same for the same released counts."""
    return int.from_bytes(hashlib.sha256(np.ascontiguousarray(table.counts).tobytes()).digest()[:8], "big")


def check_cells(hypothesis: str, cells: int, consequence: str = UNTOUCHED) -> None:
    """Refuse to test a table of too many cells."""
    if cells > MOST_CELLS:
        raise ParameterError(
            hypothesis, f"there are {cells} cells, more than {MOST_CELLS}", "Use fewer bins.", consequence, cells=cells
        )


def _noise(simulation: Simulation, table: ContingencyTable, shape: tuple[int, ...]) -> Array:
    """The noise on each count of a table, rounding included; that of sums of many cells in one draw.

    A sum of m Laplace variables is normal with a variance that is a Gamma variable of shape m, over m, times its own.
    Its cube root is close to normal (Wilson and Hilferty 1931). So tails are as heavy as they are; or heavier, for a
    law between the two.
    """
    spread, summed = table.spread, table.summed
    if summed <= ONE_BY_ONE:
        return np.sum([simulation.noise(spread, shape, Grid(0)) for _ in range(summed)], axis=0)
    drawn = simulation.normal(table.stddev, shape)
    if isinstance(spread.law, NormalError):
        return drawn
    root = 1 - 1 / (9 * summed) + simulation.normal(1 / (3 * math.sqrt(summed)), shape)
    return np.asarray(drawn * np.sqrt(np.maximum(root, 0.0) ** 3))
