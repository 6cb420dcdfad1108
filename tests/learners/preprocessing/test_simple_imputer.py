"""The private imputer: what is usual is close to the exact one, inside its bounds, and paid for."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Unit
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.category_encoder import OneHotEncoder
from discreet.learners.preprocessing.scalers import StandardScaler
from discreet.learners.preprocessing.simple_imputer import SimpleImputer
from discreet.learners.selection.evaluate import evaluate
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.releases.least_noise import SumPlan
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.audited_sum import check_sum
from tests.learners.preprocessing.test_scalers import TRANSFORMERS
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(SimpleImputer(bounds=trial.BOUNDS), exemptions=TRANSFORMERS)
SCHEMA = Schema({"age": Number(0, 100), "town": Category(("a", "b", "c"))})


def people(n: int = 20_000) -> np.ndarray:
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.gamma(4, 8, n).clip(0, 100), rng.choice([0, 1, 1, 2], n)]).astype(float)
    rows[rng.random((n, 2)) < 0.3] = np.nan
    return rows


def words(rows: np.ndarray) -> np.ndarray:
    """Places as values."""
    towns = np.array(["a", "b", "c", None], dtype=object)
    places = np.where(np.isnan(rows[:, 1]), 3, rows[:, 1]).astype(int)
    return np.column_stack([rows[:, 0].astype(object), towns[places]])


@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_what_is_usual_is_close_to_the_exact_one(price: float) -> None:
    rows = people()
    there = rows[~np.isnan(rows[:, 0]), 0]
    for strategy, exact in (("mean", there.mean()), ("median", np.median(there)), ("most_frequent", 24.0)):
        model = SimpleImputer(strategy, bounds=SCHEMA, epsilon=1.0, delta=price).fit(words(rows))
        assert model.statistics_[0] == pytest.approx(exact, abs=6.5 if strategy == "most_frequent" else 2.0)
        assert model.statistics_[1] == 1.0
        assert delta(model.event_, 1.0) <= price
    assert pure_epsilon(model.event_) <= 1.0 or price


def test_only_what_is_missing_is_replaced_and_marked() -> None:
    model = SimpleImputer("constant", fill_value={"age": 7.0}, add_indicator=True, bounds=SCHEMA).fit(words(people(5)))
    found = model.transform(np.array([[None, "c"], [31.0, "?"]], dtype=object))
    np.testing.assert_array_equal(found, [[7.0, 2.0, 1.0, 0.0], [31.0, 0.0, 0.0, 1.0]])
    names = ["x0", "x1", "missingindicator_x0", "missingindicator_x1"]
    assert list(model.get_feature_names_out()) == names
    assert model.receipt_.epsilon == 0.0


def test_the_mean_of_no_records_is_near_the_middle() -> None:
    """Noise over noise would be at one of the bounds in half of the columns."""
    found = SimpleImputer(bounds=(-1, 1), epsilon=1.0).fit(np.full((5, 60), np.nan)).statistics_
    assert np.median(np.abs(found)) < 0.45
    assert np.abs(found).max() > 0


def test_it_stays_between_the_bounds_whatever_the_noise() -> None:
    for strategy in ("mean", "median", "most_frequent"):
        for seed in range(20):
            rows = np.full((seed % 3, 2), np.nan)
            model = SimpleImputer(strategy, bounds=([0, 5], [1, 6]), epsilon=0.01).fit(rows)
            assert 0 <= model.statistics_[0] <= 1
            assert 5 <= model.statistics_[1] <= 6


def test_a_pipeline_learns_from_records_with_missing_values_and_predicts_for_them() -> None:
    rows = people()
    y = np.where(np.isnan(rows[:, 1]), 0, rows[:, 1] == 2).astype(int)
    steps = [("fill", SimpleImputer(add_indicator=True)), ("scale", StandardScaler()), ("mark", OneHotEncoder())]
    model = PrivatePipeline([*steps, ("fit", LogisticRegression())], bounds=SCHEMA, classes=[0, 1], epsilon=3.0)
    assert model.fit(words(rows), y).score(words(rows), y) > 0.95


def test_units_of_several_rows_and_parties_are_imputed() -> None:
    rows = people(3000)
    y = (np.nan_to_num(rows[:, 0], nan=30.0) > 40).astype(float)
    schema = Schema({**SCHEMA.columns, "y": Category((0, 1))})
    steps: list[tuple[str, Any]] = [("fill", SimpleImputer("median")), ("mark", OneHotEncoder())]
    pipeline = PrivatePipeline([*steps, ("fit", LogisticRegression(max_iter=3))], target="y", epsilon=30.0)
    frame = pd.DataFrame({"age": rows[:, 0], "town": words(rows)[:, 1], "y": y, "who": np.arange(3000) // 3})
    unit = Unit("user", column="who", rows=3)
    data = PrivateData.of(frame, schema, Budget(30.0, 1e-6), unit=unit)
    classes, features = y.astype(int).astype(str), frame[["age", "town"]]
    assert pipeline.fit(data).score(features, classes) > 0.75
    parts = {f"p{i}": Matrix(np.column_stack([rows, y])[i::3], schema) for i in range(3)}
    private = PrivateData(SecureSum.rehearsal(parts, schema, threshold=2), MemoryLedger(Budget(40.0, 1e-5)))
    assert pipeline.fit(private).score(features, classes) > 0.75
    found = evaluate(pipeline, private, target="y", epsilon=9.0)
    assert found.accuracy.value == pytest.approx(pipeline.score(features, classes), abs=0.03)


def test_no_audit_refutes_it_and_one_does_with_two_thirds_of_the_noise() -> None:
    """Each feature is one mark, or one unit of mass."""
    for strategy in ("mean", "median"):
        model = SimpleImputer(strategy, bounds=SCHEMA, epsilon=3.0, delta=0.0)
        task = model._task(words(people(3)), None, Budget(3.0))
        plan = model.plan(task)
        for question, spread in zip(model._questions(task), plan.spreads, strict=True):
            check_sum(SumPlan(question, spread), np.array([1.0 if question.columns == ("town",) else 100.0]))


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    for fields in (
        {"strategy": "knn"},
        {"fill_value": 3.0},
        {"strategy": "constant", "fill_value": 300.0},
        {"strategy": "constant", "fill_value": {"town": "z"}},
        {"strategy": "constant", "fill_value": {"height": 1.0}},
        {"epsilon": 0.0},
    ):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            SimpleImputer(**{"bounds": SCHEMA, **fields}).fit(words(people(3)))  # type: ignore[arg-type]
