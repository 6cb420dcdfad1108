"""Linear scores by Newton's steps on noisy gradients, and the support vectors that are found so."""

from __future__ import annotations

import math
from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.questions.columns.column_moments import ColumnMoments, column_moments_of
from discreet.questions.gradients.gradients import margin_gradients_of
from discreet.questions.question import BoundedSum
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates, on_maps
from discreet.questions.vectors.second_moments import mapped_moments_of
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.releases.spread import Spread
from discreet.releases.whitening import Whitening, standardising
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact

# REACH and PRIOR were set on made-up data (make_classification of 500 to 50,000 records, 12 to 40 features, 2 to 5
# classes, seeds 1 to 4), SHARES, STILL, ROUNDS and PURE_ROUNDS on others (benchmarks/tuning_linear.py): 8 rounds learn
# as much as 10 there, from 50,000 records. Of ROUNDS, 6 were tried first; with them two goals of the benchmark failed.
SHARES = (0.05, 0.1, 0.85)  # for moments of columns, second moments, gradients
REACH = 0.7  # of the typical length of records, to which they are shrunk: less noise is worth the bias
STILL = 0.03  # noise on scores below which it is not
ROUNDS, PURE_ROUNDS = 8, 4
PRIOR = 4.0  # the variance of scores that is expected before anything is known


class LinearClassifier(LinearScores):
    """Scores that are linear in the features, found by Newton's steps on noisy sums of gradients.

    A learner says what its gradients are, and how much the loss bends where scores have a given variance.

    Parameters
    ----------
    max_iter : int, optional
        Public. How many steps. Their estimates are averaged. By default 8, and 4 where delta is 0: noise of pure
        releases grows with their number, and not with its root.
    """

    n_iter_: int

    @abstractmethod
    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of gradients at these coefficients, of features that this matrix makes."""

    @abstractmethod
    def directions(self, classes: int) -> Array:
        """What makes coefficients of the scores from those that gradients are taken in."""

    @abstractmethod
    def curvature(self, variance: float, classes: int) -> float:
        """The mean second derivative of the loss, if scores are normal with this variance."""

    def check(self) -> None:
        check_whole(self.purpose, "max_iter", self._rounds())

    def plan(self, task: Task) -> StagedPlan:
        """Moments of columns, second moments, and `max_iter` gradients."""
        classes, inputs = task.classes, len(task.features)
        nowhere = np.zeros((inputs + 1, inputs + 1))
        start = np.zeros((len(self.directions(classes).T), inputs + 1))
        stages = (
            Stage(column_moments_of(task.schema, task.features), SHARES[0]),
            Stage(mapped_moments_of(task.schema, task.features, nowhere[:-1]), SHARES[1]),
            Stage(self.gradients(task, nowhere, start), SHARES[2], self._rounds()),
        )
        return staged(task.data, stages, task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        rough, second, steps = plan.spreads
        found = permit.ask(column_moments_of(task.schema, task.features), rough.noise)
        moments = ColumnMoments.of(found, rough.stddev)
        count = max(float(task.data.public_size or moments.count), 1.0)
        standard = standardising(moments, REACH)
        products = permit.ask(mapped_moments_of(task.schema, task.features, standard), second.noise)
        coordinates = MappedCoordinates.of(task.schema, task.features, standard)
        reach = self._reach(task, count, steps)
        white = Whitening.of(products, second.stddev, coordinates, count, reach)
        shrinking = min(reach, 1.0)
        coefficients = self._descended(task, white, count * shrinking**2, steps, permit)
        scores = shrinking * coefficients @ white.matrix  # records are not shrunk where scores are computed
        return {"n_iter_": self._rounds(), **own_units(Coordinates.of(task.schema, task.features, 1.0), scores)}

    def _descended(self, task: Task, white: Whitening, count: float, steps: Spread, permit: Permit) -> Array:
        """Newton's steps: each gradient gives an estimate of the minimiser, and those so far are averaged.

        Whitening makes second derivatives nearly a multiple of the identity. The penalty is the one of a normal prior,
        were the noise all that there is.
        """
        classes, rounds = task.classes, self._rounds()
        directions = self.directions(classes)
        shape = len(white.matrix), len(directions)
        current, sums = np.zeros(shape), np.zeros(shape)
        noise, prior = steps.stddev**2 / rounds, PRIOR * white.radius**2 / shape[0]
        for turn in range(1, rounds + 1):
            variance = float(np.sum(current * (white.moments @ current))) / shape[1]
            bend = count / white.radius**2 * self.curvature(variance, classes)
            question = self.gradients(task, white.matrix, on_maps((current @ directions).T))
            gradient = permit.ask(question, steps.noise).reshape(shape)
            sums += turn**2 * (bend * current - gradient) / (bend + noise / (bend * prior))
            current = sums / (turn * (turn + 1) * (2 * turn + 1) // 6)  # the sum of the squares so far
        return np.asarray((current @ directions).T)

    def _reach(self, task: Task, count: float, steps: Spread) -> float:
        """How far records reach before they are shrunk: farther where noise moves scores by less than `STILL`."""
        bend = count * self.curvature(0.0, task.classes) / (1 + len(task.features))
        moved = steps.stddev / math.sqrt(self._rounds()) / bend
        return float(np.clip(REACH * (STILL / moved) ** 0.25, REACH, 2.0))

    def _rounds(self) -> int:
        usual = ROUNDS if self.delta > 0 else PURE_ROUNDS
        return usual if self.max_iter is None else self.max_iter


class LinearSVC(LinearClassifier):
    """Linear support vector classification with the Huber hinge loss, each class against the others.

    Records are centred, scaled and whitened by noisy moments, and shrunk where they are long; one with a missing value,
    or of a class that is not listed, counts for nothing. Of a record, all gradients together have length 1 at most.

    Attributes
    ----------
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts, which are penalised like coefficients.
    n_iter_ : int
        Public. The number of steps.

    Guarantee
    ---------
    `event_`: two releases of moments and `max_iter` of gradients, each one bounded sum, composed, for the neighbors and
    the unit of the data set; add or remove one record for arrays. Released: `coef_` and `intercept_`, which follow from
    these. No minimiser is assumed to have been found.
    Noisy gradient descent: Song, Chaudhuri and Sarwate 2013; Bassily, Smith and Thakurta 2014. The loss is the one that
    Chaudhuri, Monteleoni and Sarwate 2011 take from Chapelle 2007, with h = 1.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = np.where(X @ [2.0, -1.0] > 0, "up", "down")
    >>> model = LinearSVC(bounds=(-1, 1), classes=["down", "up"], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.95)
    True
    """

    purpose: ClassVar[str] = "linear support vector machine"

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

    def gradients(self, task: Task, matrix: Array, coefficients: Array) -> BoundedSum:
        """The sum of gradients of the Huber hinge loss."""
        target = str(task.target)
        return margin_gradients_of(task.schema, task.features, target, matrix, coefficients, "huber_hinge", 1.0)

    def directions(self, classes: int) -> Array:
        return np.eye(1 if classes == 2 else classes)

    def curvature(self, variance: float, classes: int) -> float:
        """The Huber hinge loss has a second derivative of 1/2 for margins from 0 to 2, and 0 elsewhere.

        About half of the records are taken to lie there. Gradients of several classes are shrunk together, which
        flattens the loss.
        """
        return 0.25 / (1.0 if classes == 2 else float(np.sqrt(classes)))
