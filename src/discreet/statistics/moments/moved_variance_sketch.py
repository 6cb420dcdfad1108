"""Variances in all directions of rows of any length, where it is hidden that one row moved a little."""

from __future__ import annotations

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.mechanisms.vectors.moved_row_sketch import MovedRowSketch
from discreet.releases.estimate import Estimate
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE
from discreet.statistics.moments.sketched_variances import SketchedVariances
from discreet.statistics.moments.variance_sketch import LEAST, MOST, MOST_NUMBERS
from discreet.trust.moving_table import MovingTable


def moved_variance_sketch(
    table: MovingTable,
    *,
    projections: int = 300,
    confidence: float = CONFIDENCE,
    epsilon: float = 1.0,
    delta: float = 1e-6,
) -> SketchedVariances:
    """Release random projections of a table's rows, from which the variance in any direction is estimated.

    Noise on a covariance matrix cannot hide that a long row moved: the matrix moves by the product of both lengths. The
    weights of a sketch hide it, since only the ratio of two variances tells.

    Parameters
    ----------
    table : MovingTable
        The rows, with the reach within which the position of each is hidden, and nothing else about it.
    projections : int
        Public. How many. The error of a variance v is about sqrt(2 / projections) (v + w / n), and w is about 18
        projections times the squared reach, over the squared epsilon: so it is best where w / n is about v.
    confidence : float
        Public. Of each interval, which is for these rows.
    epsilon, delta : float
        Public. What this may cost; delta is above zero.

    Returns
    -------
    SketchedVariances
        The variance of each column with its interval, `variance` in any direction, `covariance` and the receipt, which
        says that the position of one row to within the reach is what is protected.

    Guarantee
    ---------
    The event on the receipt, one `MovedRowSketch`, for one row that moves by no more than the reach. Not for a row that
    is added, removed or replaced. Blocki, Blum, Datta and Sheffet 2012, with the exact loss.

    Examples
    --------
    >>> from discreet.trust.moving_table import MovingTable
    >>> rows = np.random.default_rng(0).normal(0, 50, (1000, 2))
    >>> found = moved_variance_sketch(MovingTable(rows, 1.0, Budget(1.0, 1e-6)))
    >>> one = found.variance([1.0, 1.0])
    >>> bool(abs(one.value - 5000) < 6 * one.standard_error)
    True
    """
    budget, name = Budget(epsilon, delta), f"variance sketch of {', '.join(table.columns)}"
    check_confidence(name, confidence)
    check_whole(name, "projections", projections, LEAST, MOST)
    check_size(name, (1 + len(table.columns)) * int(projections), MOST_NUMBERS)
    if delta == 0:
        raise ParameterError(name, "projections are not private without a delta", "Give one.")
    sketch = calibrate(MovedRowSketch(projections=int(projections), reach=table.reach), budget)
    paid = table.projected(sketch, name)
    return SketchedVariances(
        name=name,
        columns=table.columns,
        vectors=paid.vectors,
        constant=sketch.constant,
        regularization=sketch.regularization,
        units=np.ones(len(table.columns)),
        number=Estimate.around(
            "number of rows", float(len(table)), 0.0, standard_error=0.0, confidence=confidence, receipt=paid.receipt
        ),
        bounded=False,
        confidence=confidence,
        receipt=paid.receipt,
    )
