"""A regression of the counts of ones on the Bloom filters of candidate strings."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array, Steps
from discreet.local.rappor.rappor_parameters import RapporParameters

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

LEVEL = 0.1  # the probability with which the Lasso keeps a candidate that nobody has, about
UNPENALIZED = 1e3  # by how much less the column of other strings is penalised
PASSES = 2
MOST_KEPT = 0.5  # candidates that are kept at most, per count
JOINING, LEAST_JOINING = 1e-3, 100  # of the Lasso: by how much a product is above the penalty; columns at a time


@dataclass(frozen=True)
class FittedShares:
    """Shares of candidates by least squares.

    Parameters
    ----------
    kept : array of int
        Which candidates were fitted, as places in the list.
    shares, errors : array
        The share of each among all clients, and its standard error.
    dispersion : float
        The variance of the residuals in units of what the noise alone gives, at least 1; more, where strings that are
        not candidates are common.
    """

    kept: Steps
    shares: Array
    errors: Array
    dispersion: float


@dataclass(frozen=True)
class CountRegression:
    """Counts of ones, corrected for the randomisation, as a sum over strings.

    The share of ones in bit i of cohort j, less p* and divided by q* - p*, is unbiased for the share of clients whose
    filter has that bit. Its variance r (1 - r) / (N (q* - p*)^2), where r is the probability of a one, is known up to
    these shares. Rows are weighted by its inverse, with r from the fit of the pass before. A last column, constant,
    stands for all strings that are not candidates: on average they have a bit with probability 1 - (1 - 1/k)^h.
    """

    setup: RapporParameters  # public
    tally: Steps  # the number of reports of each cohort, and of ones in each bit
    design: csc_matrix  # of the candidates: see `bloom_design`

    @property
    def candidates(self) -> int:
        return int(self.design.shape[1])

    @property
    def background(self) -> float:
        """The probability that a string has a given bit."""
        return 1 - (1 - 1 / self.setup.bits) ** self.setup.hashes

    @cached_property
    def observed(self) -> Array:
        """The unbiased share of clients whose filter has the bit, for each row."""
        n = np.maximum(self.tally[:, :1], 1)
        return np.asarray((self.tally[:, 1:] / n - self.setup.one_if_clear) / self.setup.slope).ravel()

    @cached_property
    def columns(self) -> csc_matrix:
        """The candidates, and the column of all other strings."""
        from scipy.sparse import csc_matrix, hstack

        return hstack([self.design, csc_matrix(np.full((self.design.shape[0], 1), self.background))], format="csc")

    def weights(self, shares: Array) -> Array:
        """The inverse standard deviation of each row, if these are the shares of clients that have its bit."""
        one = self.setup.one_if_clear + self.setup.slope * np.clip(shares, 0.0, 1.0)
        one = np.clip(one, 2.0**-20, 1 - 2.0**-20)
        n = np.repeat(self.tally[:, 0], self.setup.bits)
        return np.asarray(np.sqrt(n / (one * (1 - one))) * abs(self.setup.slope))

    def selected(self) -> FittedShares:
        """Least squares on the candidates that a non-negative Lasso keeps.

        With weights, the noise of a row has variance one, so that the product of a candidate's column, at length one,
        and the noise is standard normal. The penalty is its quantile at `LEVEL`: of candidates that nobody has, about
        this part is kept.
        """
        found = np.full(self.design.shape[0], self.background)
        for _ in range(PASSES):
            weights = self.weights(found)
            coefficients = self._lasso(weights)
            found = self.columns @ coefficients
        most = int(MOST_KEPT * self.design.shape[0])
        order = np.argsort(-coefficients[:-1], kind="stable")[:most]
        return self.fitted(np.sort(order[coefficients[order] > 0]), found)

    def fitted(self, kept: Steps, expected: Array | None = None) -> FittedShares:
        """Least squares on these candidates and on all other strings, whose share is at least 0."""
        weights = self.weights(np.full(self.design.shape[0], self.background) if expected is None else expected)
        with_others = np.append(kept, self.candidates)
        fit = _LeastSquares.of(self.columns[:, with_others].toarray(), self.observed, weights)
        if fit.coefficients[-1] < 0:
            fit = _LeastSquares.of(self.columns[:, kept].toarray(), self.observed, weights)
        return FittedShares(kept, fit.coefficients[: kept.size], fit.errors[: kept.size], fit.dispersion)

    def _lasso(self, weights: Array) -> Array:
        weighted = self.columns.multiply(weights[:, None]).tocsc()
        scales = 1 / np.maximum(np.sqrt(np.asarray(weighted.power(2).sum(axis=0)).ravel()), np.finfo(float).tiny)
        scales[-1] *= UNPENALIZED
        return sparse_lasso(weighted.multiply(scales).tocsc(), self.observed * weights, -ndtri(LEVEL)) * scales


def sparse_lasso(columns: csc_matrix, goal: Array, penalty: float) -> Array:
    """The non-negative Lasso, solved on the few columns that can matter.

    Columns whose product with the residual is above the penalty join, until there is none: the conditions of Karush,
    Kuhn and Tucker, by which the solution on these columns is one on all.
    """
    from sklearn.linear_model import Lasso

    model = Lasso(penalty / goal.size, positive=True, fit_intercept=False, max_iter=10_000, tol=1e-6)
    inside, coefficients = np.zeros(columns.shape[1], dtype=bool), np.zeros(columns.shape[1])
    while True:
        slope = columns.T @ (goal - columns @ coefficients)
        outside = np.flatnonzero(~inside & (slope > penalty * (1 + JOINING)))
        if not outside.size:
            return coefficients
        joining = max(LEAST_JOINING, int(inside.sum()))
        inside[outside[np.argsort(-slope[outside], kind="stable")[:joining]]] = True
        coefficients[inside] = model.fit(columns[:, inside].toarray(), goal).coef_


@dataclass(frozen=True)
class _LeastSquares:
    coefficients: Array
    errors: Array
    dispersion: float

    @classmethod
    def of(cls, columns: Array, observed: Array, weights: Array) -> _LeastSquares:
        weighted, goal = columns * weights[:, None], observed * weights
        inverse = np.linalg.pinv(weighted.T @ weighted, hermitian=True)
        coefficients = inverse @ (weighted.T @ goal)
        free = max(1, int((weights > 0).sum()) - columns.shape[1])
        dispersion = max(1.0, float(np.square(goal - weighted @ coefficients).sum()) / free)
        return cls(coefficients, np.sqrt(np.maximum(np.diag(inverse), 0.0) * dispersion), dispersion)
