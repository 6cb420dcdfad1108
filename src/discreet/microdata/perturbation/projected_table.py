"""Records after a random projection, and what of inner products, distances and correlations can be read off them."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.projected_records import MatrixLaw
from discreet.microdata.published_table import PublishedTable

MOST_PAIRS = 2**24


@dataclass(frozen=True)
class PairEstimates:
    """Unbiased estimates for pairs, and the roots of unbiased estimates of their variances.

    Parameters
    ----------
    values, standard_error : array of shape (first, second)
        A row for each of the first, a column for each of the second.
    """

    values: Array
    standard_error: Array = field(repr=False)


@dataclass(frozen=True)
class ProjectionLaw:
    """How a random projection changes inner products.

    For vectors x and y and what a projection makes of them, u and v, with s = x'y and p = |x|^2 |y|^2,

        E[u'v] = s,   Var[u'v] = spread p + (spread - shrink) s^2,   E[|u|^2 |v|^2] = (1 - shrink) p + 2 spread s^2.

    With k independent Gaussian rows the spread is 1 / k and the shrink 0, since u'v is a mean of k products of normal
    variables. With k of m orthonormal rows u'v is m / k times x'Py, for the projection P onto a random subspace. All
    its moments of order two are E[P_ij P_kl] = a d_ij d_kl + b (d_ik d_jl + d_il d_jk); that P has trace k and is
    its own square gives b = k (m - k) / (m (m - 1) (m + 2)) and a = (k^2 - 2 b m) / m^2.

    Parameters
    ----------
    spread, shrink : float
        As above.

    Examples
    --------
    >>> ProjectionLaw.of("gaussian", 100, 4), ProjectionLaw.of("orthogonal", 4, 4)
    (ProjectionLaw(spread=0.25, shrink=0.0), ProjectionLaw(spread=0.0, shrink=0.0))
    """

    spread: float
    shrink: float

    @classmethod
    def of(cls, law: MatrixLaw, width: int, dimensions: int) -> ProjectionLaw:
        """Of a matrix of so many columns and rows."""
        if law == "gaussian":
            return cls(1 / dimensions, 0.0)
        if width == dimensions:
            return cls(0.0, 0.0)
        spread = width * (width - dimensions) / (dimensions * (width - 1) * (width + 2))
        return cls(spread, 2 * spread / width)

    def variance(self, product: Array, lengths: Array) -> Array:
        """Of estimates of inner products, from these and the products of squared lengths: the theory."""
        return self.spread * lengths + (self.spread - self.shrink) * product**2

    def estimated_variance(self, product: Array, lengths: Array) -> Array:
        """The same from what is seen: with both expectations above solved for p and s^2, unbiased."""
        long, square, keep = lengths, product**2, 1 - self.shrink
        size = keep * (keep + self.spread) - 2 * self.spread**2
        p = ((keep + self.spread) * long - 2 * self.spread * square) / size
        s = (keep * square - self.spread * long) / size
        return np.maximum(self.spread * p + (self.spread - self.shrink) * s, 0.0)

    def products(self, first: Array, second: Array) -> PairEstimates:
        """Inner products of the rows of two matrices before they were projected."""
        found = first @ second.T
        lengths = np.outer(np.square(first).sum(axis=1), np.square(second).sum(axis=1))
        return PairEstimates(found, np.sqrt(self.estimated_variance(found, lengths)))

    def squared_distances(self, first: Array, second: Array) -> PairEstimates:
        """Squared distances of rows before they were projected: x - y is projected like x and y."""
        found = np.zeros((len(first), len(second)))
        for one, other in zip(first.T, second.T, strict=True):
            found += np.square(one[:, None] - other)
        relative = 2 * self.spread - self.shrink
        return PairEstimates(found, math.sqrt(relative / (1 + relative)) * found)


@dataclass(frozen=True, kw_only=True)
class ProjectedTable(PublishedTable):
    """Records of which the columns are random sums of the true ones, which were put between -1 and 1 by their bounds.

    Parameters
    ----------
    law : ProjectionLaw
        How inner products were changed.
    dimensions : int
        How many of the columns are sums, the first ones.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.microdata import rotate
    >>> from discreet.schema.schema import Schema
    >>> from discreet.trust.private_data import PrivateData
    >>> data = PrivateData.of(np.eye(3), Schema.numeric(-1.0, 1.0, 3), Budget(1.0))
    >>> rotate(data, ["x0", "x1", "x2"], waiver="an example").squared_distances().values.round(9) + 0
    array([[0., 2., 2.],
           [2., 0., 2.],
           [2., 2., 0.]])
    """

    law: ProjectionLaw
    dimensions: int

    def inner_products(self, rows: Sequence[int] | None = None, others: Sequence[int] | None = None) -> PairEstimates:
        """Inner products of true records, columns between -1 and 1.

        Parameters
        ----------
        rows, others : sequence of int, optional
            The places of records in this table; by default all.
        """
        return self.law.products(*self._pairs(rows, others))

    def squared_distances(
        self, rows: Sequence[int] | None = None, others: Sequence[int] | None = None
    ) -> PairEstimates:
        """Squared distances of true records, columns between -1 and 1.

        Parameters
        ----------
        rows, others : sequence of int, optional
            The places of records in this table; by default all.
        """
        return self.law.squared_distances(*self._pairs(rows, others))

    def _pairs(self, rows: Sequence[int] | None, others: Sequence[int] | None) -> tuple[Array, Array]:
        first, second = (self._rows(one) for one in (rows, others))
        if len(first) * len(second) > MOST_PAIRS:
            obstacle = f"{len(first)} and {len(second)} records have too many pairs"
            raise ParameterError(self.name, obstacle, f"Name rows, of at most {MOST_PAIRS} pairs.")
        return first, second

    def _rows(self, rows: Sequence[int] | None) -> Array:
        sums = self.records[:, : self.dimensions]
        if rows is None:
            return sums
        for row in rows:
            check_whole(self.name, "row", row, least=0, most=len(sums) - 1)
        return sums[np.array(rows, dtype=np.intp)]


@dataclass(frozen=True, kw_only=True)
class MixedTable(PublishedTable):
    """Random sums of all records. What columns have to do with one another is kept, up to noise; records are not.

    Each column was centred at its mean and divided by its length, so that inner products are correlations.

    Parameters
    ----------
    law : ProjectionLaw
        How inner products were changed.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> from discreet.microdata import project_rows
    >>> from discreet.schema.schema import Schema
    >>> from discreet.trust.private_data import PrivateData
    >>> rows = np.random.default_rng(1).uniform(size=(1000, 1)) * [1.0, -1.0]
    >>> data = PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 2), Budget(1.0))
    >>> table = project_rows(data, ["x0", "x1"], dimensions=400, waiver="an example")
    >>> bool(-1.3 < table.correlations().values[0, 1] < -0.7)
    True
    """

    law: ProjectionLaw

    def correlations(self) -> PairEstimates:
        """Correlations of columns. An estimate may be beyond 1; those of a constant column are missing."""
        found = self.law.products(self.records.T, self.records.T)
        there = np.asarray(self.notes["lengths"]) > 0
        values = np.where(np.outer(there, there), found.values, np.nan)
        own = np.eye(len(there), dtype=bool)
        return PairEstimates(np.where(own & there, 1.0, values), np.where(own, 0.0, found.standard_error))

    def inner_products(self) -> PairEstimates:
        """Sums of products of columns, over all records, in their own units."""
        found = self.law.products(self._columns, self._columns)
        own = np.eye(len(found.values), dtype=bool)
        exact = np.diag(np.square(self.notes["lengths"]))
        means = self.notes["records"] * np.outer(self.notes["means"], self.notes["means"])
        return PairEstimates(np.where(own, exact, found.values) + means, np.where(own, 0.0, found.standard_error))

    def squared_distances(self) -> PairEstimates:
        """Squared distances of columns, over all records, in their own units."""
        found = self.law.squared_distances(self._columns, self._columns)
        apart = np.subtract.outer(self.notes["means"], self.notes["means"])
        return PairEstimates(found.values + self.notes["records"] * np.square(apart), found.standard_error)

    @property
    def _columns(self) -> Array:
        """The centred columns, a row each."""
        return self.records.T * np.asarray(self.notes["lengths"])[:, None]
