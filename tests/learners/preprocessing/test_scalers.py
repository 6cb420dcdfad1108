"""Private scalers: means, variances and quantiles that are bought, or bounds that are given."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.preprocessing import StandardScaler as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.preprocessing.scalers import MinMaxScaler, StandardScaler, between
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
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

TRIALS = {
    "StandardScaler": LearnerTrial(StandardScaler(bounds=trial.BOUNDS), exemptions=TRANSFORMERS | OWN),
    "MinMaxScaler": LearnerTrial(MinMaxScaler(bounds=trial.BOUNDS), exemptions=TRANSFORMERS),
}
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


def uniform(n: int = 20_000) -> np.ndarray:
    return np.random.default_rng(0).uniform([20.0, -1.0], [60.0, 1.0], (n, 2))


def test_it_finds_where_the_records_are() -> None:
    for price in (1e-6, 0.0):
        scaler = MinMaxScaler(bounds=BOUNDS, epsilon=1.0, delta=price).fit(uniform())
        np.testing.assert_allclose(scaler.data_min_, [20.0, -1.0], atol=4.0)
        np.testing.assert_allclose((scaler.data_max_ - scaler.data_min_) / [40.0, 2.0], 1.0, atol=0.25)
        rows = scaler.transform(uniform())
        assert 0.0 <= rows.min() < rows.max() <= 1.0
        assert 0.45 < rows.mean() < 0.55


def test_public_bounds_cost_nothing() -> None:
    scaler = MinMaxScaler((-1, 1), q=None, bounds=BOUNDS).fit(uniform(10))
    assert scaler.receipt_.epsilon == 0.0
    np.testing.assert_array_equal(scaler.transform([[100.0, 0.0], [0.0, np.nan]]), [[1.0, 0.0], [-1.0, np.nan]])


def test_a_fit_of_quantiles_costs_what_it_says() -> None:
    assert delta(MinMaxScaler(bounds=BOUNDS, epsilon=0.7).fit(uniform(10)).event_, 0.7) <= 1e-6
    pure = MinMaxScaler(bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(uniform(10))
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_the_ends_are_apart_whatever_the_counts() -> None:
    rng = np.random.default_rng(0)
    for counts in (np.zeros(64), -np.ones(64), *rng.normal(0, 100, (50, 64))):
        for q in ((0.0, 1.0), (0.01, 0.99), (0.5, 0.51)):
            low, high = between(counts, q)
            assert 0 <= low < high <= 1
    np.testing.assert_array_equal(between(np.array([0.0, 0.0, 9.0, 9.0]), (0.0, 1.0)), [0.5, 1.0])


def test_no_audit_refutes_quantiles_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Every record adds one mark on each level of the tree: all are as bad."""
    scaler = MinMaxScaler(bounds=BOUNDS, epsilon=3.0)
    task = scaler._task(uniform(1), None, Budget(3.0, 1e-6))
    question, noise = scaler._tree(task).question(task.schema, "x0", 64), scaler.plan(task).mechanisms[0]
    plan = SumPlan(question, spread(task.data, question, noise))
    check_sum(plan, np.array([50.0]))


def test_a_mistake_about_quantiles_is_refused_before_anything_is_spent() -> None:
    for fields in ({"q": (0.9, 0.1)}, {"feature_range": (1.0, 1.0)}, {"bounds": None}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            MinMaxScaler(**{"bounds": BOUNDS, **fields}).fit(uniform(10))  # type: ignore[arg-type]
