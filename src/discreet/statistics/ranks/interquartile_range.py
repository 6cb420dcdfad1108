"""The private interquartile range of a column: by ranks, or by propose-test-release."""

from __future__ import annotations

import dataclasses
import math
from typing import Any, Unpack, overload

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.stable.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stable.stable_figures import SpreadClass
from discreet.questions.question import AllRecords
from discreet.releases.ask import ColumnOf, OneSum
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.declaration import Refusal
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Table
from discreet.statistics.ranks.quantile import quantile
from discreet.statistics.ranks.quantile_request import Paid, QuantileRequest, RankOptions
from discreet.statistics.ranks.quantiles_by_records import ByRecords
from discreet.statistics.ranks.quantiles_by_tree import ByTree
from discreet.statistics.ranks.rank_width import Found

QUARTILES, BESIDE = (0.25, 0.75), (0.2, 0.3, 0.7, 0.8)
TOGETHER = 1 / 3  # correlation of a sample's quartiles, 1/4 * 1/4 over 1/4 * 3/4; and, nearly, of the noise by halves
CELLS = 2**40


@overload
def interquartile_range(
    data: Any,
    column: str | None = None,
    *,
    by: None = None,
    step: float | None = None,
    **options: Unpack[RankOptions],
) -> Estimate: ...
@overload
def interquartile_range(
    data: Any, column: str | None = None, *, by: By, step: float | None = None, **options: Unpack[RankOptions]
) -> Table: ...
@statistic(like=quantile)
def interquartile_range(
    of: ColumnOf,
    *,
    step: float | None = None,
    confidence: float | None = CONFIDENCE,
    population: bool = False,
) -> OneSum[Estimate] | Estimate:
    """Release how far the quartiles of a column are apart.

    The interval for the difference comes from those for the quartiles: their widths, for a known number of ranks, show
    how densely values lie there, and the law of a quartile's error in ranks is known. The errors of the two add up as
    correlated errors do.

    Returns
    -------
    Estimate
        The difference of two private quartiles, its interval and its receipt. With so few records that noise hides one
        of them, the interval is from 0 to the distance of the bounds.

    Guarantee
    ---------
    The event on the receipt; see `quantile`.

    Examples
    --------
    >>> import numpy as np
    >>> round(interquartile_range(np.arange(10_000) % 100, bounds=(0, 99), step=1, epsilon=2.0).value, -1)
    50.0
    """
    name, wanted = f"interquartile range of {of.column}", QuantileRequest(of, QUARTILES, confidence, population, step)

    def read(paid: Paid) -> Estimate:
        first, last = paid.found.values
        low, high = (None, None) if confidence is None else _ends(of, paid, confidence)
        return Estimate(
            name=name,
            value=float(last - first),
            low=low,
            high=high,
            confidence=confidence,
            population=population,
            receipt=paid.receipt,
        )

    return wanted.asked(name, read)


def _ends(of: ColumnOf, paid: Paid, confidence: float) -> ConfidenceInterval[float]:
    """The interval for the difference; from 0 to the distance of the bounds, where noise hides a quartile."""
    found, ends = paid.found, of.schema.number(of.column)
    assert found.ends is not None
    value, most = float(found.values[1] - found.values[0]), ends.upper - ends.lower
    hidden = (found.ends[0] <= ends.lower).any() and (found.ends[1] >= ends.upper).any()
    off = most if hidden else _half_width(of, paid.way, paid.mechanisms, found, confidence)
    return ConfidenceInterval(max(value - off, 0.0), min(value + off, most))


def _half_width(
    of: ColumnOf, way: ByRecords | ByTree, mechanisms: tuple[Any, ...], found: Found, confidence: float
) -> float:
    """Half the width of an interval for the difference: the errors of both quartiles, added up as correlated ones are.

    Found by records, they have noise by halves, which is correlated nearly as a sample is; of a tree it counts as
    independent, which is never too narrow.
    """
    assert found.ends is not None
    assert found.sampling is not None
    widths, together = (found.ends[1] - found.ends[0]) / 2, TOGETHER * float(found.sampling.min())
    if isinstance(way, ByRecords):
        widths, together = widths * _own(of, mechanisms, found.sampling, confidence), TOGETHER
    return math.sqrt(float(widths @ widths - 2 * together * widths.prod()))


