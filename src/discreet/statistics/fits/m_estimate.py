"""Private M-estimates: locations, regressions and losses of one's own, from one noisy histogram."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from discreet.core.checks import names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import Bins
from discreet.releases.ask import ColumnsOf, OneSum
from discreet.releases.fit import Fit
from discreet.releases.groups import By, GroupedResults
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.schema.schema import Column, Number
from discreet.statistics.fits.criterion import Linear, OwnLoss, criterion_of, layout_of
from discreet.statistics.fits.losses import Loss, Pinball, loss_of
from discreet.statistics.fits.minimizer import Minimizer, NoisyCriterion
from discreet.statistics.fits.perturbed_histogram import MOST_COLUMNS, bins_of_columns, few_cells, perturbed_histogram
from discreet.statistics.tables.contingency import ContingencyTable, counted_cells


@dataclass(frozen=True, kw_only=True)
class MEstimate(Fit):
    """Released parameters that minimise a loss.

    Parameters
    ----------
    covariance : array of shape (parameters, parameters)
        Of their errors; infinite, where noise hides how the loss curves.
    table : ContingencyTable
        The release that they were computed from; `m_estimate_of` computes others from it, at no cost.
    """

    standard_error: Array
    low: Array
    high: Array
    covariance: Array
    table: ContingencyTable


@overload
def m_estimate(
    data: Any,
    columns: Sequence[str] | None = None,
    loss: str | Loss | OwnLoss = "absolute",
    *,
    by: None = None,
    start: ArrayLike | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> MEstimate: ...
@overload
def m_estimate(
    data: Any,
    columns: Sequence[str] | None = None,
    loss: str | Loss | OwnLoss = "absolute",
    *,
    by: By,
    start: ArrayLike | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    **options: Unpack[Options],
) -> GroupedResults[MEstimate]: ...
@statistic(like=perturbed_histogram)
def m_estimate(
    of: ColumnsOf,
    loss: str | Loss | OwnLoss = "absolute",
    *,
    start: ArrayLike | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
) -> OneSum[MEstimate]:
    """Release the parameters that minimise the sum of a loss over all records.

    Of one column they are a location: its median, a quantile, Huber's or Tukey's robust mean. Of two or three, a
    regression of the first on the others. They are computed from a noisy histogram of the columns, and the same release
    serves for any number of others at no cost: see `m_estimate_of`. For a mean or a quantile alone, `mean` and
    `quantile` are closer.

    Parameters
    ----------
    data : PrivateData, array of shape (n,) or (n, columns), or data frame
        The records. One with a missing value in any of the columns counts for nothing.
    columns : sequence of str, optional
        Public. One to three columns, the response first; for an array, their names. A category is as many parameters as
        it has values after the first.
    loss : {"absolute", "huber", "tukey", "squared", "logistic"}, Loss, or callable
        Public. A loss of `statistics.fits.losses` (such as `Pinball(0.9)` for a quantile), or a function of one's
        own: parameters and points (a row for each, in the units of the columns, categories by their place) in, the loss
        of each point out.
    start : array-like, optional
        Public. Where the search for the parameters of a loss of one's own starts.
    population : bool
        Public. Whether the intervals are for the population that the records are an independent sample of. Else they
        are for these data, as they are inside their bounds.

    Returns
    -------
    MEstimate
        The parameters, their intervals and their receipt. The intervals hold the noise and the error of binning, as
        long as bins are no wider than the standard deviation of a column, or of its residuals. With wider bins, they
        may be too short. Thresholds that were not given, and that the name states, count as given.

    Guarantee
    ---------
    The event on the receipt, one `Laplace`, `DiscreteLaplace` or `Gaussian` release of all cells together; see
    `perturbed_histogram`. All else is post-processing.

    Notes
    -----
    Lei raises negative counts to zero; this draws a location towards the middle of the bounds and flattens lines. Here
    they are kept, and only the start of the search comes from counts without negative ones. With 1000 records, epsilon
    1 and 128 bins, the median of a normal sample with a standard deviation of 0.15 around -0.5
    between -1 and 1 was off by 0.0070 with counts raised to zero, 0.0051 with the nearest counts that are not negative,
    and 0.0035 as it is here (root mean squares; of the first, 0.0064 was bias).

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 60, 20_000)
    >>> pay = 1000 + 50 * age + 200 * rng.standard_t(2, 20_000)
    >>> line = m_estimate(np.stack([pay, age], 1), ["pay", "age"], "huber", bounds=([0, 0], [6000, 100]), epsilon=1.0)
    >>> line.names, round(line["age"], -1)
    (('intercept', 'age'), 50.0)
    >>> round(float(m_estimate_of(line.table, "absolute", ["age"])), -1)  # at no cost
    40.0
    """
    names = of.columns
    each = bins_of_columns("M-estimate", of, bins, expected_size)
    if _halved(loss, of.schema.columns.get(names[0])) and not (isinstance(bins, Mapping) and names[0] in bins):
        each[names[0]] = 2
    domain = few_cells(of, each)
    criterion_of(loss, domain, layout_of(loss, domain), start)

    def read(table: ContingencyTable) -> MEstimate:
        try:
            return m_estimate_of(table, loss, start=start, population=population, confidence=confidence)
        except Exception as why:
            raise ParameterError(
                "M-estimate",
                f"its loss fails away from its start ({why})",
                "The error has the `table`; `m_estimate_of` computes M-estimates from it, at no cost.",
                "A histogram was released and paid for.",
                table=table,
            ) from why

    return counted_cells(of, domain, read)


def m_estimate_of(
    table: ContingencyTable,
    loss: str | Loss | OwnLoss = "absolute",
    columns: Sequence[str] | None = None,
    *,
    start: ArrayLike | None = None,
    population: bool = False,
    confidence: float = CONFIDENCE,
) -> MEstimate:
    """The M-estimate from a released histogram: post-processing, at no cost.

    Parameters
    ----------
    table : ContingencyTable
        What was released, by `perturbed_histogram` or `contingency`.
    loss : {"absolute", "huber", "tukey", "squared", "logistic"}, Loss, or callable
        Public. What is minimised; see `m_estimate`.
    columns : sequence of str, optional
        Public. Some of the table's columns, the response first; all, if none are named. Summing over others adds up
        their noise.
    start : array-like, optional
        Public. Where the search for the parameters of a loss of one's own starts.
    population : bool
        Public. Whether the intervals are for the population that the records are an independent sample of. Else they
        are for these data, as they are inside their bounds.
    confidence : float
        Public. Of each interval.

    Returns
    -------
    MEstimate
        The parameters, their intervals and the receipt of the table.

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(40, 12, 10_000)
    >>> from discreet.statistics.fits.losses import Pinball
    >>> from discreet.statistics.fits.perturbed_histogram import perturbed_histogram
    >>> table = perturbed_histogram(ages, bounds=(0, 100), epsilon=1.0)
    >>> [round(float(m_estimate_of(table, Pinball(q))) / 10) for q in (0.2, 0.5, 0.8)]
    [3, 4, 5]
    """
    check_confidence("M-estimate", confidence)
    if columns is not None:
        table = table.marginal(names_of(columns))
    if len(table.columns) > MOST_COLUMNS:
        obstacle = f"the table has {len(table.columns)} columns"
        raise ParameterError("M-estimate", obstacle, f"Name {MOST_COLUMNS} at most.", "The table is as it was.")
    axes = table.domain
    layout, wide = (layout_of(loss, axes, merged) for merged in (1, 2))

    def over(loss: str | Loss | OwnLoss) -> NoisyCriterion:
        criterion, coarse = (criterion_of(loss, axes, one, start) for one in (layout, wide))
        return NoisyCriterion(criterion, layout, coarse, wide, table.counts.ravel(), table.stddev, population)

    chosen, noisy = loss, over(loss)
    begin = noisy.criterion.start
    if isinstance(noisy.criterion, Linear) and not (noisy.criterion.loss.complete and noisy.criterion.loss.convex):
        middle = over(Pinball())
        begin = middle.convex_minimizer(begin)
        deviation = max(middle.deviation(begin), float(layout.steps[0])) * float(layout.half[0])
        chosen = loss_of(loss).completed(deviation)
        noisy = over(chosen)
    found = noisy.minimizer(noisy.convex_minimizer(begin))
    return _estimate(noisy, found, _name(chosen, axes.columns), table, confidence)


def _estimate(
    noisy: NoisyCriterion, found: Minimizer, name: str, table: ContingencyTable, confidence: float
) -> MEstimate:
    """Parameters in the units of the columns, with their intervals."""
    criterion, size = noisy.criterion, found.theta.size
    theta = criterion.matrix @ np.clip(found.theta, *criterion.limits) + criterion.offset
    hidden = np.where(np.eye(size) > 0, math.inf, 0.0)
    covariance = hidden if found.covariance is None else criterion.matrix @ found.covariance @ criterion.matrix.T
    if size == 1:
        low, high = (criterion.matrix @ np.array([end]) + criterion.offset for end in noisy.ends(found, confidence))
    else:
        errors = float(ndtri(0.5 + confidence / 2)) * np.sqrt(np.diag(covariance))
        low, high = theta - errors, theta + errors
    return MEstimate(
        name=name,
        names=criterion.names,
        values=theta,
        standard_error=np.asarray(np.sqrt(np.diag(covariance))),
        low=low,
        high=high,
        covariance=covariance,
        table=table,
        confidence=confidence,
        population=noisy.population,
        receipt=table.receipt,
    )


def _name(loss: str | Loss | OwnLoss, columns: tuple[str, ...]) -> str:
    if callable(loss):
        return f"M-estimate of {', '.join(columns)}"
    first, *others = columns
    return f"{loss_of(loss).title} of {first}" + (f" on {', '.join(others)}" if others else "")


def _halved(loss: str | Loss | OwnLoss, response: Column | None) -> bool:
    """Whether the response is a number of which only the halves matter."""
    return not callable(loss) and loss_of(loss).binary and isinstance(response, Number)
