"""Linear models from one private gradient of each person."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.linear_model import LogisticRegression

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.local import LocalSGDClassifier, LocalSGDRegressor
from discreet.local.means import one_pass_sgd
from discreet.local.means.sphere_vector import SphereVector
from discreet.local.randomizer import Reports
from discreet.mechanisms import SphereReport


def rows(n: int) -> Array:
    return np.random.default_rng(0).uniform(-0.5, 0.5, (n, 4))


def test_a_classifier_comes_close_to_one_without_privacy() -> None:
    X = rows(40_000)
    chances = 1 / (1 + np.exp(-6 * (X[:, 0] - X[:, 1])))
    y = np.where(np.random.default_rng(1).random(len(X)) < chances, "yes", "no")
    private = LocalSGDClassifier(epsilon=3.0, coefficient_radius=10.0, classes=("no", "yes")).fit(X, y)
    assert private.score(X, y) > LogisticRegression().fit(X, y).score(X, y) - 0.05
    assert set(private.predict(X)) == {"no", "yes"}


def test_a_regression_finds_the_slopes() -> None:
    """Noise moves each slope by about 5, so that the cosine of the angle to the true ones is about 0.96."""
    X = rows(40_000)
    y = 50 + 30 * X[:, 0] - 20 * X[:, 1] + np.random.default_rng(1).normal(0, 2, len(X))
    model = LocalSGDRegressor(epsilon=3.0, coefficient_radius=3.0, target_bounds=(0, 100)).fit(X, y)
    cosine = model.coef_ @ [30, -20, 0, 0] / np.linalg.norm(model.coef_) / np.linalg.norm([30, -20])
    assert cosine > 0.75
    assert 15 < np.linalg.norm(model.coef_) < 70
    assert abs(model.intercept_ - 50) < 10


def test_everybody_reports_once_at_the_price_that_is_stated(monkeypatch: pytest.MonkeyPatch) -> None:
    reported = []

    class Counted(SphereVector):
        def reports(self, values: Any, bits: Bits) -> Reports:
            reported.append(len(values))
            assert np.linalg.norm(values, axis=1).max() <= self.radius * (1 + 1e-9)
            return super().reports(values, bits)

    monkeypatch.setattr(one_pass_sgd, "SphereVector", Counted)
    X = 100 * rows(1003)
    model = LocalSGDClassifier(epsilon=0.7).fit(X, (X[:, 0] > 0).astype(int))
    assert sum(reported) == 1003
    assert model.event_ == SphereReport(0.7).event
    assert clone(model).get_params() == model.get_params()


def test_classes_and_bounds_that_cannot_be_are_refused_before_any_report() -> None:
    X = rows(20)
    for wrong in (
        LocalSGDClassifier(classes=("a",)),
        LocalSGDClassifier(epsilon=0.0),
        LocalSGDRegressor(target_bounds=(1.0, 0.0)),
        LocalSGDRegressor(radius=-1.0),
    ):
        with pytest.raises(ParameterError, match="Nothing was released or spent"):
            wrong.fit(X, np.arange(20.0))


def test_a_person_who_lacks_a_number_or_a_class_reports_noise_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """The gradient that is reported is zero, and nobody else's changes."""
    seen: list[np.ndarray] = []

    class Listening(SphereVector):
        def reports(self, values: Any, bits: Any) -> Any:
            seen.append(self.inside(values))
            return super().reports(values, bits)

    monkeypatch.setattr(one_pass_sgd, "SphereVector", Listening)
    X, odd = rows(40).tolist(), ["?", None, [1.0], {}, 2j, object(), float("nan"), 10**400]
    for place, value in enumerate(odd):
        X[place][place % len(X[0])] = value
    X[8], y = [1.0], [0, 1] * 12 + odd + [0, 1] * 4
    LocalSGDClassifier().fit(X, y)
    lengths = np.linalg.norm(np.concatenate(seen), axis=1)
    assert (lengths[[*range(9), *range(24, 32)]] == 0).all()
    assert (np.delete(lengths, [*range(9), *range(24, 32)]) > 0).all()
    LocalSGDRegressor().fit(X, y)
