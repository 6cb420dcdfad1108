"""Private means that extreme values have no part in, or only a small one."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.columns.total import trimmed_of, winsorized_of
from discreet.questions.question import BoundedSum
from discreet.releases.ask import ColumnOf, Released
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure, Sampling
from discreet.releases.joint_plan import JointPlan, priced
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE, spread
from discreet.releases.statistic import SharedOptions, statistic
from discreet.schema.schema import Number
from discreet.statistics.ranks.quantile_request import QuantileRequest

CUTS = 0.5  # what the cuts get of the price; the mean gets the rest
CUT_FIRST = "the mean of each group would be asked between cuts of its own, which are found first"
GRAIN = 2.0**-20  # of the bounds' distance: cuts are no closer


@dataclass(frozen=True, kw_only=True)
class CutEstimate(Estimate):
    """A released mean between two private cuts: its interval holds the exact value of these data for these cuts.

    Parameters
    ----------
    lower, upper : float
        The cuts.
    """

    lower: float
    upper: float

    def tabulated(self) -> Columns:
        """The value with its errors, and the cuts."""
        cuts = (Series(f"{name}_cut", np.array([cut])) for name, cut in (("lower", self.lower), ("upper", self.upper)))
        return Columns({}, (*super().tabulated().series, *cuts))


@statistic(no_by=CUT_FIRST)
def winsorized_mean(
    of: ColumnOf,
    *,
    trim: float = 0.05,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> CutEstimate:
    """Release the mean of a column whose extreme values are moved to private quantiles.

    The noise of a mean is in proportion to the distance of its bounds. Where those are far too wide, cuts at private
    quantiles make it much smaller.

    Parameters
    ----------
    trim : float
        Public. The share of values at each end that are moved, below one half.
    population : bool
        Public. Whether the interval is for the population that the records are a sample of, between these cuts. Its
        sampling error is bounded by that of values at the cuts, so it holds more often than it says. Else it is for
        these data, between these cuts, and holds the noise alone.

    Returns
    -------
    CutEstimate
        The value, its interval for these cuts, the cuts and the receipt.

    Guarantee
    ---------
    The event on the receipt: the cuts as in `quantile`, then one `Laplace` or `Gaussian` release.

    Examples
    --------
    >>> found = winsorized_mean(np.arange(10_000) % 101, bounds=(-1e6, 1e6), epsilon=2.0)
    >>> bool(abs(found.value - 50) < 2)
    True
    """
    return _between_cuts(of, trim, winsorized_of, f"winsorized mean of {of.column}", confidence, population)


@statistic(like=winsorized_mean, no_by=CUT_FIRST)
def trimmed_mean(
    of: ColumnOf,
    *,
    trim: float = 0.05,
    confidence: float = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> CutEstimate:
    """Release the mean of the values of a column that are between two private quantiles.

    Parameters
    ----------
    trim : float
        Public. The share of values at each end that are left out, below one half.

    Returns
    -------
    CutEstimate
        The value, its interval for these cuts, the cuts and the receipt.

    Guarantee
    ---------
    The event on the receipt: the cuts as in `quantile`, then one `Laplace` or `Gaussian` release.

    Examples
    --------
    >>> found = trimmed_mean(np.arange(10_000) % 101, bounds=(-1e6, 1e6), epsilon=2.0)
    >>> bool(abs(found.value - 50) < 2)
    True
    """
    return _between_cuts(of, trim, trimmed_of, f"trimmed mean of {of.column}", confidence, population)


def _between_cuts(
    of: ColumnOf,
    trim: float,
    question_of: Callable[..., BoundedSum],
    name: str,
    confidence: float,
    population: bool,
) -> CutEstimate:
    """Pay for cuts and a mean, find the cuts, and release the mean between them."""
    if not 0 < trim < 0.5:
        raise ParameterError(name, f"trim is {trim}", "Give a share above 0 and below one half.", trim=trim)
    schema, ends, budget = of.schema, of.schema.number(of.column), of.budget
    way = QuantileRequest(of, (trim, 1 - trim), None, False, None).way
    whole = question_of(schema, of.column, ends.lower, ends.upper)
    noise = least_noise(of.data, whole, Budget(budget.epsilon * (1 - CUTS), budget.delta)).noise
    parts = (*(priced(part, CUTS) for part in way.parts), priced(noise, 1 / budget.epsilon))
    plan = calibrate(JointPlan(parts), budget)
    with of.data.permit(plan.event, name, key=of.key) as permit:
        cuts = _apart(way.found(permit, plan.mechanisms[:-1]).values, ends)
        question = question_of(schema, of.column, cuts.lower, cuts.upper)
        sums = permit.ask(question, plan.mechanisms[-1])
    released = Released(sums, spread(of.data, question, plan.mechanisms[-1]), permit.receipt)
    found = estimate_of(name, _mean(sums, cuts, population), released, confidence, cuts)
    return CutEstimate(**vars(found), lower=cuts.lower, upper=cuts.upper)


def _mean(sums: Array, cuts: Number, population: bool) -> Figure:
    """The mean of values whose mass was split between two cuts, by its derivatives.

    The variance of values between a and b, of mean m, is at most (m - a) (b - m) (Bhatia and Davis 2000).
    """
    size, ends = max(float(sums.sum()), 1.0), np.array([cuts.lower, cuts.upper])
    share = min(max(float(sums[1]) / size, 0.0), 1.0)
    value = min(cuts.lower + (cuts.upper - cuts.lower) * share, cuts.upper)
    variance = (value - cuts.lower) * (cuts.upper - value) / size if size >= 2 else math.inf
    sampling = Sampling(variance, np.zeros(2), 0.0, size) if population else None
    return Figure(value, (ends - value) / size, sampling, bend=1 / size)


def _apart(cuts: Array, ends: Number) -> Number:
    """Two cuts with some distance between them, inside the bounds."""
    middle, grain = float(cuts.sum()) / 2, GRAIN * (ends.upper - ends.lower)
    middle = min(max(middle, ends.lower + grain), ends.upper - grain)
    lower, upper = min(float(cuts[0]), middle - grain), max(float(cuts[1]), middle + grain)
    return Number(max(lower, ends.lower), min(upper, ends.upper))
