"""Regression that follows the records through time: little is lost, and none before its time is told."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.linear_model import Ridge as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.linear.online_ridge import OnlineRidge
from discreet.schema.schema import Number, Schema
from tests.learners import trial
from tests.learners.audited_transcript import check_fit
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    OnlineRidge(steps=4, bounds=trial.BOUNDS, target_bounds=(-100.0, 100.0)),
    exemptions={
        "check_regressors_train": "at epsilon 1, 200 records with 10 features leave no R2 above 0.5",
        "check_fit2d_1feature": "the only column is the time: there is nothing to learn from",
    },
)
BOUNDS = ([0.0, -1.0, 10.0], [1.0, 1.0, 30.0])


def people(n: int = 40_000) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(*BOUNDS, (n, 3))
    return X, X[:, 1:] @ [2.0, 0.1] + rng.normal(0, 0.3, n)


def fitted(X: Array, y: Array, **more: float) -> OnlineRidge:
    settings = {"steps": 16, "epsilon": 1.0, **more}
    return OnlineRidge(bounds=BOUNDS, target_bounds=(-2.0, 6.0), **settings).fit(X, y)  # type: ignore[arg-type]


def test_the_regret_grows_slowly_once_the_leader_is_found() -> None:
    """The last three quarters of the time lose less than the first quarter."""
    X, y = people()
    regret = fitted(X, y).regret(X, y)
    assert len(regret) == 16
    assert 0 < regret[-1] < 0.2 * np.square(y - y.mean()).sum()
    assert regret[-1] - regret[3] < 0.5 * regret[3]


def test_a_step_knows_only_the_records_before_it() -> None:
    """With hardly any noise: what comes later than a step changes nothing that it starts with."""
    X, y = people(2000)
    later = np.where(X[:, 0] > 0.5, 4 - y, y)
    first, second = (fitted(X, some, steps=4, epsilon=1e5, delta=0.0).coef_ for some in (y, later))
    np.testing.assert_allclose(first[:3], second[:3], atol=1e-2)
    assert np.abs(first[4] - second[4]).max() > 0.5
    np.testing.assert_array_equal(first[0], 0.0)


def test_without_noise_the_last_leader_is_ridge_regression_through_the_middle() -> None:
    X, y = people(3000)
    model = fitted(X, y, steps=4, epsilon=1e5, delta=0.0)
    scaled = (X[:, 1:] - [0.0, 20.0]) / [1.0, 10.0]
    exact = Exact(1.0, fit_intercept=False).fit(scaled, (y - 2) / 4)
    np.testing.assert_allclose(model.coef_[-1], exact.coef_ * 4 / [1.0, 10.0], atol=5e-3)
    np.testing.assert_allclose(model.predict(X), exact.predict(scaled) * 4 + 2, atol=0.1)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(50)
    assert 0.99e-6 < delta(fitted(X, y, epsilon=0.7).event_, 0.7) <= 1e-6
    assert 0.699 < pure_epsilon(fitted(X, y, epsilon=0.7, delta=0.0).event_) <= 0.7 + 1e-12


def test_no_audit_of_a_whole_fit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """A record is in as many sums as the tree has levels; corners of the box, early and late."""
    schema = Schema({**Schema.numeric(-1, 1, 3).columns, "target": Number(-1, 1)})
    canaries = [np.array([time, x, -x, y]) for time in (-1.0, 0.9) for x in (0.2, 1.0) for y in (-1.0, 0.0, 1.0)]
    model = OnlineRidge(steps=4, target="target")
    check_fit(model, np.zeros((5, 4)), schema, canaries)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    wrong = ({"alpha": -1.0}, {"steps": 3}, {"time": 5}, {"time": "when"}, {"radius": 0.0}, {"target_bounds": (1, 1)})
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            OnlineRidge(**{"bounds": BOUNDS, "target_bounds": (-2, 6), "steps": 4, **fields}).fit(X, y)  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="no feature beside time"):
        OnlineRidge(bounds=(0, 1), target_bounds=(-2, 6)).fit(X[:, :1], y)
