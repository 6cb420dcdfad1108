"""Private t-tests: whether a mean is a given number, and whether two groups have the same mean."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked
from discreet.display.digits import exact
from discreet.questions.columns.moments import grouped_moments_of, moments_of
from discreet.releases.ask import Released, asked, column_of
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.test_result import TestResult
from discreet.schema.schema import Category, Number, Schema
from discreet.statistics.moments.column_moments import Moments
from discreet.trust.as_private import Bounds, as_private
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.columns.raw_values import array_of


@checked
def t_test(
    data: Any,
    column: str | None = None,
    mean: float = 0.0,
    *,
    bounds: Bounds | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> TestResult:
    """Test whether the mean of a population is a given number, from a sample of it.

    Noise and sampling error make up the standard error together, and their joint law the p-value; with much data it is
    the classical t-test. Fewer than two values, as far as the noise lets one see, have a p-value of 1.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records: a sample. Values outside their bounds count as the nearer bound, in the population too.
    mean : float
        Public. What the mean is by the hypothesis; between the bounds.
    bounds : (float, float) or Schema, optional
        Public. For an array. Private data have them in their schema.
    confidence : float
        Public. Of the interval for the mean; the hypothesis is rejected at the level of one minus it.
    column, epsilon, delta, key
        Public. As for `mean`.

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
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    number, size, title = of.data.schema.number(of.column), of.data.public_size, f"t-test of {of.column}"
    check_confidence(title, confidence)
    if not number.lower <= mean <= number.upper:
        obstacle = f"no mean of values between {exact(number.lower)} and {exact(number.upper)} is {mean}"
        raise ParameterError(title, obstacle, "Test a mean between the bounds.", mean=mean)
    question = moments_of(of.data.schema, of.column, 2, size is not None)
    released = asked(of.data, question, budget, title, key)
    moments = Moments(released.values, number, size)
    bend = 0.0 if size is not None else 1 / max(moments.count().value, 1.0)
    found, supposed = dataclasses.replace(moments.sampled_mean(), bend=bend), moments.supposed_mean(mean)
    estimate = estimate_of(f"mean of {of.column}", found, released, confidence, number)
    return _tested(f"mean of {of.column} is {exact(mean)}", supposed, supposed.value - mean, estimate, released)


@checked
def two_sample_t_test(
    data: Any,
    column: Any,
    *,
    by: str | None = None,
    bounds: Bounds | None = None,
    groups: Sequence[str] | None = None,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
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
    epsilon, delta, key
        Public. As for `mean`.

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
    budget = Budget(epsilon, delta)
    if by is None:
        data, column, by, bounds = _grouped(data, column, bounds, budget)
    title, private = f"t-test of {column} by {by}", as_private(data, budget, bounds)
    number, labels = private.schema.number(column), private.schema.category(by).values
    check_confidence(title, confidence)
    places = _places(title, labels, labels if groups is None else tuple(map(str, groups)))
    question = grouped_moments_of(private.schema, by, column, 2)
    released = asked(private, question, budget, title, key)
    first, second = (Moments(released.values[3 * at : 3 * at + 3], number, None) for at in places)
    found, (one, other) = first.sampled_mean() - second.sampled_mean(), (labels[at] for at in places)
    name, width = f"mean of {column}, {one} less {other}", number.upper - number.lower
    estimate = estimate_of(name, found, released, confidence, Number(-width, width))
    common = Moments(first.sums + second.sums, number, None).mean().value
    supposed = first.supposed_mean(common) - second.supposed_mean(common)
    return _tested(f"mean of {column} is alike for {one} and {other}", supposed, found.value, estimate, released)


def _grouped(first: Any, second: Any, bounds: Bounds | None, budget: Budget) -> tuple[dict[str, Any], str, str, Schema]:
    """Two arrays as one table: its records, the names of its columns, and its schema."""
    if isinstance(first, PrivateData) or isinstance(second, str):
        raise ParameterError("two-sample t-test", "no groups are given", "Name a category `by`, or give two arrays.")
    each = [column_of(one, None, bounds, budget) for one in (first, second)]
    number, groups = each[0].data.schema.number(each[0].column), Category(("first", "second"))
    values = [array_of(one).ravel() for one in (first, second)]
    records = {"value": np.concatenate(values), "group": np.repeat(groups.values, [len(one) for one in values])}
    return records, "value", "group", Schema({"value": number, "group": groups})


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
