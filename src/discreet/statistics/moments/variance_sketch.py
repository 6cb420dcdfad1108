"""Variances in all directions at one price: random projections of the records."""

from __future__ import annotations

import math
from typing import Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.checks import check_size, check_whole
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.johnson_lindenstrauss import JohnsonLindenstrauss
from discreet.questions.vectors.directed_products import CoordinateRecords, complete_count_of
from discreet.releases.ask import ColumnsOf
from discreet.releases.declaration import Refusal
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import JointPlan
from discreet.releases.spread import CONFIDENCE, spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.statistics.moments.covariance import covariance
from discreet.statistics.moments.sketched_variances import SketchedVariances

LEAST, MOST, MOST_NUMBERS = 3, 2**20, 2**27  # projections, and numbers in all of them
COUNT = 5.0  # the noise on the number of records, in units of what the whole budget would pay for
SLOPES = "the sketch has no fourth moments, which the sampling error of a variance depends on"


@statistic(
    like=covariance,
    delta=1e-6,
    no_by="a projection is one of all records together",
    no_population=Refusal(SLOPES, "Ask for `covariance`, which has such intervals."),
    needs_delta=Refusal("projections are not private without a delta", "Give one, or ask `covariance`."),
    curator="the regularisation hides one row in the projections of all",
)
def variance_sketch(
    of: ColumnsOf,
    *,
    radius: float | None = None,
    projections: int = 1000,
    confidence: float = CONFIDENCE,
    **_: Unpack[OfTheseData],
) -> SketchedVariances:
    """Release random projections of the records, from which the variance of any weighted sum of columns is estimated.

    The error of a variance v is about sqrt(2 / projections) (v + w / n), with a regularisation w that grows as the root
    of the number of projections. The second part hardly depends on it, and is about the whole error of `covariance` at
    the same price, which also needs no curator. So `covariance` is the better choice for as many columns as its matrix
    has room for: in random directions its error was 1.1 to 7 times less (`benchmarks/sketches.py`). A sketch is for
    thousands of columns: it has `projections` numbers for each of them, and not one for each pair.

    Parameters
    ----------
    projections : int
        Public. How many: time and memory grow with it. At least 3.

    Returns
    -------
    SketchedVariances
        The variance of each column with its interval, `variance` in any direction, `covariance` and the receipt.

    Guarantee
    ---------
    The event on the receipt: one `JohnsonLindenstrauss` release, whose loss is exact (after Blocki, Blum, Datta and
    Sheffet 2012), and one `Gaussian` count, for the data set's own neighbors. Directions are post-processing.

    Examples
    --------
    >>> rows = np.random.default_rng(0).uniform(-1, 1, (20_000, 1)) * [1.0, -1.0]
    >>> found = variance_sketch(rows, bounds=(-1, 1), projections=400, epsilon=5.0)
    >>> difference = found.variance([1.0, -1.0])
    >>> bool(abs(difference.value - 4 / 3) < 6 * difference.standard_error)
    True
    >>> bool(np.linalg.eigvalsh(found.covariance()).min() > -1e-12)
    True
    """
    check_whole("variance sketch", "projections", projections, LEAST, MOST)
    check_size("variance sketch", (1 + len(of.columns)) * int(projections), MOST_NUMBERS)
    names, neighbors, rows = of.columns, of.data.neighbors, of.data.unit.rows
    records = CoordinateRecords(of.schema, names, math.sqrt(len(names)) if radius is None else radius)
    plain = JohnsonLindenstrauss(1.0, int(projections), records.longest, rows, neighbors)
    share = COUNT * calibrate(Gaussian(), of.budget).multiplier / calibrate(plain, of.budget).multiplier
    plan = calibrate(JointPlan((plain, Gaussian(share))), of.budget)
    sketch, noise = plan.mechanisms
    counted, name = complete_count_of(of.schema, names), f"variance sketch of {', '.join(names)}"
    with of.data.permit(plan.event, name, key=of.key) as permit:
        vectors = np.asarray(permit.ask(records, sketch))
        number = float(permit.ask(counted, noise)[0])
    off = spread(of.data, counted, noise)
    return SketchedVariances(
        name=name,
        columns=names,
        vectors=vectors,
        constant=records.coordinates.weight,
        regularization=sketch.regularization,
        units=records.coordinates.half[:, 0],
        number=Estimate.around(
            "number of records",
            number,
            off.half_width([1.0], confidence),
            standard_error=off.stddev,
            confidence=confidence,
            receipt=permit.receipt,
        ),
        confidence=confidence,
        receipt=permit.receipt,
    )
