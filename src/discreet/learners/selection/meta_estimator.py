"""What pipelines and searches have in common: another estimator predicts in the end."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any, TypeVar, cast

from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from discreet.fitting.private_estimator import PrivateEstimator

F = TypeVar("F", bound=Callable[..., Any])


def last_has(name: str) -> Callable[[F], F]:
    """Make a method available where the estimator that predicts in the end has one of this name."""
    return cast(Callable[[F], F], available_if(lambda whole: hasattr(whole.last, name)))


class MetaEstimator(PrivateEstimator):
    """An estimator whose predictions are those of another one: the last step, or the best candidate.

    Parameters
    ----------
    bounds : (lower, upper), or Schema, optional
        Public. Of the features: two numbers, or two sequences with one number per feature, or a schema, which may have
        categories; not for `PrivateData`, which have one.
    classes : sequence, optional
        Public. The values of the target, for a classifier; not for `PrivateData`.
    target_bounds : (lower, upper), optional
        Public. Of the target, for a regressor; not for `PrivateData`.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        Public. The classes, of a classifier.
    columns_ : tuple of Column
        Public. What the schema says of each feature.
    """

    @property
    @abstractmethod
    def last(self) -> Any:
        """The estimator that predicts in the end, before it is fitted; None where there is none."""

    @abstractmethod
    def _fitted(self, rows: Any) -> tuple[Any, Any]:
        """The estimator that predicts, once it is fitted, and the rows in the form that it takes."""

    @property
    def others(self) -> tuple[str, ...]:  # type: ignore[override]
        """Columns that the last estimator reads beside features and target."""
        return tuple(getattr(self.last, "others", ()))

    @property
    def local(self) -> bool:  # type: ignore[override]
        """Whether the last estimator asks people who trust nobody."""
        return bool(getattr(self.last, "local", False))

    def _last(self, X: Any, method: str, *given: Any) -> Any:
        """What a method of the last estimator says about rows."""
        check_is_fitted(self)
        model, rows = self._fitted(validate_data(self, X, dtype=None, ensure_all_finite=False, reset=False))
        return getattr(model, method)(rows, *given)

    @last_has("predict")
    def predict(self, X: Any) -> Any:
        """What the last step, or the best candidate, predicts."""
        return self._last(X, "predict")

    @last_has("predict_proba")
    def predict_proba(self, X: Any) -> Any:
        """The probabilities that it gives."""
        return self._last(X, "predict_proba")

    @last_has("decision_function")
    def decision_function(self, X: Any) -> Any:
        """The scores that it gives."""
        return self._last(X, "decision_function")

    @last_has("score")
    def score(self, X: Any, y: Any = None) -> float:
        """Its own score, as accuracy or R2. It is about these rows, and is not private: see `evaluate`."""
        return float(self._last(X, "score", y))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if isinstance(self.last, PrivateEstimator):
            own = get_tags(self.last)
            tags.estimator_type, tags.transformer_tags = own.estimator_type, own.transformer_tags
            tags.classifier_tags, tags.regressor_tags = own.classifier_tags, own.regressor_tags
        return tags
