"""Private t-tests: whether a mean is a given number, and whether two groups have the same mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any, Unpack, overload

import numpy as np

from discreet.core.errors import ParameterError
from discreet.display.digits import exact
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.releases.ask import ColumnOf, OneSum, Released, asked
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.groups import By, GroupedResults
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import HypothesisOptions, SharedOptions, statistic
from discreet.releases.test_result import TestResult
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.column_moments import Moments
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import array_of


@overload
def t_test(
    data: Any, column: str | None = None, mean: float = 0.0, *, by: None = None, **options: Unpack[HypothesisOptions]
) -> TestResult: ...
@overload
def t_test(
    data: Any, column: str | None = None, mean: float = 0.0, *, by: By, **options: Unpack[HypothesisOptions]
) -> GroupedResults[TestResult]: ...
@statistic()
def t_test(of: ColumnOf, mean: float = 0.0, *, confidence: float = CONFIDENCE) -> OneSum[TestResult]:
    """Test whether the mean of a population is a given number, from a sample of it.

    Noise and sampling error make up the standard error together, and their joint law the p-value; with much data it is
    the classical t-test. Fewer than two values, as far as the noise lets one see, have a p-value of 1.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records: a sample. Values outside their bounds count as the nearer bound, in the population too.
    mean : float
        Public. What the mean is by the hypothesis; between the bounds.
    confidence : float
        Public. Of the interval for the mean; the hypothesis is rejected at the level of one minus it.

    Returns
    -------
    TestResult
        The statistic, the p-value, and the estimate of the mean with its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release, for the data set's own neighbors: the number of
    values is secret under add/remove and public under replace. All else is post-processing.

    Examples
    --------
    >>> import numpy as np
    >>> heights = np.random.default_rng(0).normal(172, 8, 10_000)
    >>> found = t_test(heights, mean=170, bounds=(100, 250), epsilon=1.0)
    >>> found.p_value < 1e-6, round(found.value)
    (True, 172)
    """
    number, size, title = of.schema.number(of.column), of.size, f"t-test of {of.column}"
    if not number.lower <= mean <= number.upper:
        obstacle = f"no mean of values between {exact(number.lower)} and {exact(number.upper)} is {mean}"
        raise ParameterError(title, obstacle, "Test a mean between the bounds.", mean=mean)

    def read(released: Released) -> TestResult:
        moments = Moments(released.values, number, size)
        bend = 0.0 if size is not None else 1 / max(moments.count().value, 1.0)
        found, supposed = dataclasses.replace(moments.sampled_mean(), bend=bend), moments.supposed_mean(mean)
        estimate = estimate_of(f"mean of {of.column}", found, released, confidence, number)
        return _tested(f"mean of {of.column} is {exact(mean)}", supposed, supposed.value - mean, estimate, released)

    return OneSum(of, title, moments_of(of.schema, of.column, 2, size is not None), read)


@statistic(no_by="its groups are those that it compares")
def two_sample_t_test(
    records: RecordsOf,
    column: Any,
    *,
    by: str | None = None,
    groups: Sequence[str] | None = None,
    confidence: float = CONFIDENCE,
    **_: Unpack[SharedOptions],
) -> TestResult:
    """Test whether two groups of a population have the same mean, from a sample of it (Welch's test).

    The groups may differ in size and in variance, and neither is public. Noise and sampling error make up the standard
    error together. A group with fewer than two values, as far as the noise lets one see, makes the p-value 1.

    Parameters
    ----------
    data : PrivateData, data frame, or array of shape (n,)
        The records: a sample. Values outside their bounds count as the nearer bound, in the population too.
    column : str, or array of shape (m,)
        Public. A numeric column; or, where `data` is an array, which has the first group, the second one.
    by : str, optional
        Public. A column with public categories; not for two arrays.
    bounds : (float, float) or Schema, optional
        Public. Of two arrays; or, for a data frame, its bounds and categories.
    groups : two of str, optional
        Public. The two categories; not needed where there are no others.
    confidence : float
        Public. Of the interval for the difference; the hypothesis is rejected at the level of one minus it.

    Returns
    -------
    TestResult
        The statistic, the p-value, and the estimated difference, first group less second, with its receipt.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release of all groups together, for the data set's own
    neighbors: a record is in one group only. All else is post-processing.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.schema.schema import Category
    >>> schema = Schema({"drug": Category(("a", "b")), "days": Number(0, 30)})
    >>> days = np.random.default_rng(0).normal(10, 4, 10_000) + 2 * (np.arange(10_000) < 5000)
    >>> patients = {"drug": ["a"] * 5000 + ["b"] * 5000, "days": days}
    >>> found = two_sample_t_test(patients, "days", by="drug", bounds=schema, epsilon=1.0)
    >>> found.p_value < 1e-6, round(found.value)
    (True, 2)
    >>> two_sample_t_test(days[:5000], days[5000:], bounds=(0, 30), epsilon=1.0).p_value < 1e-6
    True
    """
    if by is None:
        records, column, by = _grouped(records, column)
    title, of = f"t-test of {column} by {by}", records.opened()
    number, labels = of.schema.number(column), of.schema.category(by).values
    places = _places(title, labels, labels if groups is None else tuple(map(str, groups)))
    question = grouped_moments_of(of.schema, by, column, 2)
    released = asked(of.data, question, of.budget, title, of.key)
    first, second = (Moments(released.values[3 * at : 3 * at + 3], number, None) for at in places)
    found, (one, other) = first.sampled_mean() - second.sampled_mean(), (labels[at] for at in places)
    name, width = f"mean of {column}, {one} less {other}", number.upper - number.lower
    estimate = estimate_of(name, found, released, confidence, Number(-width, width))
    common = Moments(first.sums + second.sums, number, None).mean().value
    supposed = first.supposed_mean(common) - second.supposed_mean(common)
    return _tested(f"mean of {column} is alike for {one} and {other}", supposed, found.value, estimate, released)


def _grouped(given: RecordsOf, second: Any) -> tuple[RecordsOf, str, str]:
    """Two arrays as the records of one table, and the names of its columns."""
    if isinstance(given.data, PrivateData) or isinstance(second, str):
        raise ParameterError("two-sample t-test", "no groups are given", "Name a category `by`, or give two arrays.")
    each = [dataclasses.replace(given, data=one, where=None).column(None) for one in (given.data, second)]
    number, groups = each[0].schema.number(each[0].column), Category(("first", "second"))
    values = [array_of(one).ravel() for one in (given.data, second)]
    table = {"value": np.concatenate(values), "group": np.repeat(groups.values, [len(one) for one in values])}
    return dataclasses.replace(given, data=table, bounds=Schema({"value": number, "group": groups})), "value", "group"


def _tested(hypothesis: str, supposed: Figure, distance: float, estimate: Estimate, released: Released) -> TestResult:
    """What follows from how far an estimate is from its hypothesis; no p-value is below 1e-7."""
    return TestResult(
        name="t-test",
        hypothesis=hypothesis,
        statistic=distance / supposed.standard_error(released.spread),
        p_value=supposed.p_value(released.spread, abs(distance)),
        evidence=estimate,
        confidence=estimate.confidence,
        receipt=released.receipt,
    )


def _places(title: str, labels: tuple[str, ...], groups: tuple[str, ...]) -> list[int]:
    if len(set(groups)) != 2 or len(groups) != 2 or not set(groups) <= set(labels):
        raise ParameterError(
            title, f"{', '.join(groups)} are not two of its groups", f"Name two of {', '.join(labels)}.", groups=groups
        )
    return [labels.index(group) for group in groups]
