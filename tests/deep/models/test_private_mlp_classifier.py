"""A perceptron for classes: how it is tried, and what it learns."""

from __future__ import annotations

import numpy as np
from sklearn.metrics import roc_auc_score

from discreet.deep.models.private_mlp_classifier import PrivateMLPClassifier
from tests.deep.models.test_private_mlp import points
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    PrivateMLPClassifier([4], sampling_rate=0.5, max_iter=2, bounds=trial.BOUNDS, classes=[0, 1, 2]),
    sums=False,
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


def test_it_learns_what_no_line_does() -> None:
    X, fresh = points(6000), points(1000, seed=1)
    told = PrivateMLPClassifier(
        [16], bounds=(-1, 1), classes=["no", "yes"], epsilon=2.0, random_state=0, sampling_rate=0.2
    )
    told.fit(X, np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    assert told.score(fresh, np.where(fresh[:, 0] * fresh[:, 1] > 0, "yes", "no")) > 0.9
    assert np.allclose(told.predict_proba(fresh).sum(axis=1), 1)


def test_by_default_it_learns_products_among_features_that_say_nothing() -> None:
    """Of eight normal features in wide bounds: an AUC of 0.95; with "tanh" it is 0.6."""
    rng = np.random.default_rng(7)
    X = rng.normal(size=(9000, 8))
    y = X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.3 * rng.normal(size=9000) > 0
    model = PrivateMLPClassifier(bounds=(-5, 5), classes=[False, True], epsilon=1.0, random_state=0)
    found = model.fit(X[:6000], y[:6000]).predict_proba(X[6000:])[:, 1]
    assert roc_auc_score(y[6000:], found) > 0.85
