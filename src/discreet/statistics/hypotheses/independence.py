"""Whether two columns depend on one another, tested in private."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.cells import cut
from discreet.questions.tables.domain import BINS, Bins
from discreet.releases.ask import ColumnsOf, OneSum
from discreet.releases.groups import By, GroupedResults
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import HypothesisOptions, statistic
from discreet.releases.test_result import TestResult
from discreet.statistics.hypotheses.chi_square import check_cells, chi_square
from discreet.statistics.tables.contingency import ContingencyTable, counted_cells

CLEAR = 1.0  # deviations of noise that count against a margin


@overload
def independence(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    bins: Bins = BINS,
    **options: Unpack[HypothesisOptions],
) -> TestResult: ...
@overload
def independence(
    data: Any, columns: Sequence[str] | None = None, *, by: By, bins: Bins = BINS, **options: Unpack[HypothesisOptions]
) -> GroupedResults[TestResult]: ...
@statistic()
def independence(of: ColumnsOf, *, bins: Bins = BINS, confidence: float = CONFIDENCE) -> OneSum[TestResult]:
    """Test whether two columns are independent.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records, an independent sample. One with a missing value in either column counts for nothing.
    columns : sequence of str, optional
        Public. Two columns: numbers, each cut into equal cells between its bounds, or categories.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.

    Returns
    -------
    TestResult
        Statistic, p-value, the noisy table and its receipt. Where noise hides the margins, p-values are too large, and
        not too small: at 5 %, a true hypothesis may be rejected in 2 of 100 cases.

    Guarantee
    ---------
    That of `contingency`; the test is post-processing.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Schema
    >>> schema = Schema({"smokes": Category(("yes", "no")), "coughs": Category(("yes", "no"))})
    >>> alike = {"smokes": ["yes", "no"] * 500, "coughs": ["yes", "no"] * 500}
    >>> independence(alike, ("smokes", "coughs"), bounds=schema, epsilon=1.0).p_value < 0.001
    True
    """
    if len(of.columns) != 2:
        raise ParameterError("test of independence", f"the columns are {', '.join(of.columns)}", "Name two.")
    domain = cut(of.schema, of.columns, bins)
    check_cells("test of independence", domain.size)
    return counted_cells(of, domain, lambda table: independence_of(table, confidence=confidence), confidence)


def independence_of(table: ContingencyTable, *, confidence: float = CONFIDENCE) -> TestResult:
    """Test a table of two columns that was released before, at no cost.

    Parameters
    ----------
    table : ContingencyTable
        Released counts; a marginal of a larger table will do.
    confidence : float
        Public. One minus the level at which the hypothesis is rejected.
    """
    if len(table.columns) != 2:
        obstacle = f"the table has {len(table.columns)} columns"
        raise ParameterError("test of independence", obstacle, "Take a marginal of two.", "The table is as it was.")
    name, noise = f"{table.columns[0]} is independent of {table.columns[1]}", table.stddev
    check_cells(name, table.counts.size, "The table is as it was.")
    return chi_square(name, table, [_product(table.counts[None], CLEAR * noise)[0]], dependence, confidence)


def dependence(tables: Array, noise: float) -> Array:
    """How far tables, stacked along the first axis, are from products of their margins.

    Let p and q be the shares of rows and columns, T the total and s^2 = noise^2 / T. Counts are divided by the roots of
    T (p_i + s) (q_j + s), close to their deviation under independence. Their means are then multiples of x y', where
    x_i = p_i / sqrt(p_i + s) and y_j is alike. What moves with p, q and T lies along x in each column and along y in
    each row; that is taken off, and the squares of the rest are added up. Without noise it is Pearson's statistic; with
    it, its law hardly depends on p and q, which noise may hide (compare Rogers and Kifer 2017, section 4).

    Examples
    --------
    >>> dependence(np.array([[[12.0, 18.0], [28.0, 42.0]], [[20.0, 10.0], [20.0, 50.0]]]), 1e-6).round(3)
    array([ 0.   , 12.698])
    """
    total = np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0)
    down, across = _margins(tables, 0.0)
    s = noise / np.sqrt(total)
    rest = tables / np.sqrt(total * (down + s) * (across + s))
    for axis, shares in ((1, down), (2, across)):
        along = shares / np.sqrt(shares + s)
        along = along / np.linalg.norm(along, axis=axis, keepdims=True)
        rest = rest - along * (along * rest).sum(axis=axis, keepdims=True)
    return np.asarray(np.square(rest).sum(axis=(1, 2)))


def _product(tables: Array, noise: float) -> Array:
    """The counts that independent columns would have, as far as margins are clear of this noise.

    Noise makes small margins larger, on average, and tables more even than they are; which would be a law with tails
    too light. Taking a deviation of it off makes p-values a little too large where noise hides the margins, rather than
    too small.
    """
    down, across = _margins(tables, noise)
    return np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0) * down * across


def _margins(tables: Array, noise: float) -> tuple[Array, Array]:
    """The shares of rows and of columns, less what noise of this deviation on each count makes of them."""
    sums = [tables.sum(axis=axis, keepdims=True) for axis in (2, 1)]
    down, across = (_shares(margins, noise * math.sqrt(tables[0].size / margins[0].size)) for margins in sums)
    return down, across


def _shares(margins: Array, off: float) -> Array:
    """Margins less this, or zero, as shares of their sum. Where none is left, the largest is all."""
    cut = np.maximum(margins - off, 0.0)
    total = cut.sum(axis=(1, 2), keepdims=True)
    only = margins == margins.max(axis=(1, 2), keepdims=True)
    return np.where(total > 0, cut / np.where(total > 0, total, 1.0), only / only.sum(axis=(1, 2), keepdims=True))
