"""Logistic regression by the functional mechanism, as published."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from discreet.core.grid import Array
from discreet.fitting.scored_classifier import LinearScores, own_units
from discreet.fitting.task import Task
from discreet.learners.linear.functional_mechanism import FunctionalMechanism
from discreet.mechanisms.learning.margin_losses import LogisticLoss
from discreet.questions.vectors.coordinates import Coordinates
from discreet.releases.least_noise import SumPlan
from discreet.trust.permit import Permit
from discreet.trust.stored import Artefact


class FunctionalLogisticRegression(FunctionalMechanism, LinearScores):
    """Logistic regression from noisy coefficients of its loss, up to degree two, as published; for study.

    Features are scaled from their bounds to [-1, 1], and, with a constant 1, to a length of at most 1; a record with a
    missing value, or of a class that is not listed, counts for nothing. The loss ln(1 + exp(-m)) of a margin m is
    replaced by its Taylor polynomial, ln 2 - m / 2 + m^2 / 8: an eighth of (m - 2)^2, but for a constant. Laplace noise
    is added to the coefficients of its sum, and the noisy polynomial is minimised. `LogisticRegression` learns more
    from the same budget. Of more than two classes each has a score, against the others.

    Parameters
    ----------
    target : str, optional
        Public. The column of classes, of `PrivateData`.
    bounds : (lower, upper), optional
        Public. Of the features: two numbers, or two sequences with one number per feature; not for `PrivateData`, whose
        schema has them.
    classes : sequence, optional
        Public. The values of the target, at least two; not for `PrivateData`.
    epsilon, delta : float
        Public. What one fit costs.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Released. The coefficients of the scores, in the units of the data.
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts.
    classes_ : array of shape (n_classes,)
        Public. The classes.
    event_ : Event
        What the fit cost.
    receipt_ : Receipt
        The same, with whom it protects and where it was charged.
    n_features_in_ : int
        Public. The number of features.
    feature_names_in_ : array of str
        Public. Their names, where the data have names.

    Guarantee
    ---------
    `event_`: one release of a sum bounded in l1, for the neighbors and the unit of the data set; add or remove one
    record for arrays. Released: `coef_` and `intercept_`, which follow from it. The functional mechanism of Zhang,
    Zhang, Xiao, Yang and Winslett 2012, with their regularisation and spectral trimming; the bound is that of the code
    that scales and clips coefficients, and not a formula beside it.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.uniform(-1, 1, (20_000, 2))
    >>> y = X @ [2.0, -1.0] > 0
    >>> model = FunctionalLogisticRegression(bounds=(-1, 1), classes=[False, True], epsilon=1.0).fit(X, y)
    >>> bool(model.score(X, y) > 0.9)
    True
    """

    purpose: ClassVar[str] = "functional mechanism, logistic regression"

    def __init__(
        self,
        *,
        target: str | None = None,
        bounds: Any = None,
        classes: Any = None,
        epsilon: float = 1.0,
        delta: float = 0.0,
    ) -> None:
        self.target = target
        self.bounds = bounds
        self.classes = classes
        self.epsilon = epsilon
        self.delta = delta

    def learn(self, task: Task, plan: SumPlan, permit: Permit) -> Artefact:
        """Minimise, and go back to the units of the data."""
        weights = 2 * self.minimizers(task, plan, permit)
        return own_units(Coordinates.of(task.schema, task.features, 1.0), weights)

    def predict_proba(self, X: Any) -> Array:
        """The probability of each class; of more than two, those against the others, scaled to add up to 1."""
        chances = LogisticLoss().pull(-self.decision_function(X))
        if chances.ndim == 1:
            return np.column_stack([1 - chances, chances])
        return np.asarray(chances / chances.sum(axis=1, keepdims=True))
