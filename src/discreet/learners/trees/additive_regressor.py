"""A private additive regression: explainable boosting, by cyclic rounds of noisy residuals."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.additive_model import AdditiveModel
from discreet.questions.gradients.shape_gradients import Loss
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# From made-up data, as the constants of `AdditiveModel`; in units of half the width of the target.
# Both were set by hand on made-up data, without a table.
LONGEST = 0.3  # residuals are shrunk to this: noise is less, and outliers do not pull harder than others
PRIOR = 0.1  # variance of predictions
SCATTER = 0.003  # variance of targets around them; three times it hardly matters where noise is small
FINER, FINEST = 3.0, 30.0  # epsilons from which on there are more cells, and yet more of them and of rounds
FINER_CELLS, FINEST_CELLS, MANY_ROUNDS = 32, 64, 24


class AdditiveRegressor(RegressorMixin, AdditiveModel):
    """A generalised additive model for a number: the sum of one function of each feature, which can be drawn.

    Each feature is cut into cells of equal width between its bounds. In each round, one feature after the other, the
    residuals of the model so far are added up in its cells, with noise, and its function is fitted to them. Residuals
    are shrunk to 0.3 of half the width of the target. A record with a missing value counts for nothing; in predictions
    a missing value adds nothing.

    Parameters
    ----------
    bins : int, optional
        Public. The number of cells of each feature; where not given, 16, and with a delta 32 from epsilon 3 on and
        64 from epsilon 30 on.
    max_iter : int, optional
        Public. The number of rounds; where not given, 6, 24 from epsilon 30 on, and 2 where no delta is paid.

    Attributes
    ----------
    target_ends_ : array of shape (2,)
        Public. The bounds of the target.

    Guarantee
    ---------
    `event_`: one release of a bounded sum for the histograms of all features, and one for each feature in each round,
    composed, for the neighbors and the unit of the data set; add or remove one record for arrays. Released: `shapes_`,
    `intercept_` and `cell_counts_`, post-processing of them. Nori, Caruana, Bu, Shen and Kulkarni 2021, with public
    cells, shrunk residuals, and posterior means in place of random splits.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (10_000, 3))
    >>> model = AdditiveRegressor(bounds=(-1, 1), target_bounds=(-1, 1), epsilon=1.0).fit(X, X[:, 0] ** 2)
    >>> bool(model.score(X, X[:, 0] ** 2) > 0.8)
    True
    """

    purpose: ClassVar[str] = "additive regression"
    loss: ClassVar[Loss] = "squared"
    scatter: ClassVar[float] = SCATTER
    target_ends_: Array

    def __init__(
        self,
        *,
        bins: int | None = None,
        max_iter: int | None = None,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.bins = bins
        self.max_iter = max_iter
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def outputs(self, task: Task) -> int:
        return 1

    def residual(self, outputs: int) -> float:
        return LONGEST

    def cells(self) -> int:
        if self.bins is not None or self.delta == 0 or self.epsilon < FINER:
            return super().cells()
        return FINEST_CELLS if self.epsilon >= FINEST else FINER_CELLS

    def rounds(self) -> int:
        many = self.max_iter is None and self.delta > 0 and self.epsilon >= FINEST
        return MANY_ROUNDS if many else super().rounds()

    def curvature(self, variance: float, outputs: int) -> float:
        return 1.0

    def prior(self, outputs: int) -> float:
        return PRIOR

    def learn(self, task: Task, plan: Any, permit: Permit) -> Artefact:
        """Find the shapes, in the units of the target."""
        number = task.schema.number(str(task.target))
        middle, half = 0.5 * number.lower + 0.5 * number.upper, 0.5 * number.upper - 0.5 * number.lower
        found = dict(super().learn(task, plan, permit))
        own = {"shapes_": half * found["shapes_"], "intercept_": middle + half * found["intercept_"]}
        return {**found, **own, "target_ends_": np.array([number.lower, number.upper], dtype=np.float64)}

    def predict(self, X: Any) -> Array:
        """The number that is expected for each row, between the bounds of the target."""
        return np.asarray(np.clip(self.scores(X)[:, 0], *self.target_ends_))

    def _said(self) -> list[str]:
        return ["prediction"]
