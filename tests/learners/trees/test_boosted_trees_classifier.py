"""Private boosted trees for classes: what depends on three features at once, and what they promise."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.anova.anova_classifier import AnovaClassifier
from discreet.learners.trees.boosted_trees_classifier import BoostedTreesClassifier
from discreet.learners.trees.random_trees import Trees
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    BoostedTreesClassifier(2, max_depth=2, max_iter=2, bounds=trial.BOUNDS, classes=[0, 1]),
    exemptions={
        "check_classifiers_train": "its classes are taken from the data, three and two of them",
        "check_classifiers_classes": "its classes are taken from the data, texts and numbers",
        "check_classifiers_regression_target": "classes are public: what is not listed counts for nothing",
    },
)
FIELDS: dict[str, Any] = {"classes": ["no", "yes"], "bounds": (-1.0, 1.0), "random_state": 0}


def in_leaves(model: Any) -> FunctionTransformer:
    """Marks of the leaves of the trees of a fitted model."""
    features, cuts = model.features_.astype(np.intp), model.cuts_

    def marks(X: Array) -> Array:
        return np.concatenate([np.eye(cuts.shape[1] + 1)[own] for own in leaves_of(X, features, cuts)], axis=1)

    return FunctionTransformer(marks)


def TWIN(model: Any) -> Any:
    """An exact fit of the values of leaves of the same trees, whose splits are random."""
    return make_pipeline(in_leaves(model), LogisticRegression(max_iter=1000))


def people(n: int = 10_000) -> tuple[Array, Array]:
    """Classes that no two features tell apart."""
    X = np.random.default_rng(0).uniform(-1, 1, (n, 4))
    return X, np.where(X[:, 0] * X[:, 1] * X[:, 2] > 0, "yes", "no")


def test_it_learns_what_depends_on_three_features_at_once() -> None:
    """An accuracy of 0.8, where functions of pairs are as good as chance."""
    X, y = people()
    assert AnovaClassifier(**{k: v for k, v in FIELDS.items() if k != "random_state"}).fit(X, y).score(X, y) < 0.55
    assert BoostedTreesClassifier(**FIELDS).fit(X, y).score(X, y) > 0.7
    assert BoostedTreesClassifier(**FIELDS, delta=0.0, epsilon=3.0).fit(X, y).score(X, y) > 0.55


def test_wide_bounds_skewed_features_and_missing_values_cost_little() -> None:
    rng = np.random.default_rng(1)
    X = np.exp(rng.normal(size=(10_000, 3)))
    y = np.where((X[:, 0] > 1) ^ (X[:, 1] > 1), "yes", "no")
    model = BoostedTreesClassifier(**{**FIELDS, "bounds": (0.0, 400.0)})
    assert model.fit(X, y).score(X, y) > 0.8
    X[rng.random(X.shape) < 0.02] = np.nan
    assert model.fit(X, y).score(X, y) > 0.75


def test_a_rare_class_has_its_share_and_three_classes_add_up() -> None:
    rng = np.random.default_rng(2)
    X = rng.uniform(-1, 1, (10_000, 3))
    odds = 3 * X[:, 0] * X[:, 1] - 3
    y = np.where(rng.random(10_000) < 1 / (1 + np.exp(-odds)), "yes", "no")
    found = BoostedTreesClassifier(**FIELDS).fit(X, y).predict_proba(X)[:, 1]
    assert found.mean() == pytest.approx(np.mean(y == "yes"), rel=0.2)
    y = np.where(X[:, 2] > 0.3, "third", np.where(X[:, 0] * X[:, 1] > 0, "yes", "no"))
    model = BoostedTreesClassifier(**{**FIELDS, "classes": ["no", "third", "yes"]}).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)
    assert model.score(X, y) > 0.8


def test_where_noise_hides_what_leaves_say_shares_of_classes_are_predicted() -> None:
    """A share of 0.2, which is brought closer to one half by the noise in it; of a mean of 24 it is 0.01."""
    X, _ = people(600)
    y = np.where(np.arange(600) % 5 == 0, "yes", "no")
    models = [BoostedTreesClassifier(**FIELDS, epsilon=0.1).fit(X, y) for _ in range(24)]
    hidden = [model for model in models if model.n_iter_ == 0]  # their number is noisy, too
    assert len(hidden) > 16
    assert all(np.ptp(model.predict_proba(X)[:, 1]) == 0 for model in hidden)
    assert np.mean([model.predict_proba(X)[0, 1] for model in hidden]) == pytest.approx(0.24, abs=0.045)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    fields = {**FIELDS, "n_estimators": 2, "epsilon": 0.5}
    assert 0.9e-6 < delta(BoostedTreesClassifier(**fields).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(BoostedTreesClassifier(**fields, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_trees_come_from_the_random_state_and_noisy_quantiles_alone() -> None:
    X, y = people(50)
    first, other = (BoostedTreesClassifier(**FIELDS).fit(some, y) for some in (X, -X))
    np.testing.assert_array_equal(first.features_, other.features_)
    assert first.cuts_.shape == (32, 15)
    assert BoostedTreesClassifier(**FIELDS, delta=0.0).fit(X, y).cuts_.shape == (16, 15)


def test_the_audit_does_not_refute_its_sums_and_would_see_two_thirds_of_the_noise() -> None:
    """Of leaves of two trees, of classes that are three, where values of leaves are far from 0."""
    model = BoostedTreesClassifier(2, max_depth=1, **{**FIELDS, "classes": ["a", "b", "c"]}, epsilon=3.0)
    task = model._task(np.zeros((1, 1)), np.array(["a"]), Budget(3.0, 1e-6))
    trees, heights = (
        Trees(np.zeros((2, 1)), np.array([[0.0], [0.5]])),
        np.array([[0.0, 2, -2, 1, 0], [1.0, 0, 0, 0, 3]]),
    )
    question = model._gradients(task, trees, heights, (0.5, -0.5), 1.0, 0.8)
    record = worst(question, (-0.5, 0.2, 0.8, np.nan), (0.0, 1.0, 2.0, np.nan))
    check_sum(SumPlan(question, spread(task.data, question, Gaussian(1.0))), record)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    wrong: list[dict[str, Any]] = [
        *({name: 0} for name in ("n_estimators", "max_depth", "max_iter")),
        {"n_estimators": 64, "max_depth": 6},
        {"epsilon": 0.0},
    ]
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            BoostedTreesClassifier(**{**FIELDS, **fields}).fit(X, y)
