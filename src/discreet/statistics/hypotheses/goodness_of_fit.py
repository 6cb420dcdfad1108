"""Whether a column follows a given law, tested in private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Unpack, overload

import numpy as np
from scipy.special import ndtri

from discreet.core.checks import shown
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.cells import cut
from discreet.questions.tables.domain import BINS
from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.groups import By, GroupedResults
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import HypothesisOptions, statistic
from discreet.releases.test_result import TestResult
from discreet.statistics.hypotheses.chi_square import check_cells, chi_square
from discreet.statistics.tables.contingency import ContingencyTable, counted_cells

MISSED = 1e-4  # the chance that the number of records is not plausible
TOTALS = 5  # numbers of records that stand for all plausible ones

Probabilities = Mapping[str, float] | Sequence[float] | Array


@overload
def goodness_of_fit(
    data: Any,
    column: str | None = None,
    probabilities: Probabilities | None = None,
    *,
    by: None = None,
    bins: int = BINS,
    **options: Unpack[HypothesisOptions],
) -> TestResult: ...
@overload
def goodness_of_fit(
    data: Any,
    column: str | None = None,
    probabilities: Probabilities | None = None,
    *,
    by: By,
    bins: int = BINS,
    **options: Unpack[HypothesisOptions],
) -> GroupedResults[TestResult]: ...
@statistic()
def goodness_of_fit(
    of: ColumnOf,
    probabilities: Probabilities | None = None,
    *,
    bins: int = BINS,
    confidence: float = CONFIDENCE,
) -> OneSum[TestResult]:
    """Test whether the values of a column follow a law.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records, an independent sample. Missing values count for nothing.
    column : str, optional
        Public. A number, cut into equal cells between its bounds, or a category.
    probabilities : mapping of str to float, or sequence of float, optional
        Public. The law: by the names of the cells, or in their order; the same for all cells where not given.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.

    Returns
    -------
    TestResult
        Statistic, p-value, the noisy counts and their receipt. Where noise hides the number of records, p-values are
        too large, and not too small.

    Guarantee
    ---------
    That of `contingency`; the test is post-processing.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> coin = Schema({"coin": Category(("head", "tail"))})
    >>> throws = {"coin": ["head"] * 700 + ["tail"] * 300}
    >>> goodness_of_fit(throws, "coin", {"head": 0.5, "tail": 0.5}, bounds=coin, epsilon=1.0).p_value < 0.001
    True
    """
    domain = cut(of.schema, (of.column,), bins)
    labels = domain.labels[0]
    check_cells(f"law of {of.column}", len(labels))
    law = _law(of.column, labels, probabilities)
    return counted_cells(of, domain, lambda table: goodness_of_fit_of(table, law, confidence=confidence), confidence)


def goodness_of_fit_of(
    table: ContingencyTable, probabilities: Probabilities | None = None, *, confidence: float = CONFIDENCE
) -> TestResult:
    """Test the counts of a column that were released before, at no cost.

    Parameters
    ----------
    table : ContingencyTable
        Released counts of one column.
    probabilities : mapping of str to float, or sequence of float, optional
        Public. The law; see `goodness_of_fit`.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.
    """
    if len(table.columns) != 1:
        remedy = "Take a marginal of one."
        raise ParameterError("test of a law", f"the table has {len(table.columns)} columns", remedy, "It is as it was.")
    law = _law(table.columns[0], table.labels[0], probabilities)

    def expected(tables: Array) -> Array:
        return np.maximum(tables.sum(axis=1, keepdims=True), 1.0) * law

    def squares(tables: Array, noise: float) -> Array:
        means = expected(tables)
        return np.asarray((np.square(tables - means) / (means + noise**2)).sum(axis=1))

    means = [total * law for total in _totals(table)]
    return chi_square(f"{table.columns[0]} follows the law", table, means, squares, confidence, missed=MISSED)


def _totals(table: ContingencyTable) -> Array:
    """Numbers of records that are plausible, given a noisy one: the law of the statistic depends on it, if little.

    They are expected numbers. Noise and the Poisson law of what comes are both within these ends, except in `MISSED` of
    all cases.
    """
    found = float(table.counts.sum())
    noise = table.spread.half_width(np.ones(table.counts.size * table.summed), 1 - MISSED / 2)
    wide = float(ndtri(1 - MISSED / 4))  # deviations
    least = found - noise - wide * math.sqrt(max(found, 1.0))
    most = max(found, 0.0) + noise
    most += wide * math.sqrt(most) + wide**2
    return np.maximum(np.linspace(least, most, TOTALS), 1.0)


def _law(column: str, labels: tuple[str, ...], probabilities: Probabilities | None) -> Array:
    if probabilities is None:
        return np.full(len(labels), 1 / len(labels))
    if isinstance(probabilities, Mapping):
        if unknown := set(probabilities) - set(labels):
            raise _wrong(column, f"{', '.join(sorted(unknown))} is none of its cells", labels)
        probabilities = [probabilities.get(label, 0.0) for label in labels]
    try:
        law = np.asarray(probabilities, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise _wrong(column, f"the probabilities are {shown(probabilities)}", labels) from None
    if law.shape != (len(labels),):
        raise _wrong(column, f"there are {law.size} probabilities for {len(labels)} cells", labels)
    if not (np.isfinite(law).all() and (law >= 0).all() and math.isclose(law.sum(), 1.0, abs_tol=1e-6)):
        raise _wrong(column, "the probabilities are no law", labels)
    return law / law.sum()


def _wrong(column: str, obstacle: str, labels: tuple[str, ...]) -> ParameterError:
    return ParameterError(
        f"law of {column}", obstacle, f"Give probabilities that add up to 1, for {', '.join(labels)}."
    )
