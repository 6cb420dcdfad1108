"""Tables with noise on numbers, added or multiplied."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata.noisy_numbers import (
    CUT,
    KEPT,
    CorrelatedNumbers,
    FactorLaw,
    MultipliedNumbers,
    NoisyNumbers,
)
from discreet.mechanisms.microdata.unit_noise import FARTHEST, REACH, NoiseLaw
from discreet.microdata.perturbation.given_columns import (
    GivenColumns,
    check_plain,
    number_each,
    steps_of,
    table_parts,
    widened,
)
from discreet.microdata.perturbation.noise_distribution import ReconstructedDistribution, reconstruct_distribution
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import gives_away, waived_table
from discreet.schema.schema import Number
from discreet.trust.private_data import PrivateData

LARGEST, LEAST = 2.0**20, 2.0**-40  # noise, in distances of bounds


@dataclass(frozen=True, kw_only=True)
class NoisyTable(PublishedTable):
    """Records with independent noise on some columns.

    Parameters
    ----------
    before : mapping of str to Number
        What these columns were before.
    stddev : mapping of str to float
        The standard deviation of the noise of each.
    law : {"gaussian", "uniform"}
        Of the noise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"age": [20, 80] * 2000}, {"age": Number(0, 100, step=1)}, Budget(1.0))
    >>> table = add_noise(data, "age", stddev=20.0, waiver="an example")
    >>> bool(table["age"].var() > 1200), bool(table.distribution("age", bins=5).variance < 1000)
    (True, True)
    """

    before: Mapping[str, Number] = field(repr=False)
    stddev: Mapping[str, float]
    law: NoiseLaw

    def distribution(self, column: str, *, bins: int = 32, max_iter: int = 500) -> ReconstructedDistribution:
        """How the values of a column were distributed before; see `reconstruct_distribution`."""
        if column not in self.stddev:
            raise ParameterError(
                self.name, f"{column!r:.80} has no noise", f"Noise is on {', '.join(self.stddev)}.", parameter="column"
            )
        return reconstruct_distribution(
            self.records[:, list(self.schema.columns).index(column)],
            self.before[column],
            self.stddev[column],
            law=self.law,
            bins=bins,
            max_iter=max_iter,
        )


@gives_away
def add_noise(
    data: PrivateData,
    columns: Sequence[str],
    *,
    stddev: float | Mapping[str, float],
    law: NoiseLaw = "gaussian",
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> NoisyTable:
    """Give a table away with independent noise on each number: NOT PRIVATE.

    Means stay right on average, variances grow by that of the noise, and `distribution` of the result finds how a
    column was distributed before (Agrawal and Srikant 2000). Values may leave the bounds: the schema of the result is
    wider, by 8 standard deviations, or by the root of 3 of them for uniform noise. The noise of a column with steps,
    such as whole numbers and dates, is rounded to whole steps. Missing values stay missing, and rows are in a random
    order.

    Parameters
    ----------
    columns : sequence of str
        Public. The numbers that noise is added to.
    stddev : float or mapping of str to float
        Public. Of the noise, in the units of the columns: one for all, or one for each.
    law : {"gaussian", "uniform"}
        Public. Of the noise.

    Returns
    -------
    NoisyTable
        The records.

    Guarantee
    ---------
    None; the event is `NoPromise`. Where columns depend on one another, most of the noise can be filtered out, since it
    lies in all directions and the records do not: Kargupta, Datta, Wang and Sivakumar 2003; Huang, Du and Chen 2005.
    A value far from all others stays far from them. Uniform noise at its end betrays a value at the end of its bounds.
    `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"age": range(100)}, {"age": Number(0, 100, step=1)}, Budget(1.0))
    >>> table = add_noise(data, "age", stddev=5.0, waiver="approved by the board on 3 May")
    >>> len(table), table.schema.columns["age"]
    (100, Number(lower=-40, upper=140, step=1))
    """
    name = "table with noise"
    given = GivenColumns.of(data, columns, unchanged)
    numbers, kept = given.numbers, (0.0,) * len(given.unchanged)
    found = number_each(name, "stddev", stddev, given.changed, 2.0**-100, 2.0**200)
    for column, number, own in zip(given.changed, numbers, found, strict=True):
        width = number.upper - number.lower
        check_positive(name, f"stddev of {column}", own, width * LEAST, width * LARGEST)
    mechanism = NoisyNumbers((*found, *kept), (*steps_of(numbers), *kept), law)
    wider = {
        column: widened(number, REACH[law] * own)
        for column, number, own in zip(given.changed, numbers, found, strict=True)
    }
    schema = given.described(wider)
    table = waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)
    before = dict(zip(given.changed, numbers, strict=True))
    return NoisyTable(**table_parts(table), before=before, stddev=dict(zip(given.changed, found, strict=True)), law=law)


@gives_away
def add_correlated_noise(
    data: PrivateData,
    columns: Sequence[str],
    *,
    relative_variance: float = 0.25,
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give a table away with noise that has the covariance of the records: NOT PRIVATE.

    All variances and covariances grow by the same part, so correlations stay right on average, and covariances are
    those of the result divided by 1 + `relative_variance` (Kim 1986). Values may leave the bounds: the schema of the
    result is wider, by 4 root(`relative_variance`) times their distance, where noise is cut. A constant column stays as
    it is. Missing values stay missing, and rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The numbers that noise is added to.
    relative_variance : float
        Public. The variance of the noise, as a part of that of the records.

    Returns
    -------
    PublishedTable
        The records.

    Guarantee
    ---------
    None; the event is `NoPromise`. No filter takes this noise off, but a record is as far from the mean of all as
    before, up to the noise: those farthest out are recognised. And whoever has some columns of a person from elsewhere
    finds the record by its distance from them all: Huang, Du and Chen 2005 compare both kinds of noise.
    `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.budget import Budget
    >>> columns = {"age": Number(0, 100, step=1), "income": Number(0, 1000)}
    >>> data = PrivateData.of({"age": range(100), "income": range(0, 1000, 10)}, columns, Budget(1.0))
    >>> table = add_correlated_noise(data, ["age", "income"], waiver="approved by the board on 3 May")
    >>> bool(np.corrcoef(table.records.T)[0, 1] > 0.99), table.schema.columns["age"]
    (True, Number(lower=-200, upper=300, step=1))
    """
    name = "table with correlated noise"
    given = GivenColumns.of(data, columns, unchanged)
    numbers = given.numbers
    check_positive(name, "relative_variance", relative_variance, 2.0**-40, 2.0**20)
    lowers, widths = tuple(float(one.lower) for one in numbers), tuple(float(one.upper - one.lower) for one in numbers)
    mechanism = CorrelatedNumbers(float(relative_variance), lowers, widths, steps_of(numbers))
    reach = FARTHEST / 2 * math.sqrt(relative_variance)
    wider = {
        column: widened(number, reach * width)
        for column, number, width in zip(given.changed, numbers, widths, strict=True)
    }
    schema = given.described(wider)
    return waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)


@gives_away
def multiply_noise(
    data: PrivateData,
    columns: Sequence[str],
    *,
    relative_stddev: float | Mapping[str, float] = 0.1,
    law: FactorLaw = "lognormal",
    unchanged: Sequence[str] = (),
    waiver: str | None = None,
    key: str | None = None,
) -> PublishedTable:
    """Give a table away in which numbers are multiplied by random factors of mean 1: NOT PRIVATE.

    Means stay right on average, and mean squares grow by 1 + `relative_stddev` squared. A variance is that of the
    result less `relative_stddev` squared times its mean square over 1 + the same (Kim and Winkler 2003). Factors are
    positive, so signs stay. Values may leave the bounds: the schema of the result has them times the largest factor,
    and no steps. Missing values stay missing, and rows are in a random order.

    Parameters
    ----------
    columns : sequence of str
        Public. The numbers that are multiplied; no times.
    relative_stddev : float or mapping of str to float
        Public. The standard deviation of the factors, at most 1, or 0.3 where they are Gaussian: one for all columns,
        or one for each.
    law : {"lognormal", "gaussian"}
        Public. Of the factors: the exponential of a Gaussian, or a Gaussian that is cut at 3 standard deviations.

    Returns
    -------
    PublishedTable
        The records.

    Guarantee
    ---------
    None; the event is `NoPromise`. Zeros and signs stay as they are, and the largest values are recognised. In
    logarithms this is additive noise, and is filtered out like that where columns depend on one another: Liu, Kargupta
    and Ryan 2006. `discreet.synthesize` keeps a promise.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> data = PrivateData.of({"income": range(100, 200)}, {"income": Number(0, 200)}, Budget(1.0))
    >>> table = multiply_noise(data, "income", relative_stddev=0.1, waiver="approved by the board on 3 May")
    >>> bool(abs(table["income"].mean() - 149.5) < 10)
    True
    """
    name = "table with multiplied noise"
    given = GivenColumns.of(data, columns, unchanged)
    numbers, kept = given.numbers, (0.0,) * len(given.unchanged)
    most = 1.0 if law == "lognormal" else 0.3
    found = number_each(name, "relative_stddev", relative_stddev, given.changed, 2.0**-20, most)
    for column in given.changed:
        check_plain(name, column, given.schema.number(column))
    mechanism = MultipliedNumbers((*found, *kept), law)
    wider = {
        column: _multiplied(number, own, law) for column, number, own in zip(given.changed, numbers, found, strict=True)
    }
    schema = given.described(wider)
    return waived_table(data, name, given.names, mechanism, lambda _: schema, waiver=waiver, key=key)


def _multiplied(column: Number, stddev: float, law: FactorLaw) -> Number:
    """What a number is after multiplication by positive factors."""
    spread = math.sqrt(math.log1p(stddev**2))
    largest = math.exp(FARTHEST * spread - spread**2 / 2) if law == "lognormal" else 1 + CUT * stddev / KEPT
    lower, upper = min(column.lower, column.lower * largest), max(column.upper, column.upper * largest)
    return Number(min(lower, 0.0), max(upper, 0.0))
