"""Tables in which categories were replaced at random, with known probabilities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.checks import shown
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.randomized_categories import InvariantCategories, Matrix, RandomizedCategories
from discreet.microdata.perturbation.given_columns import GivenColumns, check_share, table_parts
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

MOST = 512  # values of a category
ONE = 1e-9  # how far probabilities may be from adding up to 1
WORST = 1e8  # condition of a matrix that is inverted
NAME = "counts before PRAM"


@dataclass(frozen=True)
class EstimatedCounts:
    """Unbiased counts of the values of a category, before they were replaced.

    Parameters
    ----------
    values : tuple of str
        Of the category.
    counts : array
        Of each value; may be below 0.
    covariance : array
        Of the errors of these counts; unbiased too.
    """

    values: tuple[str, ...]
    counts: Array
    covariance: Array = field(repr=False)

    @property
    def standard_error(self) -> Array:
        """Of each count."""
        return np.sqrt(np.maximum(np.diag(self.covariance), 0.0))


@dataclass(frozen=True, kw_only=True)
class RandomizedTable(PublishedTable):
    """Records with categories that were replaced at random.

    Parameters
    ----------
    matrices : mapping of str to array
        Of each column that was randomised: row i has the probabilities of what value i became.
    invariant : bool
        Whether the matrices keep the counts of the data on average.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"ill": ["yes", "no", "no", "no"] * 500}, {"ill": ["yes", "no"]}, Budget(1.0))
    >>> table = pram(data, "ill", matrices=[[0.9, 0.1], [0.1, 0.9]], waiver="an example")
    >>> found = table.counts("ill")
    >>> bool(abs(found.counts[0] - 500) < 5 * found.standard_error[0])
    True
    """

    matrices: Mapping[str, Array] = field(repr=False)
    invariant: bool

    def counts(self, column: str) -> EstimatedCounts:
        """How often each value of a column occurred before, missing ones left out; see `pram_counts`.

        With an invariant matrix the counts are as they are seen, which is unbiased, and more exact than the inverse.
        """
        if column not in self.matrices:
            remedy = f"Randomised are {', '.join(self.matrices)}."
            raise ParameterError(self.name, f"{column!r:.80} was not randomised", remedy, parameter="column")
        values = self.schema.category(column).values
        own = self.records[:, list(self.schema.columns).index(column)]
        seen = np.bincount(own[~np.isnan(own)].astype(np.intp), minlength=len(values)).astype(np.float64)
        matrix = np.asarray(self.matrices[column])
        if self.invariant:
            return EstimatedCounts(values, seen, _noise(seen, matrix))
        found = pram_counts(seen, matrix)
        return EstimatedCounts(values, found.counts, found.covariance)


@gives_away
def pram(
    data: PrivateData,
    columns: Sequence[str],
    *,
    matrices: ArrayLike | Mapping[str, ArrayLike],
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> RandomizedTable:
    """Give a table away in which categories are replaced at random, with given probabilities: NOT PRIVATE.

    The post-randomisation method, PRAM: Gouweleeuw, Kooiman, Willenborg and de Wolf 1998. The matrices are public, and
    `counts` of the result are unbiased with standard errors. The schema stays. Missing values stay missing; rows are in
    a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The categories that are randomised.
    matrices : matrix, or mapping of str to matrix
        Public. Row i has the probabilities of what value i of the schema's list becomes: one matrix for all columns, or
        one for each. It must have an inverse.

    Returns
    -------
    RandomizedTable
        The records, and `counts` before.

    Guarantee
    ---------
    None; the event is `NoPromise`: other columns of the same record are kept, and predict what was replaced. A table
    that is given away again and again, under other keys, is unmasked by the majority, where records can be told apart
    by what is unchanged. A matrix of which no column has entries farther apart than a factor e^epsilon keeps the one
    column private, not the record: use `discreet.local` for that. `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"ill": ["yes", "no"] * 50}, {"ill": ["yes", "no"]}, Budget(1.0))
    >>> table = pram(data, "ill", matrices=[[0.5, 0.5], [0.0, 1.0]], waiver="approved by the board on 3 May")
    >>> bool((table["ill"] == "yes").sum() < 50)
    True
    """
    name = "table with PRAM"
    given = _categories(name, data, columns, unchanged)
    checked_matrices = [_matrix(name, given, column, matrices) for column in given.changed]
    mechanism = RandomizedCategories(tuple(checked_matrices))
    schema = _schema(given)
    table = waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)
    found = {column: np.array(own) for column, own in zip(given.changed, checked_matrices, strict=True)}
    return RandomizedTable(**table_parts(table), matrices=found, invariant=False)


@gives_away
def invariant_pram(
    data: PrivateData,
    columns: Sequence[str],
    *,
    keep: float = 0.8,
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> RandomizedTable:
    """Give a table away in which categories are replaced at random, and counts are right on average: NOT PRIVATE.

    A value is first kept with probability `keep`, and else becomes any other; then it is replaced by what Bayes' rule
    says that it may have been, so that the expected counts are those of the data (Gouweleeuw, Kooiman, Willenborg and
    de Wolf 1998). The matrices depend on the data, and are given away. The schema stays. Missing values stay missing;
    rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The categories that are randomised.
    keep : float
        Public. The probability with which a value is kept in either step.

    Returns
    -------
    RandomizedTable
        The records, and `counts` before.

    Guarantee
    ---------
    None; the event is `NoPromise`. The matrices have the exact shares of all values: those of two tables, with a person
    and without, differ by that person's value. Other columns predict what was replaced, and many tables of the same
    records are unmasked by the majority, as for `pram`. `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"ill": ["yes", "no", "no", "no"] * 50}, {"ill": ["yes", "no"]}, Budget(1.0))
    >>> table = invariant_pram(data, "ill", waiver="approved by the board on 3 May")
    >>> (np.array([50.0, 150.0]) @ table.matrices["ill"]).round(9).tolist()
    [50.0, 150.0]
    """
    name = "table with invariant PRAM"
    given = _categories(name, data, columns, unchanged)
    check_share(name, "keep", keep)
    sizes = tuple(len(given.schema.category(column).values) for column in given.changed)
    mechanism, schema = InvariantCategories(sizes, float(keep)), _schema(given)

    def described(found: ChangedRows) -> Schema:
        return schema

    table = waived_table(data, name, given.names, mechanism, described, waiver=waiver, key=key)
    found = dict(zip(given.changed, map(np.asarray, table.notes["matrices"]), strict=True))
    return RandomizedTable(**table_parts(table), matrices=found, invariant=True)


def pram_counts(seen: ArrayLike, matrix: ArrayLike) -> EstimatedCounts:
    """Find how often values occurred, from the counts after each was replaced with known probabilities.

    With p_i the rows of the matrix P and t the true counts, the counts that are seen have expectation P't and
    covariance sum t_i (diag(p_i) - p_i p_i'): Gouweleeuw, Kooiman, Willenborg and de Wolf 1998. Both are linear in t,
    so the inverse of P' gives unbiased counts, and these an unbiased covariance.

    Parameters
    ----------
    seen : array of shape (values,)
        The counts after.
    matrix : array of shape (values, values)
        Row i has the probabilities of what value i became.

    Returns
    -------
    EstimatedCounts
        The counts before, and the covariance of their errors. Values are called by their places.

    Examples
    --------
    >>> found = pram_counts([440, 560], [[0.8, 0.2], [0.2, 0.8]])
    >>> found.counts.round(6), found.standard_error.round(2)
    (array([400., 600.]), array([21.08, 21.08]))
    """
    counts, given = _floats(seen), _floats(matrix)
    if counts.ndim != 1 or not counts.size or not (np.isfinite(counts) & (counts >= 0)).all():
        raise ParameterError(NAME, "the counts that were seen are not a row of numbers", "Give one count each.")
    _check_matrix(NAME, "matrix", given, len(counts))
    back = np.linalg.inv(given.T)
    found = back @ counts
    covariance = back @ _noise(found, given) @ back.T
    return EstimatedCounts(tuple(map(str, range(len(counts)))), found, covariance)


def _noise(counts: Array, matrix: Array) -> Array:
    """The covariance of counts that are seen, from the true ones."""
    return np.diag(counts @ matrix) - (matrix.T * counts) @ matrix


def _categories(name: str, data: PrivateData, columns: Sequence[str], unchanged: Sequence[str]) -> GivenColumns:
    given = GivenColumns.of(data, columns, unchanged)
    for column in given.changed:
        size = len(given.schema.category(column).values)
        if size > MOST:
            raise ParameterError(name, f"{column} has {size} values", f"List at most {MOST}.", column=column, size=size)
    return given


def _schema(given: GivenColumns) -> Schema:
    return given.described({column: given.schema.columns[column] for column in given.changed})


def _matrix(name: str, given: GivenColumns, column: str, matrices: ArrayLike | Mapping[str, ArrayLike]) -> Matrix:
    """The matrix of a column, checked."""
    if isinstance(matrices, Mapping) and set(matrices) != set(given.changed):
        remedy = f"Give one for each of {', '.join(given.changed)}."
        raise ParameterError(name, f"matrices is for {', '.join(map(shown, matrices))}", remedy, parameter="matrices")
    own = _floats(matrices[column] if isinstance(matrices, Mapping) else matrices)
    _check_matrix(name, f"the matrix of {column}", own, len(given.schema.category(column).values))
    return tuple(tuple(row) for row in own.tolist())


def _check_matrix(name: str, what: str, matrix: Array, size: int) -> None:
    if matrix.shape != (size, size):
        raise ParameterError(name, f"{what} has shape {matrix.shape}", f"Give {size} rows of {size} probabilities.")
    fine = np.isfinite(matrix).all() and (matrix >= 0).all() and (np.abs(matrix.sum(axis=1) - 1) < ONE).all()
    if not fine:
        raise ParameterError(name, f"{what} has a row that is no distribution", "Give rows from 0 to 1 that add to 1.")
    if not np.linalg.cond(matrix) < WORST:
        remedy = "Keep values more often than others become them."
        raise ParameterError(name, f"{what} has no inverse, so no count could be found", remedy)


def _floats(values: ArrayLike) -> Array:
    """An array; one without any shape where it is none."""
    try:
        return np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        return np.array(np.nan)
