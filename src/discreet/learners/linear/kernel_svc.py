"""Private support vector machine with a Gaussian kernel, by random Fourier features."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_positive, check_whole
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.linear.risk_minimizer import Perturbed, RiskMinimizer, RiskPlan
from discreet.mechanisms.learning.penalized_loss import LossName
from discreet.questions.columns.box import GUESS
from discreet.questions.gradients.signed_records import Waves, scaled
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


class KernelSVC(RiskMinimizer):
    """Classification by scores that bend with the features: those of a support vector machine with a Gaussian kernel.

    Features are scaled from their bounds to [-1, 1]. Their kernel exp(-gamma |x - x'|^2) is approximated by products of
    `2 n_components` random Fourier features, which do not depend on the data, and a linear score of these is learned by
    objective or output perturbation, without an intercept. A record with a missing value, or of a class that is not
    listed, counts for nothing. Of more than two classes each has a score, against the others.

    Parameters
    ----------
    gamma : float, optional
        Public. How fast the kernel falls, in the units of [-1, 1]. By default 9 / n_features: what scikit-learn's
        "scale" gives for features with standard deviation 1/3.
    n_components : int
        Public. Random frequencies, of which each gives a cosine and a sine. More approximate the kernel better and need
        more noise.
    loss : {"huber_hinge", "logistic"}
        Public. The loss of a margin.
    penalty : float, optional
        Public. Half of it times the squared length of the coefficients is added to the sum of losses. By default in
        proportion to the noise; see `ERMClassifier`.
    random_state : int, optional
        Public. The seed of the Fourier features.

    Attributes
    ----------
    coef_ : array of shape (1, 2 * n_components) or (n_classes, 2 * n_components)
        Released. The coefficients of the Fourier features.
    random_weights_ : array of shape (n_components, n_features)
        Public. What makes Fourier features of scaled features.
    lower_ : array of shape (n_features,)
        Public. The lower bounds.
    upper_ : array of shape (n_features,)
        Public. The upper bounds.

    Guarantee
    ---------
    `event_`: of `ObjectivePerturbation` or `OutputPerturbation`, once for each score, for the neighbors and the unit of
    the data set; add or remove one record for arrays. Released: `coef_`. Rubinstein, Bartlett, Huang and Taft 2012,
    with features of Rahimi and Recht 2007, and perturbed as in Chaudhuri, Monteleoni and Sarwate 2011. A curator alone
    can fit it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = np.hypot(*X.T) < 0.8
    >>> model = KernelSVC(bounds=(-1, 1), classes=[False, True], random_state=1, epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "kernel support vector machine"
    coef_: Array
    random_weights_: Array
    lower_: Array
    upper_: Array

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        gamma: float | None = None,
        n_components: int = 50,
        loss: LossName = "huber_hinge",
        perturbed: Perturbed = "objective",
        penalty: float | None = None,
        expected_size: int = GUESS,
        random_state: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.gamma = gamma
        self.n_components = n_components
        self.loss = loss
        self.perturbed = perturbed
        self.penalty = penalty
        self.expected_size = expected_size
        self.random_state = random_state
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        super().check()
        check_whole(self.purpose, "n_components", self.n_components, most=2**11)
        if self.gamma is not None:
            check_positive(self.purpose, "gamma", self.gamma, 2.0**-20, 2.0**20)

    def size(self, task: Task) -> int:
        return 2 * int(self.n_components)

    def reach(self, task: Task) -> float:
        """The length of a row of Fourier features: cosines and sines of the same angles."""
        return 1.0

    def learn(self, task: Task, plan: RiskPlan, permit: Permit) -> Artefact:
        """Draw Fourier features, then find one minimiser for each score."""
        rng = np.random.default_rng(permit.random_state(self.random_state))
        gamma = 9 / len(task.features) if self.gamma is None else self.gamma
        weights = rng.normal(0.0, math.sqrt(2 * gamma), (int(self.n_components), len(task.features)))
        bounds = [task.schema.number(name) for name in task.features]
        return {
            "coef_": self.minimizers(task, plan, permit, Waves(weights)),
            "random_weights_": weights,
            "lower_": np.array([column.lower for column in bounds]),
            "upper_": np.array([column.upper for column in bounds]),
        }

    def decision_function(self, X: Any) -> Array:
        """The score of each class, or the one of the second class where there are two; a missing value counts as 0."""
        x = scaled(np.nan_to_num(self._rows(X)), self.lower_, self.upper_)
        scores = Waves(self.random_weights_).of(x) @ self.coef_.T
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)
