"""A private histogram of up to three columns, fine enough for any number of M-estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.questions.tables.cells import cut
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.tables.domain import Bins, Domain
from discreet.releases.ask import ColumnsOf, OneSum
from discreet.releases.groups import By, GroupedResults
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.schema.schema import Number
from discreet.statistics.tables.contingency import ContingencyTable, contingency, counted_cells

MOST_COLUMNS = 3
GUESS = 3000  # records, where their number is secret and not given
FEWEST = 4  # bins of a number, where they are not given
TIMES = {1: 4.0, 2: 2.0, 3: 1.0}  # factor of their number, by how many numbers there are


@overload
def perturbed_histogram(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> ContingencyTable: ...
@overload
def perturbed_histogram(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: By,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> GroupedResults[ContingencyTable]: ...
@statistic(like=contingency)
def perturbed_histogram(
    of: ColumnsOf,
    *,
    bins: Bins | None = None,
    expected_size: int | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
) -> OneSum[ContingencyTable]:
    """Release how many records fall in each cell of a grid over up to three columns.

    Parameters
    ----------
    data : PrivateData, array of shape (n,) or (n, columns), or data frame
        The records. One with a missing value in any of the columns is in no cell.
    columns : sequence of str, optional
        Public. One to three columns, numbers or categories; for an array, their names.
    bins : int, or mapping of str to int, optional
        Public. The number of bins of each number. By default, each of d numbers has c (epsilon n)**(2 / (4 + d)) bins,
        for n records; c is 4, 2 or 1 for one, two or three numbers. Noise moves a mean of scores in proportion to the
        root of the number of cells over epsilon n, and bins blur it by their squared width at most, since counts are
        laid out along slopes; here the two are in balance. (Lei, with all of a count at the centre of its cell, needs
        more: the power is 2 / (2 + d).) Values that are whole numbers need a bin each, with the value at its centre.
    expected_size : int, optional
        Public. About how many records there are, for the number of bins; where it is secret and not given, 3,000.

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
    each = bins_of_columns("perturbed histogram", of, bins, expected_size)
    return counted_cells(of, few_cells(of, each), lambda table: table, confidence, population)


def few_cells(of: ColumnsOf, bins: Bins) -> Domain:
    """The cells of a table that is listed as a whole."""
    return cut(of.schema, of.columns, bins).listable(f"table of {', '.join(of.columns)}", "Ask for fewer bins.")


def bins_of_columns(asked: str, of: ColumnsOf, bins: Bins | None, expected_size: int | None) -> dict[str, int]:
    """The number of bins of each number, of three columns at most: as given, or from public numbers alone."""
    if len(of.columns) > MOST_COLUMNS:
        obstacle = f"it has {len(of.columns)} columns, and the noise of all cells grows with every one"
        remedy = f"Name one to {MOST_COLUMNS} columns, or use a learner."
        raise ParameterError(asked, obstacle, remedy, columns=of.columns)
    numbers = [name for name in of.columns if isinstance(of.schema.columns.get(name), Number)]
    if expected_size is not None:
        check_whole(asked, "expected_size", expected_size)
    if bins is not None and not isinstance(bins, int | np.integer | Mapping):
        raise ParameterError(asked, f"bins is {bins!r}", "Give a whole number, or one by column.")
    if isinstance(bins, int | np.integer):
        return dict.fromkeys(numbers, int(bins))
    usual = _usual(of, len(numbers), expected_size) if numbers else 0
    return {**dict.fromkeys(numbers, usual), **(bins or {})}


def _usual(of: ColumnsOf, numbers: int, expected_size: int | None) -> int:
    """The usual number of bins, by how many numbers there are."""
    coarse = Domain.of(of.data.schema, of.columns, FEWEST)
    question = contingency_of(of.data.schema, coarse.columns, coarse.bins)
    spread = least_noise(of.data, question, of.budget)
    noise = spread.law.scale(spread.stddev)
    number = expected_size or of.size or GUESS
    return max(round(TIMES[numbers] * (number / noise) ** (2 / (4 + numbers))), FEWEST)
