"""Linear classifiers are right for the few: marks that mean nothing, where one class is rare and tails are heavy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.grid import Array
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.linear_svc import LinearSVC
from discreet.learners.linear.logistic_regression import LogisticRegression

MARKS = 3


def few(seed: int, n: int = 20_000) -> tuple[Array, Array, Array]:
    """Heavy tails, marks of 5 % that mean nothing, 8 % of the second class; and the chance of it."""
    rng = np.random.default_rng(seed)
    numbers = rng.standard_t(4, (n, 4)).clip(-5, 5)
    chance = 1 / (1 + np.exp(3.1 - numbers @ [1.0, -0.7, 0.5, 0.0]))
    marks = (rng.random((n, MARKS)) < 0.05).astype(np.float64)
    return np.column_stack([numbers / 5, 2 * marks - 1]), (rng.random(n) < chance).astype(int), chance


@pytest.mark.parametrize(("kind", "most"), [(LogisticRegression, 0.4), (LinearSVC, 0.4), (ERMClassifier, 0.4)])
def test_a_rare_mark_that_means_nothing_has_hardly_a_coefficient(kind: Any, most: float) -> None:
    """They were -1.6 to -3, where records were shortened. The exact ones differ from 0 by 0.15."""
    found = [kind(bounds=(-1, 1), classes=[0, 1], epsilon=10.0).fit(*few(seed)[:2]).coef_[0] for seed in range(3)]
    marks = 2 * np.mean(found, axis=0)[4:]
    assert np.abs(marks).max() < most


def test_the_rate_of_a_group_is_predicted_whatever_the_others_are() -> None:
    """Within a tenth of the true rate, or a quarter for marks, of which 80 records have the second class."""
    X, y, chance = few(5, 30_000)
    model = LogisticRegression(bounds=(-1, 1), classes=[0, 1], epsilon=5.0).fit(X, y)
    p = model.predict_proba(X)[:, 1]
    assert p.mean() == pytest.approx(chance.mean(), rel=0.1)
    for mark in range(4, 4 + MARKS):
        own = X[:, mark] > 0
        assert p[own].mean() == pytest.approx(chance[own].mean(), rel=0.25)


def test_balanced_classes_are_predicted_alike_and_weights_are_relative() -> None:
    X, y, _ = few(6)
    plain, balanced, given = (
        LogisticRegression(bounds=(-1, 1), classes=[0, 1], epsilon=10.0, class_weight=weight).fit(X, y)
        for weight in (None, "balanced", {0: 1.0, 1: 11.5})
    )
    recalls = [np.mean(model.predict(X)[y == 1]) for model in (plain, balanced, given)]
    assert recalls[0] < 0.3
    assert min(recalls[1:]) > 0.65
    assert np.mean(balanced.predict(X)[y == 0] == 0) > 0.65
    svc = LinearSVC(bounds=(-1, 1), classes=[0, 1], epsilon=10.0, class_weight="balanced").fit(X, y)
    assert np.mean(svc.predict(X)[y == 1]) > 0.65
