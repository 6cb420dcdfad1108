"""Linear models from one private gradient of each person."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from sklearn.base import RegressorMixin

from discreet.accounting.calibration import HEADROOM
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import Event
from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.fitting.scored_classifier import ScoredClassifier
from discreet.fitting.task import Task
from discreet.local.means.privunit_vector import PrivUnitVector
from discreet.questions.question import AllRecords
from discreet.trust.permit import Permit
from discreet.trust.reported_run import ReportedRun
from discreet.trust.stored import Artefact

STEPS = 100  # batches that people are split into, at most
LONGEST = math.sqrt(2)  # a row with its constant, and so a gradient
FARTHEST = 2.0**20  # radii that a number of an array may be away from zero


class OnePassSGD(PrivateEstimator):
    """Averaged gradient descent in which every person takes part once, by a report of the own gradient.

    Parameters
    ----------
    radius : float
        Public. Rows are shrunk to this length.
    target : str, optional
        Public. The column to predict, of `PrivateData`, under local trust.
    bounds : (lower, upper), optional
        Public. Of the features, for arrays; by default a million times the radius. Not for `PrivateData`, whose schema
        has them.
    epsilon, delta : float
        Public. What one person's report may cost; it has no use for a delta.

    Attributes
    ----------
    coef_ : array of shape (n_features,)
        Released. The coefficients of the features.
    intercept_ : float
        Released. What is added.
    n_iter_ : int
        Public. How many batches.
    event_ : Event
        What each person paid.
    """

    supervised: ClassVar[bool] = True
    local: ClassVar[bool] = True
    coef_: Array
    intercept_: float

    @abstractmethod
    def slopes(self, margins: Array, targets: Array) -> Array:
        """The derivative of each person's loss, in [-1, 1]."""

    @abstractmethod
    def target_ends(self, task: Task) -> tuple[float, float]:
        """What becomes -1 and 1 of the target."""

    def check(self) -> None:
        check_positive(self.purpose, "epsilon", self.epsilon, 2.0**-20, 40.0)
        check_positive(self.purpose, "radius", self.radius, 2.0**-400, 2.0**400)
        check_positive(self.purpose, "coefficient_radius", self.coefficient_radius, 2.0**-400, 2.0**400)

    def plan(self, task: Task) -> PrivUnitVector:
        if not task.data.local:
            raise NotPermitted(
                self.purpose,
                "every person reports the own gradient, and somebody holds these records",
                "Put them behind `Local`, or fit a learner of discreet.learners, which is more accurate.",
            )
        if task.data.condition is not None:
            obstacle = f"everybody takes a turn, whether or not {task.data.condition}"
            raise NotPermitted(self.purpose, obstacle, "Leave out the condition.")
        return PrivUnitVector(task.budget.epsilon * (1 - HEADROOM), len(task.features) + 1, LONGEST)

    def learn(self, task: Task, plan: PrivUnitVector, permit: Permit) -> Artefact:
        """Ask people in turn, and give the model in their own units."""
        lower, upper = self.target_ends(task)
        run = OnePass(plan, self.slopes, float(self.radius), float(self.coefficient_radius), lower, upper)
        found: Array = permit.ask(AllRecords(task.columns), ReportedRun(run))
        return {
            "coef_": found[:-1] / self.radius,
            "intercept_": float(found[-1]),
            "n_iter_": batches(task.data.public_size or 0),
        }

    def _bounds(self) -> Any:
        return (-FARTHEST * self.radius, FARTHEST * self.radius) if self.bounds is None else self.bounds

    def _margins(self, X: Any) -> Array:
        return np.asarray(np.nan_to_num(self._rows(X)) @ self.coef_ + self.intercept_)


