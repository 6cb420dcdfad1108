"""Private naive Bayes on categories: close to the exact one, mixed columns, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.naive_bayes import CategoricalNB as Exact
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.learners.bayes.categorical_nb import CategoricalNB
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trees.test_random_forest import CLASSIFIER
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(CategoricalNB(bins=8, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
SCHEMA = Schema({"a": Category((0, 1, 2)), "b": Category((0, 1))})


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = (rng.random(n) < 0.3).astype(int)
    return np.column_stack([np.clip(rng.integers(0, 2, n) + y, 0, 2), rng.random(n) < 0.3 + 0.4 * y]).astype(int), y


@pytest.mark.parametrize("price", [1e-6, 0.0])
def test_it_is_close_to_the_exact_one(price: float) -> None:
    X, y = people()
    model = CategoricalNB(classes=[0, 1], bounds=SCHEMA, epsilon=1.0, delta=price).fit(X, y)
    exact = Exact().fit(X, y)
    expected = np.exp(np.hstack(exact.feature_log_prob_)).T
    np.testing.assert_allclose(np.exp(model.feature_log_prob_), expected, atol=0.03)
    assert model.score(X, y) > exact.score(X, y) - 0.01


def test_numbers_and_categories_are_read_as_the_schema_says() -> None:
    rng = np.random.default_rng(0)
    ill = rng.random(10_000) < 0.5
    frame = pd.DataFrame({"age": rng.normal(np.where(ill, 60, 40), 10), "ward": np.where(ill, "north", "south")})
    schema = Schema({"age": Number(0, 100), "ward": Category(("north", "south", "west"))})
    own = CategoricalNB(classes=["no", "yes"], bounds=schema).fit(frame, np.where(ill, "yes", "no"))
    whole = Schema({**schema.columns, "ill": Category(("no", "yes"))})
    data = PrivateData.of(frame.assign(ill=np.where(ill, "yes", "no")), whole, Budget(1.0, 1e-6))
    for model in (own, CategoricalNB(target="ill").fit(data)):
        rows = pd.DataFrame({"age": [60.0, 41.0, np.nan], "ward": ["north", None, "south"]})
        assert list(model.predict(rows)) == ["yes", "no", "no"]


def test_what_was_never_seen_says_nothing() -> None:
    X, y = people()
    model = CategoricalNB(classes=[0, 1], bounds=SCHEMA, epsilon=1.0).fit(X, y)
    np.testing.assert_allclose(model.predict_proba(np.array([[9, 9]])), [model.class_prior_])


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    fields: dict[str, Any] = {"classes": [0, 1], "bounds": SCHEMA, "epsilon": 0.5}
    assert delta(CategoricalNB(**fields).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(CategoricalNB(**fields, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sum_and_would_see_two_thirds_of_the_noise() -> None:
    for price in (1e-6, 0.0):
        model = CategoricalNB(classes=[0, 1], bounds=SCHEMA, epsilon=3.0, delta=price)
        plan = model.plan(model._task(np.array([[0, 1]]), np.array([1]), Budget(3.0, price)))
        record = worst(plan.question, (0.0, 1.0, np.nan), (0.0, 1.0, np.nan), (0.0, 1.0, np.nan))
        assert not np.isnan(record).any()
        check_sum(plan, record)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"bins": 0}, {"alpha": 0.0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            CategoricalNB(**{"classes": [0, 1], "bounds": (0, 2), **fields}).fit(X, y)  # type: ignore[arg-type]


def TWIN(model: Any) -> Any:
    """Scikit-learn's, on the same cells."""
    cells = [np.linspace(column.lower, column.upper, model.bins_ + 1)[1:-1] for column in model.columns_]

    def cut(X: np.ndarray) -> np.ndarray:
        return np.column_stack(
            [np.searchsorted(ends, x, side="right") for ends, x in zip(cells, np.asarray(X).T, strict=True)]
        )

    return make_pipeline(FunctionTransformer(cut), Exact(min_categories=model.bins_))


def test_cells_are_finer_where_there_is_less_noise() -> None:
    X, y = np.zeros((5, 1)), np.zeros(5)
    found = [
        CategoricalNB(classes=[0, 1], bounds=(-1, 1), epsilon=epsilon, expected_size=1000).fit(X, y).bins_
        for epsilon in (1.0, 10.0, 1000.0)
    ]
    assert found == [8, 16, 32]
