"""Whether two columns depend on one another, tested in private."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.statistics.axes import BINS, Bins, bins_of, shape_of
from discreet.statistics.chi_square import ChiSquareTest, check_cells, chi_square
from discreet.statistics.table import ContingencyTable, contingency
from discreet.trust.private_data import PrivateData


def independence(
    data: PrivateData,
    columns: Sequence[str],
    *,
    bins: Bins = BINS,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> ChiSquareTest:
    """Test whether two columns are independent.

    Parameters
    ----------
    data : PrivateData
        The records, an independent sample. One with a missing value in either column counts for nothing.
    columns : sequence of str
        Public. Two columns: numbers, each cut into equal cells between its bounds, or categories.
    bins : int, or mapping of str to int
        Public. How many cells a number has.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    ChiSquareTest
        Statistic, p-value, the noisy table and its receipt.

    Guarantee
    ---------
    That of `contingency`; the test is post-processing.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.core.schema import Category, Schema
    >>> schema = Schema({"smokes": Category(("yes", "no")), "coughs": Category(("yes", "no"))})
    >>> alike = {"smokes": ["yes", "no"] * 500, "coughs": ["yes", "no"] * 500}
    >>> independence(PrivateData.of(alike, schema, Budget(1.0)), ("smokes", "coughs"), epsilon=1.0).p_value < 0.001
    True
    """
    if isinstance(columns, str) or len(columns) != 2:
        raise ParameterError("test of independence", f"the columns are {columns!r}", "Name two.")
    shape = shape_of(data.schema, columns, bins_of(data.schema, columns, bins))
    check_cells("test of independence", math.prod(shape))
    return independence_of(contingency(data, columns, bins=bins, epsilon=epsilon, delta=delta, key=key))


def independence_of(table: ContingencyTable) -> ChiSquareTest:
    """Test a table of two columns that was released before, at no cost.

    Parameters
    ----------
    table : ContingencyTable
        Released counts; a marginal of a larger table will do.
    """
    if len(table.columns) != 2:
        raise ParameterError(
            "test of independence",
            f"the table has {len(table.columns)} columns",
            "Take a marginal of two.",
            "The table is as it was.",
        )
    return chi_square(f"{table.columns[0]} is independent of {table.columns[1]}", table, products)


def products(tables: Array) -> Array:
    """The counts that independent columns with the same margins would have; tables are stacked along the first axis.

    Margins that noise has made negative count as zero, and a total below one as one.

    Examples
    --------
    >>> products(np.array([[[10.0, 20.0], [30.0, 40.0]]]))
    array([[[12., 18.],
            [28., 42.]]])
    """
    total = np.maximum(tables.sum(axis=(1, 2), keepdims=True), 1.0)
    down, across = (_shares(tables.sum(axis=axis, keepdims=True)) for axis in (2, 1))
    return total * down * across


def _shares(margins: Array) -> Array:
    cut = np.maximum(margins, 0.0)
    total = cut.sum(axis=(1, 2), keepdims=True)
    even = 1 / (margins.shape[1] * margins.shape[2])
    return np.where(total > 0, cut / np.where(total > 0, total, 1.0), even)
