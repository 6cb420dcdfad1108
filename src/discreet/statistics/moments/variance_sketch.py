"""Variances in all directions at one price: random projections of the records."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.vectors.johnson_lindenstrauss import JohnsonLindenstrauss
from discreet.questions.vectors.directed_products import CoordinateRecords, complete_count_of
from discreet.releases.ask import columns_of
from discreet.releases.estimate import Estimate
from discreet.releases.joint_plan import JointPlan
from discreet.releases.release import check_confidence, check_population
from discreet.releases.spread import CONFIDENCE, spread
from discreet.statistics.moments.sketched_variances import SketchedVariances
from discreet.trust.as_private import Bounds

LEAST, MOST, MOST_NUMBERS = 3, 2**20, 2**27  # projections, and numbers in all of them
COUNT = 5.0  # the noise on the number of records, in units of what the whole budget would pay for
SLOPES = "the sketch has no fourth moments, which the sampling error of a variance depends on"


@checked
def variance_sketch(
    data: Any,
    columns: Sequence[str] | None = None,
    *,
    bounds: Bounds | None = None,
    radius: float | None = None,
    projections: int = 1000,
    confidence: float = CONFIDENCE,
    population: bool = False,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> SketchedVariances:
    """Release random projections of the records, from which the variance of any weighted sum of columns is estimated.

    The error of a variance v is about sqrt(2 / projections) (v + w / n), with a regularisation w that grows as the root
    of the number of projections. The second part hardly depends on it, and is about the whole error of `covariance` at
    the same price, which also needs no curator. So `covariance` is the better choice for as many columns as its matrix
    has room for: in random directions its error was 1.1 to 7 times less (`benchmarks/sketches.py`). A sketch is for
    thousands of columns: it has `projections` numbers for each of them, and not one for each pair.

    Parameters
    ----------
    data : PrivateData, array of shape (n, columns), or data frame
        The records, behind a curator. One with a missing value in any of the columns counts for nothing.
    columns, bounds, radius, epsilon, key
        Public. As for `covariance`.
    projections : int
        Public. How many: time and memory grow with it. At least 3.
    confidence : float
        Public. Of each interval.
    population : bool
        Public. An interval for a population is refused: the sketch has no fourth moments.
    delta : float
        Public. Above zero.

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
    budget, purpose = Budget(epsilon, delta), "variance sketch"
    check_confidence(purpose, confidence)
    of = columns_of(purpose, data, columns, bounds, budget)
    of.data.check_curated(purpose)
    check_population(purpose, population, SLOPES, "Ask for `covariance`, which has such intervals.")
    check_whole(purpose, "projections", projections, LEAST, MOST)
    check_size(purpose, (1 + len(of.columns)) * int(projections), MOST_NUMBERS)
    if delta == 0:
        raise ParameterError(purpose, "projections are not private without a delta", "Give one, or ask `covariance`.")
    names, neighbors, rows = of.columns, of.data.neighbors, of.data.unit.rows
    records = CoordinateRecords(of.data.schema, names, math.sqrt(len(names)) if radius is None else radius)
    plain = JohnsonLindenstrauss(1.0, int(projections), records.longest, rows, neighbors)
    share = COUNT * calibrate(Gaussian(), budget).multiplier / calibrate(plain, budget).multiplier
    plan = calibrate(JointPlan((plain, Gaussian(share))), budget)
    sketch, noise = plan.mechanisms
    counted, name = complete_count_of(of.data.schema, names), f"{purpose} of {', '.join(names)}"
    with of.data.permit(plan.event, name, key=key) as permit:
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
