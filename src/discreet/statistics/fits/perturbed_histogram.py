"""A private histogram of up to three columns, fine enough for any number of M-estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import Bins, Domain
from discreet.releases.ask import ColumnsOf, columns_of
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE
from discreet.schema.schema import Number
from discreet.statistics.tables.contingency import ContingencyTable, contingency
from discreet.trust.as_private import Bounds

MOST_COLUMNS = 3
GUESS = 3000  # records, where their number is secret and not given
FEWEST = 4  # bins of a number, where they are not given
TIMES = {1: 4.0, 2: 2.0, 3: 1.0}  # factor of their number, by how many numbers there are


@checked
def perturbed_histogram(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> ContingencyTable:
    """Release how many records fall in each cell of a grid over up to three columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n,) or (n, columns), or data frame
        The records. One with a missing value in any of the columns is in no cell.
    columns : sequence of str, optional
        Public. One to three columns, numbers or categories; for an array, their names.
    bounds : (lower, upper) or Schema, optional
        Public. For an array: two numbers, or two sequences with one number per column.
    bins : int, or mapping of str to int, optional
        Public. The number of bins of each number. By default, each of d numbers has c (epsilon n)**(2 / (4 + d)) bins,
        for n records; c is 4, 2 or 1 for one, two or three numbers. Noise moves a mean of scores in proportion to the
        root of the number of cells over epsilon n, and bins blur it by their squared width at most, since counts are
        laid out along slopes; here the two are in balance. (Lei, with all of a count at the centre of its cell, needs
        more: the power is 2 / (2 + d).) Values that are whole numbers need a bin each, with the value at its centre.
    expected_size : int, optional
        Public. About how many records there are, for the number of bins; where it is secret and not given, 3,000.
    confidence, population, epsilon, delta, key
        Public. As for `contingency`.

    Returns
    -------
    ContingencyTable
        A noisy count for every cell, the empty ones too. `m_estimate_of` computes M-estimates from it, at no cost.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together, for the data
    set's own neighbors. A record is in one cell only, so the price does not grow with their number. Dwork, McSherry,
    Nissim and Smith 2006, section 3; as the release that M-estimates are computed from, Lei 2011.

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(40, 12, 10_000)
    >>> perturbed_histogram(ages, bounds=(0, 100), epsilon=1.0).counts.shape
    (98,)
    """
    budget = Budget(epsilon, delta)
    of = few_columns_of("perturbed histogram", data, columns, bounds, budget)
    each = bins_of_columns(of, bins, expected_size, budget)
    return contingency(
        of.data,
        of.columns,
        bins=each,
        confidence=confidence,
        population=population,
        epsilon=epsilon,
        delta=delta,
        key=key,
    )


def few_columns_of(
    asked: str, data: Any, columns: Sequence[str] | None, bounds: Bounds | None, budget: Budget
) -> ColumnsOf:
    """The columns that were asked for: one to three."""
    of = columns_of(asked, data, columns, bounds, budget)
    if len(of.columns) > MOST_COLUMNS:
        obstacle = f"it has {len(of.columns)} columns, and the noise of all cells grows with every one"
        remedy = f"Name one to {MOST_COLUMNS} columns, or use a learner."
        raise ParameterError(asked, obstacle, remedy, columns=of.columns)
    return of


def bins_of_columns(of: ColumnsOf, bins: Bins | None, expected_size: int | None, budget: Budget) -> dict[str, int]:
    """The number of bins of each number: as given, or from public numbers alone."""
    numbers = [name for name in of.columns if isinstance(of.data.schema.columns.get(name), Number)]
    if expected_size is not None:
        check_whole("perturbed histogram", "expected_size", expected_size)
    if bins is not None and not isinstance(bins, int | np.integer | Mapping):
        raise ParameterError("perturbed histogram", f"bins is {bins!r}", "Give a whole number, or one by column.")
    if isinstance(bins, int | np.integer):
        return dict.fromkeys(numbers, int(bins))
    usual = _usual(of, len(numbers), expected_size, budget) if numbers else 0
    return {**dict.fromkeys(numbers, usual), **(bins or {})}


def _usual(of: ColumnsOf, numbers: int, expected_size: int | None, budget: Budget) -> int:
    """The usual number of bins, by how many numbers there are."""
    coarse = Domain.of(of.data.schema, of.columns, FEWEST)
    question = contingency_of(of.data.schema, coarse.columns, coarse.bins)
    spread = least_noise(of.data, question, budget)
    noise = spread.law.scale(spread.stddev)
    number = expected_size or of.data.public_size or GUESS
    return max(round(TIMES[numbers] * (number / noise) ** (2 / (4 + numbers))), FEWEST)
