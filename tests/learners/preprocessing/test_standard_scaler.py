"""A private standard scaler: close to the exact one, between public bounds, and what it promises."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler as Exact

from discreet.accounting.accountant import delta
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.preprocessing.standard_scaler import StandardScaler
from discreet.releases.least_noise import SumPlan
from discreet.schema.schema import Category, Number, Schema
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.trial import LearnerTrial

NOISE = "it compares two fits, and every fit draws fresh noise"
TRANSFORMERS = {
    "check_transformer_general": NOISE,
    "check_transformer_data_not_an_array": NOISE,
    "check_pipeline_consistency": NOISE,
}
SPARSE = "it is about the parameters of the scaler of this name in scikit-learn"
OWN = {"check_estimator_sparse_array": SPARSE, "check_estimator_sparse_matrix": SPARSE}
TRIAL = LearnerTrial(StandardScaler(bounds=trial.BOUNDS), exemptions=TRANSFORMERS | OWN)
BOUNDS = ([0.0, -5.0], [100.0, 5.0])


def people(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).normal([30.0, 1.0], [8.0, 0.5], (n, 2))


def test_it_is_close_to_the_exact_one() -> None:
    X = people(400_000)  # the lower bound of the first feature moves records by 0.25; noise must add little to that
    for price in (1e-6, 0.0):
        scaler = StandardScaler(bounds=BOUNDS, epsilon=1.0, delta=price).fit(X)
        exact = Exact().fit(X)
        np.testing.assert_allclose(scaler.mean_, exact.mean_, rtol=0.02)
        np.testing.assert_allclose(scaler.scale_, exact.scale_, rtol=0.1)
        np.testing.assert_allclose(scaler.transform(X), np.clip(exact.transform(X), -4, 4), atol=0.3)


def test_what_it_gives_lies_between_public_bounds_whatever_the_noise() -> None:
    for epsilon in (1e-3, 1.0):
        scaler = StandardScaler(3.0, bounds=BOUNDS, epsilon=epsilon).fit(people(5))
        rows = scaler.transform([[1e300, -1e300], [np.nan, 0.0], [30.0, 1.0]])
        assert np.nanmax(np.abs(rows)) <= 3.0
        assert np.isnan(rows[1, 0])
        assert (scaler.scale_ > 0).all()


def test_categories_are_kept_and_names_are_given() -> None:
    schema = Schema({"age": Number(0, 100), "sex": Category(("f", "m"))})
    scaler = StandardScaler(bounds=schema).fit([[30, "f"], [50, "m"]])
    assert scaler.transform([[40, "m"]])[0, 1] == 1.0
    assert scaler.mean_.shape == (1,)
    assert list(scaler.get_feature_names_out()) == ["x0", "x1"]


def test_the_fit_costs_what_it_says() -> None:
    scaler = StandardScaler(bounds=BOUNDS, epsilon=0.7, delta=1e-6).fit(people(10))
    assert delta(scaler.event_, 0.7) <= 1e-6


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """The worst of some records of eight numbers each, by the length of what it adds."""
    scaler = StandardScaler(bounds=(-1.0, 1.0), epsilon=3.0)
    plan: SumPlan = scaler.plan(scaler._task(np.zeros((1, 8)), None, Budget(3.0, 1e-6)))
    records = np.random.default_rng(0).choice([-1.0, -0.5, 0.0, 1.0], (200, 8))
    records[0] = np.sign(records[0] + 0.1)
    worst = records[np.argmax(np.linalg.norm(plan.question.of(records), axis=1))]
    check_sum(plan, worst)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    only = Schema({"sex": Category(("f", "m"))})
    for fields in ({"reach": 0.0}, {"epsilon": 0.0}, {"bounds": None}, {"bounds": (1.0, 0.0)}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            StandardScaler(**{"bounds": BOUNDS, **fields}).fit(people(10))  # type: ignore[arg-type]
    with pytest.raises(DiscreetError, match="no numeric feature"):
        StandardScaler(bounds=only).fit([["f"]])
