"""The interquartile range of a column by propose-test-release: an answer, or none."""

from __future__ import annotations

import math
from typing import Any

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.mechanisms.stable.propose_test_release import ProposeTestRelease
from discreet.mechanisms.stable.stable_figures import SpreadClass
from discreet.questions.all_records import AllRecords
from discreet.releases.ask import column_of
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence, check_population
from discreet.releases.spread import CONFIDENCE
from discreet.trust.as_private import Bounds

CELLS = 2**40


def stable_interquartile_range(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    ratio: float = 1.5,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
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
    population : bool
        Public. The interval is for these data; one for a population is refused.
    epsilon, delta : float
        Public. What this may cost: both tests, whatever their outcome. Delta must be positive.
    column, bounds, key
        Public. As for `quantile`.

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
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    name = f"interquartile range of {of.column}"
    of.data.check_curated(f"interquartile range of {of.column}")
    if delta == 0:
        raise ParameterError(name, "a test that may err needs a positive delta", "Give delta, or ask for quantiles.")
    check_confidence(name, confidence)
    if confidence > 1 - delta:
        raise ParameterError(name, f"the confidence is {confidence}", "Give 1 - delta at most.", confidence=confidence)
    check_population(name, population, "a class is that of these data", "Ask for `interquartile_range`.")
    number = of.data.schema.number(of.column)
    figures = tuple(SpreadClass(number.lower, number.upper, CELLS, ratio, offset) for offset in (0.0, 0.5))
    mechanism = calibrate(ProposeTestRelease(delta=delta * (1 - 1e-9), figures=figures), budget)
    mechanism.check(of.data.unit.rows)
    with of.data.permit(mechanism.event, name, key=key) as permit:
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
