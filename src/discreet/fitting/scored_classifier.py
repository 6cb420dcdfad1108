"""What classifiers with one score per class have in common."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from sklearn.base import ClassifierMixin

from discreet.core.grid import Array
from discreet.fitting.private_estimator import PrivateEstimator
from discreet.questions.vectors.coordinates import Coordinates
from discreet.trust.stored import Artefact


class ScoredClassifier(ClassifierMixin, PrivateEstimator):
    """The class with the greatest score; for two classes, the second where the only score is positive.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes.
    """

    supervised: ClassVar[bool] = True

    @abstractmethod
    def decision_function(self, X: Any) -> Array:
        """The score of each class, or the one of the second class where there are two."""

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of the greatest score."""
        scores = self.decision_function(X)
        places = (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)
        return np.asarray(self.classes_[places])


class LinearScores(ScoredClassifier):
    """Scores that are linear in the features.

    Attributes
    ----------
    coef_ : array of shape (1, n_features) or (n_classes, n_features)
        Released. The coefficients of the scores, in the units of the data.
    intercept_ : array of shape (1,) or (n_classes,)
        Released. The intercepts.
    """

    coef_: Array
    intercept_: Array

    def decision_function(self, X: Any) -> Array:
        """The score of each class, or the one of the second class where there are two; a missing value counts as 0."""
        scores = np.nan_to_num(self._rows(X)) @ self.coef_.T + self.intercept_
        return np.asarray(scores[:, 0] if len(self.classes_) == 2 else scores)


def own_units(columns: Coordinates, scores: Array) -> Artefact:
    """Coefficients and intercepts for records in their own units, as scikit-learn has them."""
    scores = scores[1:] - scores[:1] if len(scores) == 2 else scores
    coef = scores[:, 1:] / columns.half[:, 0]
    return {"coef_": coef, "intercept_": scores[:, 0] - coef @ columns.middle[:, 0]}
