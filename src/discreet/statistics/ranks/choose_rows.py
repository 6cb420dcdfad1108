"""A limit for the rows of each unit, bought: for an analyst who does not know how many there are."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Unit
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.exponential import Exponential, PermuteAndFlip
from discreet.questions.rows_per_unit import CrowdedUnits, LimitScores
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import JointPlan
from discreet.releases.least_noise import pure
from discreet.releases.release import Release, check_confidence
from discreet.releases.spread import CONFIDENCE, Spread, whole_half_width
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

CHOICE = 0.75  # what the choice gets of the price; a count of those whom it cuts gets the rest
RATIO = 1.25  # of one limit to the next, where they are not next to each other
MOST = 2**20


@dataclass(frozen=True, kw_only=True)
class RowLimit(Release):
    """A limit that was chosen in private, to be written into a unit.

    Parameters
    ----------
    rows : int
        The limit.
    unit : Unit
        With this limit.
    cut : Estimate
        How many units have more rows, and would lose some.
    """

    rows: int
    unit: Unit
    cut: Estimate

    standard_error: ClassVar[None] = None  # a choice has no error
    interval: ClassVar[None] = None

    def tabulated(self) -> Columns:
        """The limit, and how many units it cuts, in one row."""
        (cut,) = self.cut.tabulated().series
        return Columns({}, (Series("rows", np.array([float(self.rows)])), dataclasses.replace(cut, name="cut")))

    def draw(self, ax: Axes) -> None:
        """The limit, on a line."""
        ax.plot([0.0, float(self.rows)], np.zeros(2), marker="|", markersize=20)
        ax.set_yticks([])
        ax.set_xlabel(self.name)


def choose_rows(
    data: PrivateData,
    *,
    most: int = 1000,
    spend: float = 1.0,
    confidence: float = CONFIDENCE,
    epsilon: float = 0.1,
    delta: float = 0.0,
    key: str | None = None,
) -> RowLimit:
    """Choose how many rows of each unit to use: `rows` of a `Unit`.

    A count or a sum for k rows of each unit has noise in proportion to k, and misses the rows beyond. The mean error of
    a count, k / spend by Laplace noise and the number of rows left out, is least where 1 / spend units have more than k
    rows: the limit is a quantile of the number of rows. A private choice by so few units would be at random: so it
    aims at as many as tell the limits apart for its price, where those are more.

    Parameters
    ----------
    data : PrivateData
        The records, with `Unit("user", column=..., pooled=True)`: then none is left out yet.
    most : int
        Public. The greatest limit that is worth while. Those up to it are distinguished to within a quarter.
    spend : float
        Public. The epsilon of the count or sum that the limit is meant for.
    confidence : float
        Public. Of the interval for the number of units that the limit cuts.
    epsilon, delta : float
        Public. What the choice may cost.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    RowLimit
        The limit `rows`, the `unit` with it, and how many units it cuts. Open the records again with this unit and the
        same account, which protects the same units.

    Guarantee
    ---------
    The event on the receipt, for one unit with all its rows: one choice by `Exponential`, or by `PermuteAndFlip` where
    neither this nor the account has a delta, and one `Laplace` count. That the limit of least error is a quantile:
    Amin, Kulesza, Munoz Medina and Vassilvitskii 2019, Section 3.

    Examples
    --------
    >>> people = np.repeat(np.arange(5000), np.arange(5000) % 10 + 1)  # 1 to 10 rows each
    >>> visits = {"person": people, "cost": np.ones(len(people))}
    >>> one = Unit("user", "person", pooled=True)
    >>> found = choose_rows(PrivateData.of(visits, {"cost": (0, 10)}, Budget(1.0), unit=one), epsilon=1.0)
    >>> found.rows, found.unit.limit
    (10, 'at most 10 rows of each')
    """
    name = f"rows of each {data.unit.kind}"
    _check(name, data, most, spend)
    check_confidence(name, confidence)
    budget, limits = Budget(epsilon, delta), _limits(most)
    choice = PermuteAndFlip if pure(data, budget) else Exponential
    plan = calibrate(JointPlan((choice(CHOICE), Laplace(1 / (1 - CHOICE)))), budget)
    chooser, noise = plan.mechanisms
    reach = data.neighbors.reach
    target = math.ceil(max(reach / spend, 2 * reach / chooser.epsilon * math.log(len(limits) + 1)))
    with data.permit(plan.event, name, key=key) as permit:
        rows = limits[int(permit.ask(LimitScores(limits, target), chooser))]
        number = float(permit.ask(CrowdedUnits((rows,)), noise)[0])
    spread = Spread(noise, math.sqrt(2) * noise.multiplier * reach)
    cut = Estimate.around(
        f"units with more than {rows} rows",
        max(0.0, number),
        whole_half_width(spread, np.ones(1), confidence),
        standard_error=spread.stddev,
        confidence=confidence,
        receipt=permit.receipt,
    )
    unit = dataclasses.replace(data.unit, rows=rows, pooled=False)
    return RowLimit(name=name, rows=rows, unit=unit, cut=cut, confidence=confidence, receipt=permit.receipt)


def _check(name: str, data: PrivateData, most: int, spend: float) -> None:
    check_whole(name, "most", most, most=MOST)
    if not 0 < spend < math.inf:
        raise ParameterError(name, f"spend is {spend}", "Give the epsilon of the question that it is for.", spend=spend)
    if not data.shows_all_rows:
        raise ParameterError(
            name,
            "it takes a curator's data set whose units are pooled and none of whose rows is left out",
            'Open the records with Unit("user", column=..., pooled=True), and ask without a condition.',
        )


def _limits(most: int) -> tuple[int, ...]:
    """Whole numbers from 1 on, each at most a quarter greater than the last, or by one."""
    limits = [1]
    while limits[-1] < most:
        limits.append(min(max(limits[-1] + 1, math.floor(limits[-1] * RATIO)), most))
    return tuple(limits)
