"""The rounds of a smooth ANOVA model: each asks how far the model so far is off, and corrects it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax

from discreet.core.bound import Norm
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.core.mechanism import Noise
from discreet.fitting.task import Task
from discreet.learners.anova.anova_posterior import AnovaPosterior
from discreet.questions.columns.column_trees import ColumnTrees
from discreet.questions.gradients.anova_features import Bases
from discreet.questions.gradients.anova_gradients import anova_gradients_of, anova_residuals_of
from discreet.questions.gradients.anova_scores import STEEPEST, Loss
from discreet.questions.gradients.gradients import contrasts
from discreet.questions.question import BoundedSum
from discreet.releases.spread import Spread, spread
from discreet.trust.permit import Permit


@dataclass(frozen=True)
class SizeEstimate:
    """An estimate of the number of records, and its variance."""

    value: float
    variance: float

    @classmethod
    def of(cls, trees: ColumnTrees, released: Array, stddev: float) -> SizeEstimate:
        """From trees of columns: missing values are taken to be few."""
        return joined(
            [cls(own.sum(), stddev**2 * one) for own, one in zip(trees.counts(released), trees.variances, strict=True)]
        )

    def known(self, size: int | None) -> float:
        """The number itself where it is public; at least ten."""
        return max(float(self.value if size is None else size), 10.0)


def joined(counts: Sequence[SizeEstimate]) -> SizeEstimate:
    """The mean of several estimates, each weighted by its information."""
    information = [1 / one.variance for one in counts]
    mean = sum(one.value * own for one, own in zip(counts, information, strict=True)) / sum(information)
    return SizeEstimate(float(mean), 1 / sum(information))


@dataclass(frozen=True)
class TargetStart:
    """What is known of the target before the first round: post-processing of releases.

    Parameters
    ----------
    center : tuple of float
        The scores of the contrasts of classes, or the number that is taken off the target.
    unit : float
        What the target is divided by.
    count : float
        The number of records.
    variance : float
        Of scores, before anything is known.
    size : float
        Of residuals: that which the share has that is not to be shrunk.
    """

    center: tuple[float, ...]
    unit: float
    count: float
    variance: float
    size: float


@unheld("releases")
class TargetCounts:
    """Noisy counts of the target: the mean of all that were released, each weighted by its information.

    Parameters
    ----------
    task : Task
        What is fitted.
    question : BoundedSum
        The counts.
    """

    def __init__(self, task: Task, question: BoundedSum) -> None:
        self._data, self._question = task.data, question
        self.counts, self._information = np.zeros(question.size), 0.0

    def ask(self, permit: Permit, noise: Noise) -> None:
        """Once more, with this noise."""
        information = spread(self._data, self._question, noise).stddev ** -2
        self._information += information
        self.counts += (permit.ask(self._question, noise) - self.counts) * (information / self._information)

    @property
    def stddev(self) -> float:
        """Of each count."""
        return self._information**-0.5


@dataclass(frozen=True)
class ResidualPull:
    """How residuals pull in one round.

    Parameters
    ----------
    residual : float
        The length that they are shrunk to.
    bend : float
        The mean derivative of shrunk residuals by the score.
    square : float
        Their mean square.
    size : float
        What is known of the sizes of residuals: see `TargetStart`.
    """

    residual: float
    bend: float
    square: float
    size: float


def class_pull(begun: TargetStart, variance: float) -> ResidualPull:
    """How residuals of classes pull, at the length that they are shrunk to, where scores have this variance.

    The mean second derivative falls as scores vary more: that of a logistic function of a normal variable, by MacKay
    1992.
    """
    basis = contrasts(len(begun.center) + 1)
    shares, outputs = softmax(basis.T @ np.array(begun.center)), len(basis)
    flatter = math.sqrt(1 + math.pi * variance / outputs / 4)
    bend = float(1 - np.square(shares).sum()) / outputs / flatter
    return ResidualPull(begun.size, bend, bend, begun.size)


@unheld("one call")
class AnovaFit:
    """A model that is being fitted: everything it holds is public, or follows from releases.

    Parameters
    ----------
    task, permit : Task and Permit
        What is asked.
    loss, level, norm : text, float and text
        The loss, the level of a quantile, and in which norm a record's pull is bounded.
    bases, reach : Bases and float
        The features, and the length that they are shrunk to.
    begun : TargetStart
        Before the first round.
    posterior : AnovaPosterior
        What is known of the coefficients.
    """

    def __init__(
        self,
        task: Task,
        permit: Permit,
        loss: Loss,
        level: float,
        norm: Norm,
        bases: Bases,
        reach: float,
        begun: TargetStart,
        posterior: AnovaPosterior,
    ) -> None:
        self.task, self._permit, self._loss, self._level, self._norm = task, permit, loss, level, norm
        self.bases, self._reach, self.begun, self.posterior = bases, reach, begun, posterior
        self.turns, self.size = 0, begun.size

    @property
    def _model(self) -> dict[str, Any]:
        """The model so far, as parameters of a question."""
        coefficients = np.clip(self.posterior.mean.T, -STEEPEST, STEEPEST)
        asked = {"coefficients": coefficients, "loss": self._loss, "center": self.begun.center, "unit": self.begun.unit}
        return {**self.bases.given, **asked}

    def sizes(self, noisy: Spread) -> Array:
        """How many residuals are of which size, with noise."""
        about = (self.task.schema, self.task.features, str(self.task.target))
        return self._permit.ask(anova_residuals_of(*about, **self._model), noisy.noise)

    def advance(self, pull: ResidualPull, steps: Spread) -> None:
        """Ask for the sum of residuals, and correct the model."""
        question = anova_gradients_of(
            self.task.schema,
            self.task.features,
            str(self.task.target),
            **self._model,
            reach=self._reach,
            norm=self._norm,
            quantile=self._level,
            residual=pull.residual,
        )
        found = self._permit.ask(question, steps.noise).reshape(self.posterior.mean.T.shape).T
        stddev = spread(self.task.data, question, steps.noise).stddev
        self.posterior.add(pull.residual * found, self.turns + 1, pull.bend, pull.residual * stddev, pull.square)
        self.posterior.fit(self.begun.variance)
        self.turns, self.size = self.turns + 1, pull.size


def groups_of(bases: Bases) -> NDArray[np.intp]:
    """The group of each coefficient: the constant, a column, a pair."""
    sizes = [1, *bases.sizes, *[bases.products**2] * len(bases.pairs)]
    return np.repeat(np.arange(len(sizes)), sizes)
