"""The private perceptron of the SuLQ framework, as published."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.questions.columns.total import count_of
from discreet.questions.gradients.margin_gradients import margin_gradients_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import on_maps
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


class Perceptron(LinearScores):
    """Linear classification by noisy sums of the records on the wrong side, as published; for study.

    Records are scaled from their bounds to [-1, 1] in every feature; one with a missing value, or of a class that is
    not listed, counts for nothing. Each round adds the mean of y x over records with y w'x <= 0 to w.
    `LogisticRegression` learns more from the same budget.

    Parameters
    ----------
    max_iter : int
        Public. How many rounds.

    Attributes
    ----------
    n_iter_ : int
        Public. The number of rounds.

    Guarantee
    ---------
    `event_`: a count and `max_iter` sums, each one bounded, composed, for the neighbors and the unit of the data set;
    add or remove one record for arrays. Released: `coef_` and `intercept_`, which follow from these.
    Blum, Dwork, McSherry and Nissim 2005, where the number of records on the wrong side is asked in every
    round; here the number of all records, once.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] > 0
    >>> model = Perceptron(bounds=(-1, 1), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "perceptron"
    n_iter_: int

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        max_iter: int = 10,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.max_iter = max_iter
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        check_whole(self.purpose, "max_iter", self.max_iter)

    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of y x over records on the wrong side, less."""
        target, most = str(task.target), math.sqrt(len(coefficients))
        return margin_gradients_of(task.schema, task.features, target, matrix, coefficients, "perceptron", most)

    def plan(self, task: Task) -> StagedPlan:
        start = np.zeros((_scores(task), 1 + len(task.features)))
        stages = (
            Stage(count_of(task.schema, str(task.target)), 0.05),
            Stage(self.gradients(task, _scaled(task), start), 0.95, int(self.max_iter)),
        )
        return staged(task.data, stages, task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Count, then move the coefficients in every round."""
        counted, rounds = plan.spreads
        matrix, scores = _scaled(task), _scores(task)
        count = max(float(permit.ask(count_of(task.schema, str(task.target)), counted.noise)[0]), 1.0)
        current = np.zeros((scores, len(matrix)))
        for _ in range(int(self.max_iter)):
            moved = permit.ask(self.gradients(task, matrix, on_maps(current)), rounds.noise).reshape(-1, scores)
            current = current - moved.T / count
        columns = Coordinates.of(task.schema, task.features, 1.0)
        return {"n_iter_": int(self.max_iter), **own_units(columns, current @ matrix)}


def _scaled(task: Task) -> Array:
    """Constant and features, scaled so that no record is longer than 1."""
    size = 1 + len(task.features)
    return on_maps(np.eye(size) / math.sqrt(size) * (1 - 2.0**-12))


def _scores(task: Task) -> int:
    """One score for two classes, or one for each."""
    return 1 if task.classes == 2 else task.classes
