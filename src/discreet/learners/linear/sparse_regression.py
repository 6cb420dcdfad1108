"""Private linear regression on few of many columns, which are found privately."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.linear_regression import LinearRegression
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.gradients.number_gradients import number_gradients_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import on_maps
from discreet.questions.vectors.second_moments import mapped_moments_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.releases.spread import Spread
from discreet.releases.whitening import standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# By judgement, on made-up data of 2,000 to 50,000 records with 50 to 400 columns, of which 3 to 10 matter.
SHARES = (0.1, 0.5, 0.4)  # for moments of columns, gradients, products of the columns that are chosen
ROUNDS = 4
SIZE = 2.0  # standard deviations of the target that residuals are shrunk to
STEP = 0.4  # of a step to the minimiser, if columns were uncorrelated: those that are alike would overshoot together
SPARE = 2  # candidates for each column that is kept
TENTH = 10
Indices = NDArray[np.intp]


class SparseLinearRegression(LinearRegression):
    """Least squares on a few columns, which noisy gradients choose.

    For many columns of which few matter: noise on all products of two of p columns hides more than noise on a gradient
    of p numbers does. In each of four rounds the columns with the largest noisy gradients join those before, whose
    coefficients go along it. Then one noisy matrix of products, of these candidates and the target, gives coefficients
    as in `LinearRegression`; half of the candidates, those with the largest coefficients in standard errors, are kept.
    Columns that are nearly the same may be chosen for one another.

    Parameters
    ----------
    n_nonzero_coefs : int, optional
        Public. How many columns are chosen; a tenth of all by default, as in scikit-learn.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients, in the units of the data: 0 for columns that were not chosen.
    coef_stderr_ : array of shape (n_features,)
        Released. Standard errors of the coefficients that are not 0, as if their columns had been known.

    Guarantee
    ---------
    `event_`: one release of moments of columns, four of gradients and one of products, each one bounded sum, composed,
    for the neighbors and the unit of the data set; add or remove one record for arrays. Which columns are kept follows
    from these releases, and costs no more. Released: the attributes above.
    Matching pursuit: Mallat and Zhang 1993; sparse regression by noisy gradients: Cai, Wang and Zhang 2021.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 60))
    >>> y = X[:, 3] - 2 * X[:, 40] + rng.normal(scale=0.3, size=20_000)
    >>> model = SparseLinearRegression(2, bounds=(-1, 1), target_bounds=(-5, 5), epsilon=1.0).fit(X, y)
    >>> np.flatnonzero(model.coef_), model.coef_[[3, 40]].round()
    (array([ 3, 40]), array([ 1., -2.]))
    """

    purpose: ClassVar[str] = "sparse linear regression"

    def __init__(
        self,
        n_nonzero_coefs: int | None = None,
        *,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        super().__init__(target=target, bounds=bounds, target_bounds=target_bounds, epsilon=epsilon, delta=delta)
        self.n_nonzero_coefs = n_nonzero_coefs

    def check(self) -> None:
        if self.n_nonzero_coefs is not None:
            check_whole(self.purpose, "n_nonzero_coefs", self.n_nonzero_coefs)

    def plan(self, task: Task) -> StagedPlan:
        """Moments of columns, gradients of all of them, and products of some, of which only the number is known."""
        inputs, sought = len(task.features), self._sought(task)
        nowhere = np.zeros((inputs, 1 + inputs))
        some = (*task.features[:sought], str(task.target))
        stages = (
            Stage(column_moments_of(task.schema, task.columns), SHARES[0]),
            Stage(self._gradients(task, nowhere, np.zeros(inputs), 0.0, 1.0), SHARES[1], ROUNDS),
            Stage(mapped_moments_of(task.schema, some, np.zeros((sought + 1, sought + 2))), SHARES[2]),
        )
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Choose columns, and solve for their coefficients."""
        rough, steps, second = plan.spreads
        moments = ColumnMoments.of(permit.ask(column_moments_of(task.schema, task.columns), rough.noise), rough.stddev)
        inputs, places = len(task.features), self._candidates(task, moments, steps, permit)
        own = np.array([*places, inputs])
        some = ColumnMoments(moments.count, moments.means[own], moments.squares[own], moments.error)
        found = self.solved(task, tuple(task.columns[place] for place in own), some, second, permit)
        coef, errors = found["coef_"], found["coef_stderr_"]
        order = np.argsort(-np.abs(coef) / np.maximum(errors, 1e-300), kind="stable")
        kept, left = order[: self._kept(task)], order[self._kept(task) :]
        columns = Coordinates.of(task.schema, task.features, 1.0)
        middle = columns.middle[places[left], 0] + columns.half[places[left], 0] * moments.means[places[left]]
        return {
            "coef_": _placed(coef[kept], places[kept], inputs),
            "intercept_": found["intercept_"] + float(coef[left] @ middle),
            "coef_stderr_": _placed(errors[kept], places[kept], inputs),
            "intercept_stderr_": found["intercept_stderr_"],
        }

    def _candidates(self, task: Task, moments: ColumnMoments, steps: Spread, permit: Permit) -> Indices:
        """The places of columns that are taken round by round: those with the largest gradients, which then fall."""
        inputs, sought = len(task.features), self._sought(task)
        count = max(float(task.public_size or moments.count), 1.0)
        every = ColumnMoments(count, moments.means[:-1], moments.squares[:-1], moments.error)
        number, mean = task.schema.number(str(task.target)), float(moments.means[-1])
        half = (number.upper - number.lower) / 2
        deviation = half * math.sqrt(max(float(moments.squares[-1]) - mean**2, moments.error, 1e-4))
        center = (number.upper + number.lower) / 2 + half * mean
        matrix, current, taken = standardising(every, 1.0), np.zeros(inputs), np.zeros(inputs, dtype=bool)
        for turn in range(1, ROUNDS + 1):
            gradient = permit.ask(self._gradients(task, matrix, current, center, deviation), steps.noise)
            pull = np.where(taken, np.inf, np.abs(gradient))
            taken[np.argsort(-pull, kind="stable")[: -(-sought * turn // ROUNDS)]] = True
            current = np.where(taken, current - STEP * gradient * inputs / count, 0.0)
        return np.flatnonzero(taken)

    def _gradients(self, task: Task, matrix: Array, current: Array, center: float, unit: float) -> BoundedSum:
        """Of the squared loss of a target in standard deviations, at these coefficients."""
        asked = (task.schema, task.features, str(task.target), matrix, on_maps(current[None, :]))
        return number_gradients_of(*asked, "squared", center, unit, 0.5, SIZE)

    def _kept(self, task: Task) -> int:
        inputs = len(task.features)
        kept = max(inputs // TENTH, 1) if self.n_nonzero_coefs is None else int(self.n_nonzero_coefs)
        if kept > inputs:
            obstacle = f"there are {inputs} columns, and {kept} of them were asked for"
            raise ParameterError(self.purpose, obstacle, f"Ask for {inputs} at most.")
        return kept

    def _sought(self, task: Task) -> int:
        """How many columns are candidates: some will have been taken for others that they are like."""
        return min(SPARE * self._kept(task), len(task.features))


def _placed(values: Array, places: Indices, size: int) -> Array:
    """Values at their places, and 0 elsewhere."""
    found = np.zeros(size)
    found[places] = values
    return found
