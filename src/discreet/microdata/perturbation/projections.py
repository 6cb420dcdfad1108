"""Tables of which the columns, or the records, are random sums of the true ones."""

from __future__ import annotations

import math
from collections.abc import Sequence

from discreet.core.checks import check_whole
from discreet.core.errors import SchemaError
from discreet.mechanisms.microdata.projected_records import MatrixLaw, ProjectedColumns, ProjectedRows
from discreet.mechanisms.microdata.unit_noise import FARTHEST
from discreet.microdata.perturbation.given_columns import GivenColumns, table_parts
from discreet.microdata.perturbation.projected_table import MixedTable, ProjectedTable, ProjectionLaw
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData

MOST = 4096  # dimensions
SUM = "sum_{}"  # the name of a column


@gives_away
def project_columns(
    data: PrivateData,
    columns: Sequence[str],
    *,
    dimensions: int,
    law: MatrixLaw = "gaussian",
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> ProjectedTable:
    """Give a table away in which each record has a few random sums of its columns: NOT PRIVATE.

    Columns are first put between -1 and 1 by their bounds. All records have the same sums, whose weights are not given
    away, so inner products and distances of records stay right on average, and the result has them with standard
    errors: for k Gaussian sums the variance of an inner product x'y is (|x|^2 |y|^2 + (x'y)^2) / k (Liu, Kargupta and
    Ryan 2006). The schema of the result has the sums alone, between bounds that no record can leave, and what is
    unchanged. A record with a missing value has no sums at all. Rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The numbers that are projected.
    dimensions : int
        Public. How many sums there are, from 2; with orthogonal weights at most as many as columns.
    law : {"gaussian", "orthogonal"}
        Public. The weights: independent Gaussian ones, or rows of a random rotation, which disturb less.
    unchanged : sequence of str
        Public. Columns that are given away as they are, such as a class to be predicted.

    Returns
    -------
    ProjectedTable
        The records, with `inner_products` and `squared_distances`.

    Guarantee
    ---------
    None; the event is `NoPromise`. As many known records as there are columns give the weights by solving linear
    equations, where there are as many sums (Liu, Giannella and Kargupta 2006); with fewer sums they give as many linear
    equations for each unknown record. Columns that are independent and not Gaussian are separated by independent
    component analysis: nearly exactly with as many sums as columns, and in part with fewer (Liu, Kargupta and Ryan
    2006). `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of(np.eye(4), Schema.numeric(-1.0, 1.0, 4), Budget(1.0))
    >>> table = project_columns(data, ["x0", "x1", "x2", "x3"], dimensions=2, waiver="approved by the board")
    >>> list(table.schema.columns), table.inner_products().values.shape
    (['sum_0', 'sum_1'], (4, 4))
    """
    name = "projected columns"
    given = GivenColumns.of(data, columns, unchanged)
    width = len(given.numbers)
    check_whole(name, "dimensions", dimensions, least=2, most=width if law == "orthogonal" else MOST)
    return _projected(data, name, given, int(dimensions), law, waiver, key)


@gives_away
def rotate(
    data: PrivateData,
    columns: Sequence[str],
    *,
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> ProjectedTable:
    """Give a table away in which records are rotated, or rotated and reflected, at random: NOT PRIVATE.

    Columns are first put between -1 and 1 by their bounds. Every rotation is as likely as any other, and it is not
    given away. Inner products and distances of records are exactly as before, up to rounding, so whatever is learned
    from them alone is the same. A record with a missing value has no values at all. Rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The numbers that are rotated.
    unchanged : sequence of str
        Public. Columns that are given away as they are, such as a class to be predicted.

    Returns
    -------
    ProjectedTable
        The records, with `inner_products` and `squared_distances`.

    Guarantee
    ---------
    None; the event is `NoPromise`. A known record is found by its length alone, and as many of them as there are
    columns give the rotation, and so all records: Liu, Giannella and Kargupta 2006. Without any known record,
    independent component analysis finds columns that are independent and not Gaussian: Liu, Kargupta and Ryan 2006.
    `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of(np.eye(2), Schema.numeric(-1.0, 1.0, 2), Budget(1.0))
    >>> table = rotate(data, ["x0", "x1"], waiver="approved by the board on 3 May")
    >>> bool(np.allclose(table.inner_products().values, np.eye(2)))
    True
    """
    given = GivenColumns.of(data, columns, unchanged)
    return _projected(data, "rotated table", given, len(given.numbers), "orthogonal", waiver, key)


@gives_away
def project_rows(
    data: PrivateData,
    columns: Sequence[str],
    *,
    dimensions: int,
    waiver: str | None = None,
    key: str | None = None,
) -> MixedTable:
    """Give a table away of a few random sums of all records: NOT PRIVATE.

    Each column is first centred at its mean and divided by its length; means, lengths and the number of records are
    given away exactly. The sums have independent Gaussian weights, which are not given away. Correlations, inner
    products and distances of columns stay right on average, and the result has them with standard errors: for k sums
    the variance of a correlation r is (1 + r^2) / k (Liu, Kargupta and Ryan 2006). A record with a missing value takes
    no part. The schema of the result has 8 standard deviations of a sum for bounds.

    Parameters
    ----------
    columns : sequence of str
        Public. Of the table, all of them numbers.
    dimensions : int
        Public. How many sums there are, from 2 to 4096.

    Returns
    -------
    MixedTable
        The sums, with `correlations`, `inner_products` and `squared_distances` of columns.

    Guarantee
    ---------
    None; the event is `NoPromise`. Exact means, lengths and numbers of records of two tables, with a person and
    without, differ by that person's values. With as many sums as records independent component analysis finds records
    that are independent and not Gaussian: Liu, Kargupta and Ryan 2006. `discreet.correlation` and `discreet.synthesize`
    keep a promise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> rows = np.random.default_rng(1).uniform(size=(1000, 1)) * [1.0, 1.0]
    >>> data = PrivateData.of(rows, Schema.numeric(-1.0, 1.0, 2), Budget(1.0))
    >>> table = project_rows(data, ["x0", "x1"], dimensions=200, waiver="approved by the board on 3 May")
    >>> len(table), table.notes["records"]
    (200, 1000)
    """
    name = "projected rows"
    given = GivenColumns.of(data, columns)
    check_whole(name, "dimensions", dimensions, least=2, most=MOST)
    mechanism = ProjectedRows(len(given.numbers), int(dimensions))
    bound = FARTHEST / math.sqrt(dimensions)
    schema = Schema({column: Number(-bound, bound) for column in given.changed})
    table = waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)
    return MixedTable(**table_parts(table), law=ProjectionLaw.of("gaussian", 0, int(dimensions)))


def _projected(
    data: PrivateData,
    name: str,
    given: GivenColumns,
    dimensions: int,
    law: MatrixLaw,
    waiver: str | None,
    key: str | None,
) -> ProjectedTable:
    width, sums = len(given.changed), [SUM.format(place) for place in range(dimensions)]
    for column in set(sums) & set(given.unchanged):
        raise SchemaError(name, f"a sum is called {column!r} too", "Leave the column out, or give it another name.")
    centers = tuple((float(one.lower) + float(one.upper)) / 2 for one in given.numbers)
    scales = tuple((float(one.upper) - float(one.lower)) / 2 for one in given.numbers)
    mechanism = ProjectedColumns(centers, scales, dimensions, law)
    bound = width / math.sqrt(dimensions) * (FARTHEST if law == "gaussian" else 1.0)
    schema = given.described({column: Number(-bound, bound) for column in sums})
    table = waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)
    return ProjectedTable(**table_parts(table), law=ProjectionLaw.of(law, width, dimensions), dimensions=dimensions)
