"""Support vectors with a kernel: what no plane can separate."""

from __future__ import annotations

import dataclasses
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.audit.trial import judged
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.kernel_svc import KernelSVC
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.gradients.signed_records import SignedRecords, Waves
from discreet.trust.curator import Curator
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    KernelSVC(bounds=trial.BOUNDS, classes=[0, 1, 2], n_components=5, random_state=0, delta=0.0),
    sums=False,
    of_few=True,  # Fourier features are no components of the records
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


def rings(n: int, classes: int) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-3, 3, (n, 2))
    return X, np.minimum(np.hypot(*X.T) // 1.4, classes - 1).astype(int)


@pytest.mark.parametrize(("classes", "price"), [(2, 1e-6), (3, 0.0)], ids=["approximate", "pure"])
def test_it_separates_rings_which_no_plane_does(classes: int, price: float) -> None:
    X, y = rings(12_000, classes)
    model = KernelSVC(
        bounds=(-3, 3), classes=range(classes), n_components=20, gamma=2.0, random_state=1, epsilon=4.0, delta=price
    ).fit(X[:9000], y[:9000])
    plane = ERMClassifier(bounds=(-3, 3), classes=range(classes), epsilon=4.0, delta=price).fit(X[:9000], y[:9000])
    assert model.score(X[9000:], y[9000:]) > 0.85
    assert model.score(X[9000:], y[9000:]) > plane.score(X[9000:], y[9000:]) + 0.02
    assert model.coef_.shape == (1 if classes == 2 else 3, 40)


def test_its_features_follow_from_the_seed_alone() -> None:
    X, y = rings(100, 2)
    model = KernelSVC(bounds=(-3, 3), classes=[0, 1], random_state=3, delta=0.0)
    first, second = (model.fit(*some).random_weights_ for some in ((X, y), (-X[:7], y[:7])))
    np.testing.assert_array_equal(first, second)
    other = model.set_params(random_state=4).fit(X, y).random_weights_
    assert not np.array_equal(first, other)


def test_the_fit_costs_what_it_says() -> None:
    X, y = rings(100, 3)
    pure = KernelSVC(bounds=(-3, 3), classes=range(3), epsilon=0.7, delta=0.0).fit(X, y)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)
    model = KernelSVC(bounds=(-3, 3), classes=range(3), perturbed="output", epsilon=0.7, delta=1e-6).fit(X, y)
    assert 0.98e-6 < delta(model.event_, 0.7) <= 1e-6


def test_where_noise_is_small_the_kernel_falls_in_units_of_deviations_which_are_paid_for() -> None:
    """One feature varies a fifth as much as the other: before, its waves were as long."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(3000, 2)) * [1.0, 0.2]
    y = (X[:, 0] * X[:, 1] > 0).astype(int)
    model = KernelSVC(bounds=(-5, 5), classes=[0, 1], random_state=1, expected_size=200, epsilon=500.0).fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.coef_.shape == (1, 138)
    assert np.divide(*model.random_weights_.std(axis=0)[::-1]) == pytest.approx(5, rel=0.3)
    assert 0.5e-6 < delta(model.event_, 500.0) <= 1e-6
    task = model._task(X[:1], y[:1], Budget(500.0, 1e-6))
    moments = model.plan(task).moments
    assert moments is not None
    assert isinstance(model.event_, Composed)
    assert moments.noise.event in model.event_.events
    assert model.set_params(gamma=1.0).plan(task).moments is None


@pytest.mark.partial_audit("objective and output perturbation have audits of their own")
def test_no_audit_of_the_worst_canary_refutes_a_fit_and_one_does_with_half_of_the_noise() -> None:
    """Seen along the vector of the record, which comes or goes beside others of its own class or of the other."""
    model = KernelSVC(bounds=(-1, 1), classes=[0, 1], n_components=2, penalty=40.0, epsilon=2.0)
    task = model._task(np.zeros((1, 1)), np.zeros(1), Budget(2.0, 1e-6))
    plan, waves = model.plan(task), Waves(np.array([[0.7], [-1.9]]))
    question = SignedRecords(task.schema, task.features, str(task.target), 1, waves)

    def seen(mechanism: Any, others: int, x: float, label: float, runs: int) -> list[Array]:
        records = np.array([[1.0, 0.0]] * others + [[x, label]])
        return [
            mechanism.release(
                question.answer(Curator(Matrix(some, task.schema), bits=DeterministicBits(0))._view).stacked(runs),
                DeterministicBits(len(some)),
            )
            @ waves.of(np.array([[x]]))[0]
            for some in (records, records[:-1])
        ]

    def apart(canary: tuple[int, float, float]) -> float:
        one, other = seen(plan.mechanism, *canary, 50)
        return float(abs(one.mean() - other.mean()) / one.std())

    worst = max(product((0, 20, 80), (-1.0, 0.3, 1.0), (0.0, 1.0)), key=apart)
    halved = dataclasses.replace(plan.mechanism, multiplier=plan.mechanism.multiplier / 2)
    assert judged(plan.event, *seen(plan.mechanism, *worst, 10_000)).holds
    assert not judged(plan.event, *seen(halved, *worst, 10_000)).holds


def test_missing_values_are_predicted_as_0_and_far_ones_as_the_bounds() -> None:
    X, y = rings(500, 2)
    model = KernelSVC(bounds=(-3, 3), classes=[0, 1], epsilon=1.0, random_state=0).fit(X, y)
    scores = model.decision_function([[np.nan, 9.0], [0.0, 3.0]])
    assert scores[0] == scores[1]


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = rings(10, 2)
    for fields in ({"n_components": 2.5}, {"n_components": 0}, {"gamma": 0.0}, {"classes": [0]}, {"penalty": 1e-3}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            KernelSVC(**{"bounds": (-3, 3), "classes": [0, 1], **fields}).fit(X, y)  # type: ignore[arg-type]
