"""Private linear regression with standard errors, and ridge regression."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.checks import check_positive
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.fitting.weighted_estimator import WeightedEstimator
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.questions.vectors.second_moments import mapped_moments_of, unfolded
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.releases.spread import Spread
from discreet.releases.whitening import NormalEquations, adaptive_penalty, damped, standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By judgement: a tenth of the budget finds the scales of columns to within a few per cent, where fits are of any use.
SHARES = (0.1, 0.9)  # for moments of columns, all products
REACH, FARTHEST = 1.0, 3.0  # typical lengths that records reach before they are shrunk: with much noise, and with none
STILL = 0.1  # spectral norm of the noise, in units of a mean eigenvalue, below which they reach farther


class LinearRegression(RegressorMixin, WeightedEstimator):
    """Least squares with the least penalty that the noise requires.

    Records are centred and scaled by noisy moments of their columns, target included, and shrunk where they are long;
    one with a missing value counts for nothing. Then one noisy matrix of all products gives coefficients, intercept and
    the residual variance.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data.
    intercept_ : float
        Released. The intercept.
    coef_stderr_ : array of shape (n_features,)
        Released. Standard errors of the coefficients, by sampling and by noise. The penalty, where there is one, and
        the shrinking of long records also bias coefficients towards 0, which they do not include.
    intercept_stderr_ : float
        Released. The same of the intercept.

    Guarantee
    ---------
    `event_`: two releases of one bounded sum each, composed, for the neighbors and the unit of the data set; add or
    remove one record for arrays. Released: the attributes above, which follow from these.
    Adaptive sufficient statistics perturbation: Wang 2018, Algorithm 2, whose three releases are one here: all products
    of features and target are in one matrix, whose least eigenvalue is that of its noisy self.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (80_000, 2))
    >>> model = LinearRegression(bounds=(-1, 1), target_bounds=(-3, 3), epsilon=1.0).fit(X, X @ [2.0, -1.0] + 0.5)
    >>> model.coef_.round(1), round(model.intercept_, 1), bool(model.coef_stderr_.max() < 0.1)
    (array([ 2., -1.]), 0.5, True)
    """

    purpose: ClassVar[str] = "linear regression"
    supervised: ClassVar[bool] = True

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def plan(self, task: Task) -> StagedPlan:
        nowhere = np.zeros((len(task.columns), 1 + len(task.columns)))
        stages = (
            Stage(column_moments_of(task.schema, task.columns), SHARES[0]),
            Stage(mapped_moments_of(task.schema, task.columns, nowhere), SHARES[1]),
        )
        return staged(task.data, stages, task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        rough, second = plan.spreads
        released = permit.ask(column_moments_of(task.schema, task.columns), rough.noise)
        return self.solved(task, task.columns, ColumnMoments.of(released, rough.stddev), second, permit)

    def solved(
        self, task: Task, columns: tuple[str, ...], moments: ColumnMoments, second: Spread, permit: Permit
    ) -> Artefact:
        """The coefficients of all columns but the last, which is the target, from moments of them."""
        count = max(float(task.public_size or moments.count), 1.0)
        spectral = damped(second.stddev, 1 + len(columns))
        share = spectral * len(columns) / count
        reach = float(np.clip(REACH * (STILL / share) ** 0.25, REACH, FARTHEST))
        standard = standardising(moments, reach)
        coordinates = MappedCoordinates.of(task.schema, columns, standard)
        products = permit.ask(mapped_moments_of(task.schema, columns, standard), second.noise)
        sums = unfolded(products, coordinates)
        weights = np.array([coordinates.weight] + [1.0] * len(columns))
        sums *= np.outer(weights, weights)
        penalty = self.penalty(sums[:-1, :-1], spectral, unit=(reach**2 * len(columns)) ** -1)
        solved = NormalEquations.solved(sums, count, second.stddev, penalty)
        return _own_units(coordinates, solved)

    def penalty(self, sums: Array, spectral: float, unit: float) -> float:
        """What is added to all eigenvalues of these sums, whose noise has this spectral norm."""
        return adaptive_penalty(sums, spectral)

    def predict(self, X: Any) -> Array:
        """The prediction for each row."""
        return np.asarray(self._rows(X) @ self.coef_ + self.intercept_)


def _own_units(coordinates: MappedCoordinates, solved: NormalEquations) -> Artefact:
    """Coefficients of (1, x) from those of (w, z), where z = (x - middle) / scale, and their standard errors."""
    diagonal = np.diag(coordinates.map[:, 1:])
    scale = coordinates.columns.half[:, 0] / diagonal
    middle = coordinates.columns.middle[:, 0] - coordinates.map[:, 0] * scale
    back = np.diag(np.concatenate([[coordinates.weight], 1 / scale[:-1]])) * scale[-1]
    back[0, 1:] = -middle[:-1] / scale[:-1] * scale[-1]
    own = back @ solved.coefficients
    errors = np.sqrt(np.maximum(np.diag(back @ solved.covariance @ back.T), 0.0))
    return {
        "coef_": own[1:],
        "intercept_": float(middle[-1] + own[0]),
        "coef_stderr_": errors[1:],
        "intercept_stderr_": float(errors[0]),
    }


class Ridge(LinearRegression):
    """Linear least squares with an l2 penalty, from the noisy sum of all products of two columns.

    Records are centred and scaled by noisy moments of their columns, target included, and shrunk where they are long;
    one with a missing value counts for nothing.

    Parameters
    ----------
    alpha : float
        Public. The penalty on squared coefficients of features that are scaled to variance 1. What the noise could
        feign is added to it, so that the problem stays convex.

    Attributes
    ----------
    coef_stderr_ : array of shape (n_features,)
        Released. Standard errors of the coefficients, by sampling and by noise; they do not include the bias of the
        penalty.

    Guarantee
    ---------
    `event_`: two releases of one bounded sum each, composed, for the neighbors and the unit of the data set; add or
    remove one record for arrays. Released: the attributes above, which follow from these.
    Sufficient statistics perturbation: Vu and Slavkovic 2009; Foulds, Geumlek, Welling and Chaudhuri 2016.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (200_000, 2))
    >>> model = Ridge(bounds=(-1, 1), target_bounds=(-3, 3), epsilon=1.0).fit(X, X @ [2.0, -1.0] + 0.5)
    >>> model.coef_.round(1), round(model.intercept_, 1)
    (array([ 2., -1.]), 0.5)
    """

    purpose: ClassVar[str] = "ridge regression"

    def __init__(
        self,
        alpha: float = 1.0,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        super().__init__(target=target, bounds=bounds, target_bounds=target_bounds, epsilon=epsilon, delta=delta)
        self.alpha = alpha

    def check(self) -> None:
        check_positive(self.purpose, "alpha", self.alpha, least=0.0)

    def penalty(self, sums: Array, spectral: float, unit: float) -> float:
        """The penalty that was asked for, and what the noise requires."""
        return self.alpha * unit + super().penalty(sums, spectral, unit)
