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
from discreet.releases.joint_plan import Stage, StagedPlan, staged, vector_noise
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

ROUNDS = ((100.0, 200), (10.0, 50), (0.0, 10))  # from these epsilons on


class Perceptron(LinearScores):
    """Linear classification by noisy sums of the records on the wrong side, as published; for study.

    Records are scaled from their bounds to [-1, 1] in every feature; one with a missing value, or of a class that is
    not listed, counts for nothing. Each round adds the mean of y x over records with y w'x <= 0 to w, and the averages
    of all w, of which the later count more, are released: w itself goes to and fro. `LogisticRegression` learns more
    from the same budget.

    Parameters
    ----------
    max_iter : int, optional
        Public. How many rounds. By default 10, 50 from epsilon 10, and 200 from epsilon 100.

    Attributes
    ----------
    n_iter_ : int
        Public. The number of rounds.

    Guarantee
    ---------
    `event_`: a count and `max_iter` sums, each one bounded, composed, for the neighbors and the unit of the data set;
    add or remove one record for arrays. Released: `coef_` and `intercept_`, which follow from these.
    Blum, Dwork, McSherry and Nissim 2005, where the number of records on the wrong side is asked in every
    round; here the number of all records, once. Averages: Freund and Schapire 1999.

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
        max_iter: int | None = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.target, self.bounds, self.classes = target, bounds, classes
        self.max_iter = max_iter
        self.epsilon, self.delta = epsilon, delta

    def check(self) -> None:
        if self.max_iter is not None:
            check_whole(self.purpose, "max_iter", self.max_iter)

    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of y x over records on the wrong side, less."""
        target, most = str(task.target), math.sqrt(len(coefficients))
        return margin_gradients_of(task.schema, task.features, target, matrix, coefficients, "perceptron", most)

    def plan(self, task: Task) -> StagedPlan:
        start = np.zeros((_scores(task), 1 + len(task.features)))
        stages = (
            Stage(count_of(task.schema, str(task.target)), 0.05),
            Stage(self.gradients(task, _scaled(task), start), 0.95, self._rounds(task)),
        )
        return staged(task.data, stages, task.budget, vector_noise)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        """Count, then move the coefficients in every round."""
        counted, rounds = plan.spreads
        matrix, scores = _scaled(task), _scores(task)
        count = max(float(permit.ask(count_of(task.schema, str(task.target)), counted.noise)[0]), 1.0)
        current = np.zeros((scores, len(matrix)))
        averages = np.zeros_like(current)
        for turn in range(1, self._rounds(task) + 1):
            moved = permit.ask(self.gradients(task, matrix, on_maps(current)), rounds.noise).reshape(-1, scores)
            current = current - moved.T / count
            averages += (current - averages) * 2 / (turn + 1)  # weights 1, 2, 3, ...
        columns = Coordinates.of(task.schema, task.features, 1.0)
        return {"n_iter_": self._rounds(task), **own_units(columns, averages @ matrix)}

    def _rounds(self, task: Task) -> int:
        if self.max_iter is not None:
            return int(self.max_iter)
        return next(rounds for least, rounds in ROUNDS if task.budget.epsilon >= least)


def _scaled(task: Task) -> Array:
    """Constant and features, scaled so that no record is longer than 1."""
    size = 1 + len(task.features)
    return on_maps(np.eye(size) / math.sqrt(size) * (1 - 2.0**-12))


def _scores(task: Task) -> int:
    """One score for two classes, or one for each."""
    return 1 if task.classes == 2 else task.classes
