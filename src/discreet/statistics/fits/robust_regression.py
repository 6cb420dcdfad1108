"""Linear regression that gross errors hardly move, in private."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.checks import check_whole, names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.mechanisms.ranks.box_depth import COLUMNS
from discreet.releases.fit import Fit
from discreet.releases.joint_plan import JointPlan
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import SharedOptions, statistic
from discreet.statistics.fits.block_slopes import ScaledColumns
from discreet.statistics.fits.dealing import Blocks, ScaledFit
from discreet.statistics.fits.slopes_by_depth import SlopesByDepth
from discreet.statistics.fits.slopes_by_tests import SlopesByTests
from discreet.trust.private_data import PrivateData


@dataclass(frozen=True, kw_only=True)
class RobustRegression(Fit):
    """A released regression: the target is about the intercept plus the slopes times the columns.

    The coefficients are the slopes, in the units of the columns, then the intercept: the target where all columns are
    0. They are nan where there is no answer; that costs the same, and asking again costs it again. Intervals of slopes
    are infinite where there are too few records; the intercept has none.

    Parameters
    ----------
    target : str
        What is explained.
    blocks : int
        How many blocks the records were dealt into, each time.
    """

    target: str
    blocks: int

    @property
    def columns(self) -> tuple[str, ...]:
        """What explains the target."""
        return self.names[:-1]

    @property
    def slopes(self) -> Array:
        """One for each column."""
        return self.values[:-1]

    @property
    def intercept(self) -> float:
        """The target where all columns are 0."""
        return float(self.values[-1])

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return not np.isnan(self.intercept)

    def predict(self, rows: Any) -> Array:
        """The target for given values of the columns; no cost, as nothing private is used.

        Parameters
        ----------
        rows : array of shape (n, columns), or mapping or data frame
            Values in the order of `columns`, or by their names.
        """
        named = isinstance(rows, Mapping) or hasattr(rows, "columns")
        values = np.column_stack([rows[name] for name in self.columns]) if named else np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            remedy = f"Give a column each for {', '.join(self.columns)}."
            raise ParameterError("predict", f"the shape of its rows is {values.shape}", remedy)
        return self.intercept + values.astype(np.float64) @ self.slopes


Method = Literal["depth", "propose_test_release"]
DEALS, MOST_DEALS, MOST_BLOCKS = 16, 2**10, 2**24


@statistic(
    delta=1e-6,
    no_by="records are dealt into blocks, and those of a group would be too few to hide any",
    curator="records are dealt into blocks",
)
def robust_regression(
    records: RecordsOf,
    target: str | None = None,
    columns: Sequence[str] | None = None,
    *,
    blocks: int | None = None,
    deals: int = DEALS,
    max_iter: int = 1,
    method: Method = "depth",
    confidence: float | None = CONFIDENCE,
    population: bool = False,
    **_: Unpack[SharedOptions],
) -> RobustRegression:
    """Release a linear regression that some gross errors hardly move.

    Records are dealt into small blocks, each of which fits its own plane by least squares; what is released is in the
    middle of the blocks' slopes, in all columns at once. Blocks are so small that most of them are free of gross
    errors, as long as those are few. The intercept is the median residual.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records. One with a missing value counts for nothing. A curator alone can be asked this.
    target : str, optional
        Public. The numeric column that is explained; the last one where none is given. An array has x0, x1, ...
    columns : sequence of str, optional
        Public. Numeric columns that explain it; all others where not given.
    bounds : (lower, upper) or Schema, optional
        Public. For an array: two numbers, or two sequences with one number per column. Private data have them in their
        schema. They may be far too wide: slopes are searched for everywhere, and their noise follows their own spread.
    blocks : int, optional
        Public. Into how many blocks records are dealt. By default there are as many as blocks of one record more than
        there are coefficients (of two records for a single column): by the number of records, where it is public, or
        a noisy count. Fewer blocks are larger, and find slopes of columns that are mostly constant.
    deals : int
        Public. How often records are dealt anew, where slopes are found by depth. More deals leave less to chance, at
        the same price.
    max_iter : {1, 2}
        Public. With 2, where slopes are found by depth, records that are more than four deviations away from a first
        fit are left out of a second one. That also withstands gross errors in the columns (leverage points), and takes
        more than twice as many records.
    method : {"depth", "propose_test_release"}
        Public. By the depth of slopes among those of blocks; or one column after the other by propose-test-release,
        which takes far more records, has no answer where they are too few, and gives no intervals.
    confidence : float, optional
        Public. Of an interval for each slope; with None there are none, and slopes get what they would cost.
    population : bool
        Public. Whether intervals are for the slopes of the population that the records are a sample of, drawn
        independently. Else they are for these data: for the middle of the slopes of all blocks that could be dealt. Of
        a single column in blocks of two records, that is the slope of Theil 1950 and Sen 1968.
    epsilon, delta : float
        Public. What all of this may cost. Tests need a positive delta.

    Returns
    -------
    RobustRegression
        Slopes with intervals, the intercept (without an interval: its error depends on where the columns are) and the
        receipt.

    Guarantee
    ---------
    The event on the receipt, for the data set's own neighbors: Laplace noise on the number of records, if that is
    secret; one `BoxDepth` for the slopes, one for their spread (and one, and two `Quantile` releases, for a first
    fit); one `Quantile` for the intercept. With propose-test-release, two `ProposeTestRelease` for each column take
    the place of deep points (Dwork and Lei 2009): half of delta is the chance that any of their tests errs. All are
    made from `SampleAndAggregate`, each from deals of its own.

    Notes
    -----
    Intervals are for slopes of a population in which errors do not depend on the columns, or are symmetric. They are
    made for normal errors and columns, and wider than need be for laws with longer tails. If the laws of errors and
    columns are both skewed, the middle of the slopes of three or more records is off by up to 1 % of their ranks, which
    shows from some 10,000 records on; the slopes of pairs, for a single column, are not. Gross errors in the target
    widen intervals, and leverage points move slopes unless there is a second fit.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> age, years = rng.uniform(20, 60, 5000), rng.uniform(0, 20, 5000)
    >>> pay = 1000 + 20 * age + 50 * years + rng.normal(0, 100, 5000)
    >>> pay[:400] = 9999  # gross errors
    >>> rows = np.column_stack([age, years, pay])
    >>> found = robust_regression(rows, bounds=([0, 0, 0], [100, 40, 10_000]), epsilon=2.0)
    >>> [round(slope, -1) for slope in found.slopes.tolist()], round(found.intercept, -3)
    ([20.0, 50.0], 1000.0)
    """
    of = records.opened(_wanted(target, columns))
    frame = _frame(of.data, target, columns)
    name = f"robust regression of {frame.target} on {', '.join(frame.columns)}"
    dealt = Blocks(of.data, frame, blocks)
    if dealt.number is not None:
        check_whole(name, "blocks", dealt.number, most=MOST_BLOCKS)
    way: SlopesByDepth | SlopesByTests
    if method == "depth":
        way = _by_depth(name, dealt, deals, max_iter, confidence, population)
    else:
        way = _by_tests(name, dealt, of.budget.delta)
    plan = calibrate(JointPlan(way.parts), of.budget)
    way.check(plan.mechanisms)
    with of.data.permit(plan.event, name, key=of.key) as permit:
        fit = way.found(permit, plan.mechanisms)
    return _described(name, frame, fit, confidence, population, permit.receipt)


def _described(
    name: str, frame: ScaledColumns, fit: ScaledFit, confidence: float | None, population: bool, receipt: Receipt
) -> RobustRegression:
    """Post-processing: the columns' own units."""
    slopes, intercept = frame.own_slopes(fit.slopes), frame.own_intercept(fit.slopes, fit.intercept)
    ends: list[Array | None] = [None, None]
    if fit.reach is not None:
        reach = frame.own_slopes(fit.reach)
        ends = [np.append(end, math.nan) for end in (slopes - reach, slopes + reach)]
    return RobustRegression(
        name=name,
        names=(*frame.columns, "intercept"),
        values=np.append(slopes, intercept),
        low=ends[0],
        high=ends[1],
        target=frame.target,
        blocks=fit.blocks,
        confidence=None if fit.reach is None else confidence,
        population=population,
        receipt=receipt,
    )


