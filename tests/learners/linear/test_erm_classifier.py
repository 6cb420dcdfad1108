"""Empirical risk minimisation: close to the exact minimiser, what it costs, and what an audit of whole fits finds."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from itertools import product

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.audit.trial import judged
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners.linear.erm_classifier import ERMClassifier
from discreet.learners.linear.risk_minimizer import RiskPlan
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.gradients.signed_records import SignedRecords
from discreet.trust.curator import CuratorsView
from discreet.trust.local import Local
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.linear.test_logistic_regression import BOUNDS, people
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    ERMClassifier(bounds=trial.BOUNDS, classes=[0, 1, 2], delta=0.0),
    sums=False,
    exemptions={
        "check_decision_proba_consistency": "it is about two classes, and these are three",
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_is_close_to_the_exact_one(classes: int, price: float) -> None:
    X, y = people(12_000, classes)
    exact = Exact().fit(X[:9000], y[:9000])
    for perturbed, away in (("objective", 0.04), ("output", 0.08)):
        model = ERMClassifier(bounds=BOUNDS, classes=range(classes), epsilon=2.0, delta=price)
        model.set_params(perturbed=perturbed).fit(X[:9000], y[:9000])
        assert model.score(X[9000:], y[9000:]) > exact.score(X[9000:], y[9000:]) - away
        assert model.coef_.shape == exact.coef_.shape
        assert model.intercept_.shape == exact.intercept_.shape


def test_the_huber_hinge_separates_and_has_no_probabilities() -> None:
    X, y = people(12_000, 2)
    model = ERMClassifier(bounds=BOUNDS, classes=[0, 1], loss="huber_hinge", epsilon=4.0).fit(X, y)
    assert model.score(X, y) > Exact().fit(X, y).score(X, y) - 0.04
    assert not hasattr(model, "predict_proba")


def test_probabilities_add_up_and_are_greatest_for_the_class_that_is_predicted() -> None:
    for classes in (2, 3):
        X, y = people(2000, classes)
        model = ERMClassifier(bounds=BOUNDS, classes=range(classes), epsilon=5.0).fit(X, y)
        p = model.predict_proba(X)
        np.testing.assert_allclose(p.sum(axis=1), 1.0)
        np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(X))


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(100, 3)
    for perturbed in ("objective", "output"):
        pure = ERMClassifier(bounds=BOUNDS, classes=range(3), epsilon=0.7, delta=0.0)
        pure.set_params(perturbed=perturbed).fit(X, y)
        assert pure_epsilon(pure.event_) == pytest.approx(0.7)
    for standardize, least in ((False, 0.98e-6), (True, 0.0)):  # what moments leave is added up, which overstates
        model = ERMClassifier(bounds=BOUNDS, classes=[0, 1], standardize=standardize, epsilon=0.7, delta=1e-6)
        assert least < delta(model.fit(X, y).event_, 0.7) <= 1e-6


def test_moments_are_paid_for_and_make_features_of_any_scale_alike() -> None:
    X, y = people(6000, 2)
    narrow = X * [1.0, 0.02, 1.0, 0.02, 1.0, 0.02]
    common = {"bounds": BOUNDS, "classes": [0, 1], "epsilon": 2.0, "delta": 0.0, "expected_size": 6000}
    plain, standard = (ERMClassifier(standardize=each, **common).fit(narrow, y) for each in (False, True))  # type: ignore[arg-type]
    assert isinstance(standard.event_, Composed)
    assert pure_epsilon(standard.event_) == pytest.approx(2.0)
    assert standard.score(narrow, y) > plain.score(narrow, y) + 0.02


def released(model: ERMClassifier, plan: RiskPlan, X: Array, y: Array, runs: int) -> Array:
    """Many releases of one data set, from its records on."""
    task = model._task(X, y, Budget(model.epsilon, model.delta))
    question = SignedRecords(task.schema, task.features, str(task.target), 1)
    view = CuratorsView(Matrix(np.column_stack([X, y]), task.schema), Neighbors.ADD_REMOVE, DeterministicBits(0))
    return plan.mechanism.release(question.answer(view).stacked(runs), DeterministicBits(len(X)))


def canaries() -> Iterator[tuple[Array, Array]]:
    """Data sets whose last record comes or goes: many or few others, of another class or the same, near or far."""
    for others, x, label in product((0, 20, 80), (-1.0, 0.3, 1.0), (0.0, 1.0)):
        yield np.append(np.ones(others), x)[:, None], np.append(np.zeros(others), label)


@pytest.mark.partial_audit("objective and output perturbation have audits of their own")
def test_no_audit_of_the_worst_canary_refutes_a_fit_and_one_does_with_half_of_the_noise() -> None:
    """Seen along the vector of the record, as far as it moves what is released, in deviations of that."""
    model = ERMClassifier(bounds=(-1, 1), classes=[0, 1], loss="huber_hinge", penalty=40.0, epsilon=2.0, radius=2**0.5)
    plan = model.plan(model._task(np.zeros((1, 1)), np.zeros(1), Budget(2.0, 1e-6)))

    def seen(plan: RiskPlan, X: Array, y: Array, runs: int) -> list[Array]:
        along = np.append(1.0, X[-1])
        return [released(model, plan, X[:n], y[:n], runs) @ along for n in (len(X), len(X) - 1)]

    def apart(canary: tuple[Array, Array]) -> float:
        one, other = seen(plan, *canary, 50)
        return float(abs(one.mean() - other.mean()) / one.std())

    worst = max(canaries(), key=apart)
    halved = RiskPlan(dataclasses.replace(plan.mechanism, multiplier=plan.mechanism.multiplier / 2), plan.event)
    assert judged(plan.event, *seen(plan, *worst, 10_000)).holds
    assert not judged(plan.event, *seen(halved, *worst, 10_000)).holds


def test_classes_that_are_not_listed_and_missing_values_count_for_nothing() -> None:
    X, y = people(4000, 3)
    some = y < 2
    model = ERMClassifier(bounds=BOUNDS, classes=[0, 1], epsilon=1000.0, delta=0.0, penalty=1.0, standardize=False)
    X[:5, 0] = np.nan
    whole, part = (model.fit(*records).coef_.copy() for records in ((X, y), (X[some][5:], y[some][5:])))
    np.testing.assert_allclose(whole, part, atol=0.2)


def test_only_a_curator_can_fit_it() -> None:
    X = TRIAL.features()
    with pytest.raises(DiscreetError, match="takes a curator"):
        TRIAL.of_private().fit(TRIAL.private(Local(TRIAL.source(X))))


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10, 2)
    wrong = (
        {"loss": "hinge"},
        {"perturbed": "input"},
        {"penalty": 0.0},
        {"penalty": 1e-3},
        {"radius": 0.0},
        {"epsilon": 0.0},
        {"classes": [0]},
        {"bounds": (1.0, 0.0)},
    )
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            ERMClassifier(**{"bounds": BOUNDS, "classes": [0, 1], **fields}).fit(X, y)  # type: ignore[arg-type]
