"""A private additive classifier: explainable boosting, by cyclic rounds of noisy gradients."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax
from sklearn.base import ClassifierMixin

from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.trees.additive_model import AdditiveModel
from discreet.questions.gradients.shape_gradients import Loss

PRIOR = 8.0  # variance of scores: set by hand on made-up data


class AdditiveClassifier(ClassifierMixin, AdditiveModel):
    """A generalised additive model for classes: the score is a sum of one function of each feature, which can be drawn.

    Each feature is cut into cells of equal width between its bounds. In each round, one feature after the other, the
    residuals of the model so far are added up in its cells, with noise, and its function is fitted to them. Residuals
    are shrunk to what they are before the first round: 1/2 for two classes. So records that are clearly wrong do not
    pull harder than others, and noise is half as large. A record with a missing value, or a class that is not listed,
    counts for nothing; in predictions a missing value adds nothing.

    Parameters
    ----------
    max_iter : int, optional
        Public. The number of rounds; where not given, 6, and 2 where no delta is paid.

    Attributes
    ----------
    shapes_ : array of shape (n_scores, n_features, bins)
        Released. What each cell of each feature adds to each score; on average over the records, nothing.
    classes_ : array of shape (n_classes,)
        Public. The classes.

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
    >>> y = (np.abs(X[:, 0]) > 0.5).astype(int)
    >>> model = AdditiveClassifier(classes=[0, 1], bounds=(-1, 1), epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "additive classifier"
    loss: ClassVar[Loss] = "logistic"
    classes_: NDArray[Any]

    def __init__(
        self,
        *,
        bins: int = 16,
        max_iter: int | None = None,
        target: str | None = None,
        classes: Any = None,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.bins = bins
        self.max_iter = max_iter
        self.target, self.classes, self.bounds = target, classes, bounds
        self.epsilon, self.delta = epsilon, delta

    def outputs(self, task: Task) -> int:
        """One score for two classes, else one for each."""
        return 1 if task.classes == 2 else task.classes

    def residual(self, outputs: int) -> float:
        """The length of all residuals where all scores are 0."""
        return 0.5 if outputs == 1 else math.sqrt(1 - 1 / outputs)

    def curvature(self, variance: float, outputs: int) -> float:
        """The mean of p (1 - p), about: of a logistic function of a normal variable, by MacKay 1992."""
        p = 0.5 if outputs == 1 else 1 / outputs
        return p * (1 - p) / math.sqrt(1 + math.pi * variance / 8)

    def prior(self, outputs: int) -> float:
        return PRIOR

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class.

        Of two classes, with residuals of 1/2 at most, p = 1 - (1 - q) / (2 q) is fitted to a probability q of 1/2 or
        more: so q = 1 / (3 - 2 p). Of more classes, p itself is given, which is too sure where it is large.
        """
        scores = self.scores(X)
        if len(self.classes_) > 2:
            return np.asarray(softmax(scores, axis=1))
        likelier = 1 / (3 - 2 * expit(np.abs(scores[:, 0])))
        second = np.where(scores[:, 0] > 0, likelier, 1 - likelier)
        return np.stack([1 - second, second], axis=1)

    def predict(self, X: Any) -> NDArray[Any]:
        """The most probable class of each row."""
        likeliest = np.argmax(self.predict_proba(X), axis=1)
        return np.asarray(self.classes_[likeliest])

    def _said(self) -> list[str]:
        return [str(one) for one in (self.classes_ if len(self.classes_) > 2 else self.classes_[1:])]