@dataclass(frozen=True)
class OnePass:
    """The descent itself, as a `ReportedRun` has it.

    Parameters
    ----------
    report : PrivUnitVector
        Public. What each person reports the own gradient by.
    slopes : callable
        Public. The derivatives of losses, of margins and targets in [-1, 1].
    radius, coefficient_radius : float
        Public. As in `LocalSGDClassifier`.
    lower, upper : float
        Public. What becomes -1 and 1 of the target.
    """

    report: PrivUnitVector
    slopes: Callable[[Array, Array], Array]
    radius: float
    coefficient_radius: float
    lower: float
    upper: float

    @property
    def event(self) -> Event:
        """What one report costs."""
        return self.report.event

    def made(self, records: Array, bits: Bits) -> Array:
        """The coefficients of scaled rows, and of their constant.

        The step of batch t is R / (M sqrt(t)), where M^2 is at least the mean square of its reported gradient, and the
        iterates of the last half are averaged.
        """
        rows, targets = self._people(records)
        steps, report = batches(len(rows)), self.report
        size = math.sqrt(LONGEST**2 + rows.shape[1] * report.stddev**2 * steps / max(len(rows), 1))
        found, average = np.zeros(rows.shape[1]), np.zeros(rows.shape[1])
        for place, batch in enumerate(np.array_split(np.arange(len(rows)), steps)):
            slopes = self.slopes(rows[batch] @ found, targets[batch])
            reports = report.unbiased(report.reports(rows[batch] * slopes[:, None], bits))
            gradient = reports.sum(axis=0) / max(len(batch), 1)
            moved = found - self.coefficient_radius / (size * math.sqrt(place + 1)) * gradient
            found = moved * min(1.0, self.coefficient_radius / max(float(np.linalg.norm(moved)), 1e-300))
            average += found * (place >= steps // 2)
        return np.asarray(average / (steps - steps // 2))

    def _people(self, records: Array) -> tuple[Array, Array]:
        """Rows with their constants, and targets in [-1, 1]: nan where somebody lacks a number, and so reports noise.

        A row of numbers that are beyond float64 when they are scaled counts as zero.
        """
        features, targets = records[:, :-1], records[:, -1]
        inside = (np.clip(targets, self.lower, self.upper) - (self.lower + self.upper) / 2) / (
            (self.upper - self.lower) / 2
        )
        rows = np.column_stack([Bound("l2", 1.0).clip(features / self.radius), np.ones(len(features))])
        return rows, np.where(np.isfinite(features).all(axis=1), inside, np.nan)


def batches(people: int) -> int:
    """How many batches people are split into: their number is public under local trust."""
    return max(1, min(STEPS, people))


class LocalSGDClassifier(ScoredClassifier, OnePassSGD):
    """Logistic regression for two classes, with nobody to trust.

    Every person gets the model of the moment and reports the gradient of the own loss by `PrivUnitVector`, once. The
    excess of the mean loss is at most of the order R sqrt(d / n) / epsilon: many people are needed for many features.
    `fit` plays all people in one process.

    Parameters
    ----------
    coefficient_radius : float
        Public. The length R that coefficients of scaled rows are kept to.
    classes : pair, optional
        Public. The labels of the two classes; not for `PrivateData`.

    Attributes
    ----------
    classes_ : array of shape (2,)
        Public. The two labels.

    Guarantee
    ---------
    That of one `PrivUnitVector` for each person, where one record is replaced by any other: nobody reports twice.
    Duchi, Jordan and Wainwright 2018, section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.7, 0.7, (20_000, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> bool(LocalSGDClassifier(classes=(0, 1), epsilon=4.0).fit(X, y).score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "classifier of reported gradients"

    def __init__(
        self,
        *,
        radius: float = 1.0,
        coefficient_radius: float = 5.0,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        self.radius = radius
        self.coefficient_radius = coefficient_radius
        self.target, self.bounds, self.classes = target, bounds, classes
        self.epsilon, self.delta = epsilon, delta

    def plan(self, task: Task) -> PrivUnitVector:
        if task.classes != 2:
            raise ParameterError(self.purpose, f"there are {task.classes} classes", "Give two labels.")
        return super().plan(task)

    def target_ends(self, task: Task) -> tuple[float, float]:
        return 0.0, 1.0

    def slopes(self, margins: Array, targets: Array) -> Array:
        return np.asarray(-targets / (1 + np.exp(np.clip(targets * margins, -500, 500))))

    def decision_function(self, X: Any) -> Array:
        """Above 0 for the second class; a missing value counts as 0."""
        return self._margins(X)


class LocalSGDRegressor(RegressorMixin, OnePassSGD):
    """Linear regression, with nobody to trust.

    As `LocalSGDClassifier`, with the Huber loss of targets that are scaled to [-1, 1]: residuals count by their square
    up to half the width of the bounds, and by their size beyond.

    Parameters
    ----------
    coefficient_radius : float
        Public. The length R that coefficients of scaled rows and targets are kept to.
    target_bounds : (lower, upper), optional
        Public. Targets outside are moved to the nearer bound; not for `PrivateData`.

    Guarantee
    ---------
    That of one `PrivUnitVector` for each person, where one record is replaced by any other: nobody reports twice.
    Duchi, Jordan and Wainwright 2018, section 4.2.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-0.7, 0.7, (20_000, 2))
    >>> model = LocalSGDRegressor(target_bounds=(-1, 1), epsilon=4.0).fit(X, X[:, 0])
    >>> bool(abs(model.coef_[0] - 1) < 0.3)
    True
    """

    purpose: ClassVar[str] = "regression of reported gradients"

    def __init__(
        self,
        *,
        radius: float = 1.0,
        coefficient_radius: float = 2.0,
        target: str | None = None,
        bounds: Any = None,
        target_bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        self.radius = radius
        self.coefficient_radius = coefficient_radius
        self.target, self.bounds, self.target_bounds = target, bounds, target_bounds
        self.epsilon, self.delta = epsilon, delta

    def target_ends(self, task: Task) -> tuple[float, float]:
        number = task.schema.number(str(task.target))
        return number.lower, number.upper

    def learn(self, task: Task, plan: PrivUnitVector, permit: Permit) -> Artefact:
        """Ask people in turn, and give the model in the units of the target."""
        lower, upper = self.target_ends(task)
        found, half = super().learn(task, plan, permit), (upper - lower) / 2
        ends = {"coef_": half * found["coef_"], "intercept_": (lower + upper) / 2 + half * found["intercept_"]}
        return {**found, **ends}

    def slopes(self, margins: Array, targets: Array) -> Array:
        return np.clip(margins - targets, -1.0, 1.0)

    def predict(self, X: Any) -> Array:
        """The target of each row; a missing value counts as 0."""
        return self._margins(X)
