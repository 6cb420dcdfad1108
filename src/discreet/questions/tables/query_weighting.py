"""How one price is best divided among several measurements, before any of them is made.

This is the optimal query weighting of Li and Miklau 2012 (the adaptive mechanism), on spaces that do not overlap:
measurement a, with weight w, has information w^2 information[a, b] about space b, and the noise that is left in b has
the inverse of the sum of these as its variance. All weights together have a length, in l1 for Laplace noise and in l2
for Gaussian noise, and the length is the price.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.bound import Norm
from discreet.core.checks import check_one_of, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

FINENESS = 30  # bits between the length of what a record adds and the step of its grid
HEAVIEST = 2**31  # steps of a weight
MARGIN = 1 + 2.0**-30  # keeps rounded lengths inside their bound, so that clipping never acts
MAX_ITER = 60
POWER: dict[Norm, float] = {"l1": 1 / 3, "l2": 1 / 4}  # one step is enough where each space has one source


@dataclass(frozen=True)
class QueryWeighting:
    """Measurements to choose weights for.

    Parameters
    ----------
    information : sparse matrix of shape (measurements, spaces)
        Public. The information of a measurement of weight one about each space.
    costs : array of shape (measurements,)
        Public. The length of what a record adds to a measurement of weight one.
    norm : {"l1", "l2"}
        Public. How these lengths add up.

    Examples
    --------
    >>> alone = QueryWeighting(np.eye(2), np.ones(2), "l2")
    >>> alone.optimal_weights(np.array([16.0, 1.0])).round(3)  # squared weights as 4 to 1
    array([0.895, 0.447])
    """

    information: Any
    costs: Array
    norm: Norm

    def variances(self, weights: Array) -> Array:
        """The variance that noise of deviation one leaves in each space; infinite where nothing was measured."""
        total = np.asarray(self.information.T @ np.square(weights))
        return np.divide(1.0, total, out=np.full(len(total), np.inf), where=total > 0)

    def length(self, weights: Array) -> float:
        """The length of what a record adds to all measurements together; the same wherever it is computed."""
        lengths = np.abs(weights * self.costs)
        return math.fsum(lengths.tolist()) if self.norm == "l1" else math.sqrt(math.fsum(np.square(lengths).tolist()))

    def optimal_weights(self, importance: Array) -> Array:
        """The weights, of length about one, that make the weighted sum of the variances small.

        At the best weights, w_a (sum_b information[a, b] importance_b variance_b^2) is proportional to the derivative
        of the length, cost_a in l1 and w_a cost_a^2 in l2. Weights grow where it is larger than that. In l2 the problem
        is convex and the sum falls with every step (Yu 2010); in l1 the best step is kept.

        Parameters
        ----------
        importance : array of shape (spaces,)
            Public. The weight of the variance in each space.

        Returns
        -------
        array of shape (measurements,)
            Rounded to eight binary digits, so that they are the same wherever they are computed.
        """
        needed = importance > 0
        weights = 1 / self.costs
        best, least = weights, np.inf
        for _ in range(MAX_ITER):
            weights = weights / self.length(weights)
            variances = np.where(needed, self.variances(weights), 0.0)
            error = float(importance[needed] @ variances[needed])
            if error < least:
                best, least = weights, error
            if not np.isfinite(error):
                break
            gains = np.asarray(self.information @ (importance * np.square(variances)))
            slope = gains / self.costs * (weights if self.norm == "l1" else 1 / self.costs)
            weights = weights * (slope / slope.max()) ** POWER[self.norm]
        digits, exponents = np.frexp(best)
        return np.ldexp(np.rint(digits * 256) / 256, exponents)


def steps_of(weights: Array) -> tuple[int, ...]:
    """Weights of about one as whole steps of the grid of `FINENESS` bits, at least one each."""
    return tuple(np.maximum(np.rint(np.ldexp(weights, FINENESS)), 1.0).astype(np.int64).tolist())


def check_weights(asked: str, steps: Sequence[int], count: int, exponent: int, norm: Norm) -> None:
    """Refuse weights that are not one for each of n measurements, or that no sum could carry without error."""
    check_one_of(asked, "norm", norm, ("l1", "l2"))
    check_whole(asked, "exponent", exponent, -FINENESS, 0)
    if len(steps) != count:
        raise ParameterError(asked, f"it has {count} parts and {len(steps)} weights", "Give each its own.")
    for one in steps:
        check_whole(asked, "weight", one, 1, HEAVIEST)