def _own(of: ColumnOf, mechanisms: tuple[Any, ...], sampling: Array, confidence: float) -> Array:
    """What part of the half-width of each quartile's interval the quartile itself accounts for.

    The interval is as wide as the sample and the noise in its ends make it; the quartile has less noise than these.
    """
    rows, neighbors, (_, values, ends) = of.data.unit.rows, of.data.neighbors, mechanisms
    unit, beside = Spread(Laplace(), math.sqrt(2)), dataclasses.replace(ends, q=BESIDE)
    noise, around = (
        np.array([unit.half_width(scales, confidence) for scales in one.scales(rows, neighbors)])
        for one in (values, beside)
    )
    around = around.reshape(2, 2).mean(axis=1)
    return np.asarray(np.sqrt(sampling + np.square(noise / around) * (1 - sampling)))


@statistic(
    delta=1e-6,
    no_by="whether the range of a group is stable is tested on its own records",
    no_population=Refusal("a class is that of these data", "Ask for `interquartile_range`."),
    needs_delta=Refusal("a test that may err needs a positive delta", "Give delta, or ask for quantiles."),
    curator="how many records would have to change is counted on the records",
)
def stable_interquartile_range(
    of: ColumnOf, *, ratio: float = 1.5, confidence: float = CONFIDENCE, **_: Unpack[OfTheseData]
) -> Estimate:
    """Release how far the quartiles of a column are apart, if one record hardly matters to it; else nothing.

    The range is released as its class on a geometric scale: two scales are tried, whose classes have no end in common,
    so that with enough records the range is far from the ends of its class on one of them. `interquartile_range`, which
    always has an answer, is mostly closer.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records; missing values do not count. A curator alone can be asked this.
    ratio : float
        Public. Above 1: each class begins at this multiple of the beginning of the one before. The closer to 1, the
        more records it takes to have an answer.
    confidence : float
        Public. At most 1 - delta: the interval, a factor of sqrt(ratio) to both sides, is as sure as that.
    epsilon, delta : float
        Public. What this may cost: both tests, whatever their outcome. Delta must be positive.

    Returns
    -------
    Estimate
        The geometric middle of a class; or no answer, which is as ordinary: then the value is nan. It costs the same,
        and asking again costs it again.

    Guarantee
    ---------
    The event on the receipt, one `ProposeTestRelease` with two figures. Dwork and Lei 2009.

    Examples
    --------
    >>> import numpy as np
    >>> print(stable_interquartile_range(np.arange(20_000) % 1000, bounds=(0, 1000), epsilon=2.0, ratio=2.0))
    interquartile range of value: 500 [354, 707] (95% for these data)
    """
    name, delta = f"interquartile range of {of.column}", of.budget.delta
    if confidence > 1 - delta:
        raise ParameterError(name, f"the confidence is {confidence}", "Give 1 - delta at most.", confidence=confidence)
    number = of.schema.number(of.column)
    figures = tuple(SpreadClass(number.lower, number.upper, CELLS, ratio, offset) for offset in (0.0, 0.5))
    mechanism = calibrate(ProposeTestRelease(delta=delta * (1 - 1e-9), figures=figures), of.budget)
    mechanism.check(of.data.unit.rows)
    with of.data.permit(mechanism.event, name, key=of.key) as permit:
        found = float(permit.ask(AllRecords((of.column,)), mechanism))
    answered, factor = not math.isnan(found), math.sqrt(ratio)
    return Estimate(
        name=name,
        value=found,
        low=found / factor if answered else None,
        high=found * factor if answered else None,
        confidence=confidence,
        receipt=permit.receipt,
    )