def _wanted(target: str | None, columns: Sequence[str] | None) -> tuple[str, ...] | None:
    """The names that are known: then a data frame may have others."""
    if target is None or columns is None:
        return None
    return (*((columns,) if isinstance(columns, str) else columns), target)


def _frame(data: PrivateData, target: str | None, columns: Sequence[str] | None) -> ScaledColumns:
    """The columns that were asked for: numeric, each once, and not the target itself."""
    features = data.schema.features
    explained = target if target is not None else (features or ("nothing",))[-1]
    asked = [name for name in features if name != explained] if columns is None else columns
    explaining = names_of(asked)
    if not explaining or len({*explaining, explained}) != len(explaining) + 1 or len(explaining) > COLUMNS:
        obstacle = f"the columns that explain it are {', '.join(map(str, explaining)) or 'none'}"
        remedy = f"Name 1 to {COLUMNS} other numeric columns, each once."
        raise ParameterError(f"robust regression of {explained}", obstacle, remedy, columns=explaining)
    return ScaledColumns.of(data.schema, explaining, explained)


def _by_depth(
    name: str, blocks: Blocks, deals: int, max_iter: int, confidence: float | None, population: bool
) -> SlopesByDepth:
    check_whole(name, "deals", deals, most=MOST_DEALS)
    check_whole(name, "max_iter", max_iter, most=2)
    return SlopesByDepth(blocks, int(deals), int(max_iter), confidence, population)


def _by_tests(name: str, blocks: Blocks, delta: float) -> SlopesByTests:
    if delta == 0:
        raise ParameterError(name, "a test that may err needs a positive delta", 'Give delta, or method="depth".')
    return SlopesByTests(blocks, delta)
