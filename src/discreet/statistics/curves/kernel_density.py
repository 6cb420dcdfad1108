"""Private kernel densities: smooth, evaluated anywhere, with one path of noise."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Unpack, get_args, overload

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import Bins
from discreet.releases.ask import ColumnsOf, OneSum, Released
from discreet.releases.declaration import Refusal
from discreet.releases.groups import By, GroupedResults
from discreet.releases.least_noise import least_noise
from discreet.releases.spread import CONFIDENCE
from discreet.releases.statistic import Options, statistic
from discreet.statistics.curves.density import Boxed
from discreet.statistics.curves.density_estimate import DensityEstimate
from discreet.statistics.curves.kernel_plan import LOOKS, KernelPlan, Noise, even, planned, process_noise
from discreet.statistics.curves.reading import BIAS, REMEDY, Reading, check_band
from discreet.statistics.curves.smoother import FLAT, GAUSSIAN, best_bandwidths

Bandwidth = float | Sequence[float]
NARROW = 0.8  # of the chance to miss: what the band does not know, the exact curve and its bandwidth, widens it
WIDEST = 2.0  # bandwidth that differs from a wider one, in widths of the box


@dataclass(frozen=True, kw_only=True)
class KernelDensity(DensityEstimate):
    """A released kernel density: call it with points.

    Parameters
    ----------
    bandwidth : tuple of float
        Of the kernel, in the units of each column.
    order : int
        Of the kernel: 2 for the Gaussian, 4 for one that is flatter in frequency; see `smoother.multipliers`.
    """

    bandwidth: tuple[float, ...]
    order: int
    stepped: ClassVar[bool] = False


@overload
def kernel_density(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: None = None,
    bandwidth: Bandwidth | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    noise: Noise = "least",
    **options: Unpack[Options],
) -> KernelDensity: ...
@overload
def kernel_density(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    by: By,
    bandwidth: Bandwidth | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    noise: Noise = "least",
    **options: Unpack[Options],
) -> GroupedResults[KernelDensity]: ...
@statistic(no_population=Refusal(BIAS, REMEDY))
def kernel_density(
    of: ColumnsOf,
    *,
    bandwidth: Bandwidth | None = None,
    bins: Bins | None = None,
    expected_size: int | None = None,
    noise: Noise = "least",
    confidence: float = CONFIDENCE,
) -> OneSum[KernelDensity]:
    """Release a smooth density of one, two or three columns.

    Every record shares one unit of mass out among knots near it, and noise is put on the knots, once. A kernel makes a
    smooth function of that. It can be evaluated anywhere, as often as needed, always with the same path of noise. The
    kernel is mirrored at the bounds, so no mass leaves them.

    Where no bandwidth is given, it is chosen afterwards, from the noisy masses alone, by an estimate of the squared
    error that knows how much noise there is; so it costs nothing. Nothing chosen before depends on the records.

    Parameters
    ----------
    columns : str or sequence of str
        Public. One to three numeric columns; for an array, names for all of them may be given.
    bandwidth : float or sequence of float, optional
        Public. Of a Gaussian kernel, in the units of the columns: one number for all, or one for each. It must not
        come from the data. Where not given, the kernel is chosen; it is then of order 4, which biases less.
    bins : int, or mapping of str to int, optional
        Public. The number of knots of each column, where no bandwidth is given: no detail finer than a few of them can
        be seen, and noise grows with their number. By default 6 (n / s)^(1 / (1 + 2 d)), for d columns, n records and
        noise of deviation s on each knot; and, where the schema has a step, so few that values do not show one by one.
    expected_size : int, optional
        Public. About how many records there are, for the number of knots, from what is known without the data. By
        default the number of records where it is public, and 10,000 where it is secret.
    noise : {"least", "process"}
        Public. For a bandwidth that is given: the knots and the noise that minimise the error, or those of a
        Gaussian process whose covariance is the kernel.
    confidence : float
        Public. Of the band.

    Returns
    -------
    KernelDensity
        Call it with points; it has a band and a receipt, is never negative and integrates to one.

    Guarantee
    ---------
    The event on the receipt: one `Laplace` or `Gaussian` release of one bounded sum, for the data set's own neighbors:
    the number of records is secret under add/remove and public under replace. The rest is post-processing.

    The noise of a process is that of Hall, Rinaldo and Wasserman 2013, on the same sensitivity: under replace sqrt(2)
    times the root of the kernel's peak. What differs: they multiply it by sqrt(2 ln(2 / delta)) / epsilon, and here it
    is the least that the budget allows; knots make the path, whose covariance is the kernel to within a millionth of
    its peak; the number of records may be secret; and the sum of density and path is mirrored at the bounds, made
    nonnegative and given the integral one afterwards. Laplace noise on splines is mostly less still. With either, the
    kernel of any single record is off by about a thousandth of its peak at most.

    Examples
    --------
    >>> ages = np.random.default_rng(0).normal(40, 12, 40_000)
    >>> found = kernel_density(ages, bounds=(0, 100), epsilon=1.0)
    >>> bool(abs(found(40.0) - 0.0332) < 0.002), round(found.integral(), 6)
    (True, 1.0)
    """
    check_band("kernel density", confidence)
    boxed, budget = Boxed.around(of), of.budget
    widths = _check(boxed, bandwidth, bins, noise, budget)
    number = boxed.size("kernel density", expected_size)
    plan = even(boxed, bins, number, budget) if widths is None else planned(boxed, widths, noise, budget)

    def read(released: Released) -> KernelDensity:
        return _smoothed(boxed, plan, widths, released, confidence)

    purpose = f"kernel density of {', '.join(of.columns)}"
    return OneSum(of, purpose, plan.question, read, process_noise if noise == "process" else least_noise)


def _smoothed(
    of: Boxed, plan: KernelPlan, widths: Array | None, released: Released, confidence: float
) -> KernelDensity:
    """The curve that a kernel makes of released masses: post-processing."""
    masses = released.values[: plan.knots_size].reshape([one.size for one in plan.knots])
    count, order = plan.count(released.values), FLAT if widths is None else GAUSSIAN
    if widths is None:
        widths = best_bandwidths(masses, plan.knots, released.spread.stddev, max(count, 1.0), order)
    readers = plan.readers(widths, order)
    level = 1 - NARROW * (1 - confidence)
    reading = Reading(masses, readers, released.spread, plan.question.grid, count, plan.apart, level)
    own = tuple((widths * of.box.width).tolist())
    columns, kernel = ", ".join(of.box.columns), "Gaussian" if order == GAUSSIAN else "flat"
    return KernelDensity(
        name=f"kernel density of {columns}, {kernel} kernel of bandwidth {', '.join(f'{h:.3g}' for h in own)}",
        receipt=released.receipt,
        confidence=confidence,
        box=of.box,
        reading=reading,
        bandwidth=own,
        order=order,
    )


def _check(of: Boxed, bandwidth: Bandwidth | None, bins: Bins | None, noise: Noise, budget: Budget) -> Array | None:
    """The bandwidths where the box is from 0 to 1, or None; nothing that cannot be asked."""
    if of.box.size > max(LOOKS):
        raise ParameterError(
            "kernel density", f"there are {of.box.size} columns", f"Name {max(LOOKS)} at most, or ask for `marginals`."
        )
    if noise not in get_args(Noise):
        raise ParameterError("kernel density", f"noise is {noise!r}", f"Use one of {', '.join(get_args(Noise))}.")
    if noise == "process" and (bandwidth is None or budget.delta == 0):
        remedy = "Give both, or ask for the least noise."
        raise ParameterError("kernel density", "a Gaussian process needs a bandwidth and a delta", remedy)
    if bandwidth is None:
        return None
    if bins is not None:
        raise ParameterError("kernel density", "bins are given beside a bandwidth", "Leave one of them out.")
    try:
        given = np.broadcast_to(np.asarray(bandwidth, dtype=np.float64), (of.box.size,))
    except (TypeError, ValueError):
        given = np.zeros(1)
    if not (np.isfinite(given) & (given > 0)).all():
        raise ParameterError(
            "kernel density", f"the bandwidth is {bandwidth!r}", "Give a positive number, or one for each column."
        )
    return np.minimum(given / of.box.width, WIDEST)
