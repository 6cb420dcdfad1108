"""Weights of records: less of a record is learned, nothing more is given away, and what is no weight is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.fitting.task import Task
from discreet.learners import (
    LinearRegression,
    LinearSVC,
    LogisticRegression,
    PoissonRegressor,
    QuantileRegressor,
    Ridge,
)
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners.audited_transcript import check_fit, transcript

NUMBERS: list[type[Any]] = [LinearRegression, Ridge, PoissonRegressor, QuantileRegressor]
CLASSES: list[type[Any]] = [LogisticRegression, LinearSVC]


def two_lines(n: int = 6000, seed: int = 0) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Half of the records are on a line that rises, with weights, the others on one that falls, and have none."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-1, 1, (n, 2))
    up = rng.random(n) < 0.5
    y = 5 + np.where(up, 2.0, -2.0) * X[:, 0] + rng.normal(scale=0.3, size=n)
    return X, y, np.where(up, rng.uniform(0.6, 1.0, n), 0.0)


def made(kind: type[Any], **fields: Any) -> Any:
    public = {"target_bounds": (0.0, 10.0)} if kind in NUMBERS else {"classes": [0, 1]}
    return kind(**{"bounds": (-1, 1), "epsilon": 5.0, **public, **fields})


def table(X: np.ndarray, y: np.ndarray, weights: np.ndarray) -> tuple[np.ndarray, Schema]:
    columns = {**Schema.numeric(-1, 1, X.shape[1]).columns, "target": Number(0, 10), "trust": Number(-2, 1e6)}
    return np.column_stack([X, y, weights]), Schema(columns)


@pytest.mark.parametrize("kind", NUMBERS + CLASSES)
def test_records_without_weight_are_not_learned_from(kind: type[Any]) -> None:
    X, y, weights = two_lines()
    y = y if kind in NUMBERS else (y > 5).astype(int)
    slopes = np.ravel(made(kind).fit(X, y, weights).coef_), np.ravel(made(kind).fit(X, y, 1.0 - weights).coef_)
    alone = np.ravel(made(kind).fit(X[weights > 0], y[weights > 0]).coef_)
    np.testing.assert_allclose(slopes[0], alone, rtol=0.2, atol=0.1)
    assert slopes[1][0] < 0


def test_weights_of_a_half_are_as_half_as_many_records() -> None:
    X, y, _ = two_lines(4000)
    many = made(LinearRegression).fit(X, y, np.full(4000, 0.5))
    once = made(LinearRegression).fit(X[:2000], y[:2000])
    np.testing.assert_allclose(many.coef_stderr_, once.coef_stderr_, rtol=0.2)


def test_what_is_above_1_is_1_and_what_is_missing_or_negative_is_0() -> None:
    X, y, weights = two_lines()
    odd = np.where(weights > 0, [1e9] * len(X), np.where(X[:, 1] > 0, np.nan, -np.inf))
    model = made(Ridge).fit(X, y, odd)
    assert model.coef_[0] == pytest.approx(2.0, abs=0.15)


def test_weights_of_private_data_are_a_column_for_both_relations() -> None:
    X, y, weights = two_lines()
    records, schema = table(X, y, weights)
    for neighbors in Neighbors:
        data = PrivateData.of(records, schema, Budget(5.0, 1e-6), neighbors=neighbors)
        model = LinearRegression(target="target", epsilon=5.0).fit(data, sample_weight="trust")
        assert model.feature_names_in_.tolist() == ["x0", "x1"]
        assert model.coef_[0] == pytest.approx(2.0, abs=0.2)


def test_the_sum_of_weights_is_secret_where_the_number_of_records_is_public() -> None:
    records, schema = table(*two_lines(50))
    data = PrivateData.of(records, schema, Budget(5.0, 1e-6), neighbors=Neighbors.REPLACE)
    task = Task(data, ("x0", "x1"), "target", Budget(1.0), others=("trust",))
    assert task.public_size == 50
    assert task.weighted_by("trust").public_size is None
    assert task.weighted_by("trust").columns == ("x0", "x1", "target")


def test_a_retry_with_other_weights_is_refused() -> None:
    X, y, weights = two_lines(200)
    records, schema = table(X, y, weights)
    data = PrivateData.of(records, schema, Budget(5.0, 1e-6))
    first = LinearRegression(target="target", epsilon=1.0).fit(data, sample_weight="trust", key="once")
    again = LinearRegression(target="target", epsilon=1.0).fit(data, sample_weight="trust", key="once")
    np.testing.assert_array_equal(first.coef_, again.coef_)
    with pytest.raises(DiscreetError):
        LinearRegression(target="target", epsilon=1.0).fit(data, sample_weight="x1", key="once")


class Weighted:
    """A learner whose weights are in a column, as audits fit it."""

    def __init__(self, model: Any) -> None:
        self.model, self.epsilon, self.delta = model, model.epsilon, model.delta

    def fit(self, data: PrivateData) -> None:
        self.event_ = self.model.fit(data, sample_weight="trust").event_


@pytest.mark.parametrize("kind", [LinearRegression, LogisticRegression, PoissonRegressor])
def test_no_audit_refutes_a_weighted_fit_and_one_does_with_two_thirds_of_the_noise(kind: type[Any]) -> None:
    X, y, weights = two_lines(400)
    records, schema = table(np.tile(X, 4), y, weights)
    if kind is LogisticRegression:
        records[:, -2] = y > 5
        schema = Schema({**schema.columns, "target": Category((0, 1))})
    ends = (0.0, 10.0) if kind in NUMBERS else (0.0, 1.0)
    canaries = [np.array([*[a, b] * 4, end, 1e6]) for a in (-1.0, 1.0) for b in (-1.0, 1.0) for end in ends]
    check_fit(Weighted(kind(target="target")), records, schema, canaries)


def test_no_weight_moves_a_sum_by_more_than_its_bound() -> None:
    """Every sum of a fit, fused as it is asked, with a record of each weight and without it."""
    X, y, weights = two_lines(50)
    records, schema = table(X, y, weights)
    names = list(schema.columns)
    asked = [one for kind in NUMBERS for one in transcript(Weighted(kind(target="target")), records, schema)]
    for question, _ in asked:
        places = [names.index(name) for name in question.columns]
        assert question.total is not None
        for weight in (1e6, 1.0, 0.3, -1.0, np.nan):
            more = np.vstack([records, [1.0, -1.0, 10.0, weight]])
            moved = np.asarray(question.total(more[:, places])) - np.asarray(question.total(records[:, places]))
            assert np.linalg.norm(question.grid.values(moved.astype(np.float64))) <= question.bound.radius


def test_what_is_no_weight_is_refused_before_anything_is_spent() -> None:
    X, y, weights = two_lines(20)
    for wrong in (weights[:5], weights[:, None] * np.ones(2), 0.5):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            made(Ridge).fit(X, y, wrong)
    data = PrivateData.of(*table(X, y, weights), Budget(1.0, 1e-6))
    for name in ("absent", "target", weights):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            Ridge(target="target").fit(data, sample_weight=name)
    with pytest.raises(DiscreetError, match="no weights of records"):
        made(LogisticRegression, method="objective").fit(X, y > 5, weights)
