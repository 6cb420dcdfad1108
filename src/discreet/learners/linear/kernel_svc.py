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
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.gradients.signed_records import Waves, scaled
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# Set on made-up data, beside exact kernels: see `n_components` and `gamma`.
FEW, MANY = 50, 400  # random frequencies
GROWTH = 0.22  # frequencies, in units of the root of records times epsilon
PURE = 0.1  # what a record counts where no delta is paid
SETTLED = 100_000.0  # records times epsilon, from which on it pays to know deviations
WORK = 2**24  # records times frequencies
# What follows: `kernel` in benchmarks/tuning_linear.py.
WIDTH = 0.8  # gamma times the number of features to the power of 3/2, in units of their deviations
STIFF = 0.01  # penalty in units of the length of the noise, where records times epsilon are that many
FLATTEST = 0.02  # the least deviation, in units of half the distance of the bounds
LIGHTEST = 0.002  # the least penalty: where a kernel is wide, coefficients are great


class KernelSVC(RiskMinimizer):
    """Classification by scores that bend with the features: those of a support vector machine with a Gaussian kernel.

    Features are scaled from their bounds to [-1, 1]. Their kernel exp(-gamma |x - x'|^2) is approximated by products of
    `2 n_components` random Fourier features, and a linear score of these is learned by objective or output
    perturbation, without an intercept. Where noise is small, a tenth of the budget is for noisy deviations of the
    features, and the kernel falls along each in units of them; else Fourier features do not depend on the data. A
    record with a missing value counts for nothing, one of a class that is not listed in deviations only. Of more than
    two classes each has a score, against the others.

    Parameters
    ----------
    gamma : float, optional
        Public. How fast the kernel falls, in the units of [-1, 1]. By default 9 / n_features: what scikit-learn's
        "scale" gives for features with standard deviation 1/3; and 0.8 / n_features^1.5 in units of noisy deviations,
        where the expected number of records times epsilon is 100,000 or more: wider kernels need fewer frequencies, of
        which many features would need many.
    n_components : int, optional
        Public. Random frequencies, of which each gives a cosine and a sine. More approximate the kernel better and need
        more noise and time. By default 0.22 times the root of the expected number of records times epsilon, from 50 to
        400, and fewer of more than 40,000 records. Without a delta a record counts a tenth in both.
    expected_size : int
        Public. About how many records there are, where their number is secret.
    loss : {"huber_hinge", "logistic"}
        Public. The loss of a margin.
    penalty : float, optional
        Public. Half of it times the squared length of the coefficients is added to the sum of losses. By default in
        proportion to the noise, and lighter where deviations are known; see `ERMClassifier`.
    random_state : int, optional
        Public. The seed of the Fourier features.

    Attributes
    ----------
    coef_ : array of shape (1, 2 * frequencies) or (n_classes, 2 * frequencies)
        Released. The coefficients of the Fourier features.
    random_weights_ : array of shape (frequencies, n_features)
        What makes Fourier features of scaled features: released where deviations are, else public.
    lower_ : array of shape (n_features,)
        Public. The lower bounds.
    upper_ : array of shape (n_features,)
        Public. The upper bounds.

    Guarantee
    ---------
    `event_`: of `ObjectivePerturbation` or `OutputPerturbation`, once for each score, and of the bounded sum of moments
    before them, where it is asked, composed, for the neighbors and the unit of the data set; add or remove one record
    for arrays. Released: `coef_`, and the scale of each column of `random_weights_`. Rubinstein, Bartlett,
    Huang and Taft 2012, with features of Rahimi and Recht 2007, and perturbed as in Chaudhuri, Monteleoni and Sarwate
    2011. A curator alone can fit it.

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
        n_components: int | None = None,
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
        if self.n_components is not None:
            check_whole(self.purpose, "n_components", self.n_components, most=2**11)
        if self.gamma is not None:
            check_positive(self.purpose, "gamma", self.gamma, 2.0**-20, 2.0**20)

    def size(self, task: Task) -> int:
        """Two for each frequency, of which there are more where records are many or noise is small."""
        if self.n_components is not None:
            return 2 * int(self.n_components)
        grown = min(GROWTH * math.sqrt(self._worth(task)), WORK / self.known_size(task), MANY)
        return 2 * max(int(grown), FEW)

    def standardized(self, task: Task) -> bool:
        return self.gamma is None and self._worth(task) >= SETTLED

    def _worth(self, task: Task) -> float:
        """Records times epsilon."""
        return self.known_size(task) * self.epsilon * (1.0 if self.delta > 0 else PURE)

    def lightest(self, task: Task) -> float:
        return LIGHTEST

    def stiff(self, task: Task, length: float) -> float:
        """Where the kernel is wide, a heavy penalty would leave hardly more than a plane."""
        if self.standardized(task) and self.perturbed == "objective":
            return STIFF * length
        return super().stiff(task, length)

    def reach(self, task: Task) -> float:
        """The length of a row of Fourier features: cosines and sines of the same angles."""
        return 1.0

    def learn(self, task: Task, plan: RiskPlan, permit: Permit) -> Artefact:
        """Draw Fourier features, then find one minimiser for each score."""
        rng = np.random.default_rng(permit.random_state(self.random_state))
        gamma = self._gammas(task, plan, permit)
        weights = rng.normal(size=(self.size(task) // 2, len(task.features))) * np.sqrt(2 * gamma)
        bounds = [task.schema.number(name) for name in task.features]
        return {
            "coef_": self.minimizers(task, plan, permit, Waves(weights)),
            "random_weights_": weights,
            "lower_": np.array([column.lower for column in bounds]),
            "upper_": np.array([column.upper for column in bounds]),
        }

    def _gammas(self, task: Task, plan: RiskPlan, permit: Permit) -> Array:
        """How fast the kernel falls along each feature."""
        features = len(task.features)
        if plan.moments is None:
            return np.full(features, 9 / features if self.gamma is None else self.gamma)
        question = column_moments_of(task.schema, task.features)
        found = ColumnMoments.of(permit.ask(question, plan.moments.noise), plan.moments.stddev)
        return WIDTH / features**1.5 / np.maximum(found.squares - found.means**2, FLATTEST**2)

    def decision_function(self, X: Any) -> Array:
        """The score of each class, or the one of the second class where there are two; a missing value counts as 0."""
        x = scaled(np.nan_to_num(self._rows(X)), self.lower_, self.upper_)
        scores = Waves(self.random_weights_).of(x) @ self.coef_.T
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)
