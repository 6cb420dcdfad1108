"""A private ANOVA classifier: pairs, rare classes, categories, missing values, and what it promises."""

from __future__ import annotations

import itertools
from typing import Any
from unittest.mock import patch

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.audit.trial import judged
from discreet.core.answer import Answer
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError, ParameterError
from discreet.core.events import Composed, LaplaceLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.learners.anova import anova_model
from discreet.learners.anova.anova_classifier import AnovaClassifier
from discreet.learners.trees.additive_classifier import AdditiveClassifier
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.columns.column_trees import LEAVES
from discreet.questions.gradients.anova_features import AnovaFeatures
from discreet.questions.gradients.anova_gradients import anova_gradients_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_sum import check, seen
from tests.learners.audited_transcript import audited_fit, check_fit, transcript
from tests.learners.trees.test_random_forest import CLASSIFIER
from tests.learners.trial import LearnerTrial
from tests.questions.gradients.test_anova_gradients import CLASSES
from tests.questions.gradients.test_anova_gradients import people as records_of
from tests.questions.trial import SCHEMA

TRIAL = LearnerTrial(AnovaClassifier(max_iter=2, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)
FIELDS: dict[str, Any] = {"classes": ["in", "out"], "bounds": (-1.0, 1.0)}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    """Classes that neither feature alone tells apart."""
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 0] * X[:, 1] > 0, "in", "out")


def test_it_learns_what_no_sum_of_single_features_does() -> None:
    X, y = people()
    assert AdditiveClassifier(**FIELDS, epsilon=1.0).fit(X, y).score(X, y) < 0.6
    for price in (1e-6, 0.0):
        model = AnovaClassifier(**FIELDS, interactions=True, epsilon=1.0, delta=price).fit(X, y)
        assert model.score(X, y) > 0.85


def test_without_a_delta_there_are_no_pairs_by_default() -> None:
    X, _ = people()
    y = np.where(np.abs(X[:, 0]) > 0.5, "in", "out")
    model = AnovaClassifier(**FIELDS, epsilon=1.0, delta=0.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.pairs_.shape == (0, 2)


def test_bounds_ten_times_too_wide_cost_little() -> None:
    X, y = people()
    model = AnovaClassifier(classes=["in", "out"], bounds=(-10, 10), epsilon=1.0).fit(X, y)
    assert model.score(X, y) > 0.85


def test_rates_of_a_rare_class_and_of_a_rare_mark_are_right() -> None:
    """One in twelve is positive, and no more among the one in twenty with a mark."""
    rng = np.random.default_rng(1)
    X = np.column_stack([rng.normal(size=(20_000, 2)).clip(-4, 4), rng.random(20_000) < 0.05])
    y = (rng.random(20_000) < 1 / (1 + np.exp(2.9 - X[:, 0]))).astype(int)
    model = AnovaClassifier(classes=[0, 1], bounds=(-4, 4), epsilon=1.0).fit(X, y)
    found, marked = model.predict_proba(X)[:, 1], X[:, 2] > 0
    assert found.mean() == pytest.approx(y.mean(), rel=0.2)
    assert found[marked].mean() == pytest.approx(y[marked].mean(), rel=0.4)


def test_three_classes_have_a_score_each() -> None:
    X, _ = people()
    y = np.where(X[:, 0] < -0.3, "a", np.where(X[:, 0] < 0.3, "b", "c"))
    model = AnovaClassifier(classes=["a", "b", "c"], bounds=(-1, 1), epsilon=2.0).fit(X, y)
    assert model.score(X, y) > 0.9
    assert model.shapes_.shape[:2] == (3, 3)
    np.testing.assert_allclose(model.predict_proba(X[:9]).sum(axis=1), 1.0)


def test_what_is_explained_adds_up_to_the_scores() -> None:
    X, y = people()
    model = AnovaClassifier(**FIELDS).fit(X, y)
    terms = model.explain(X[:50])
    assert terms.shape == (50, len(model.term_names), 1)
    np.testing.assert_allclose(terms.sum(axis=1) + model.intercept_, model.scores(X[:50]))
    assert model.term_names[np.argmax(model.deviations())] == "x0 and x1"


def test_a_missing_value_adds_nothing_and_its_record_counts() -> None:
    X, y = people()
    X[:, 2] = np.nan
    model = AnovaClassifier(**FIELDS, epsilon=1.0).fit(X, y)
    assert model.score(X, y) > 0.85
    np.testing.assert_allclose(model.scores(np.full((1, 3), np.nan)), [model.intercept_])
    np.testing.assert_array_equal(model.explain(X[:5])[:, 2], 0.0)


def test_categories_are_used_or_refused_before_anything_is_spent() -> None:
    rng = np.random.default_rng(2)
    kinds = rng.choice(["a", "b", "c"], 8000, p=[0.5, 0.3, 0.2])
    x = rng.uniform(-1, 1, 8000)
    table = {"x": x, "kind": kinds, "y": np.where((kinds == "b") ^ (x > 0), "u", "v")}
    known: dict[str, Any] = {"x": Number(-1, 1), "kind": Category(("a", "b", "c")), "y": Category(("u", "v"))}
    data = PrivateData.of(table, Schema(known), Budget(1.0, 1e-6))
    model = AnovaClassifier(target="y").fit(data)
    rows = pd.DataFrame({"x": x, "kind": kinds})
    assert np.mean(model.predict(rows) == table["y"]) > 0.9
    assert model.plot(Figure().add_subplot(), feature=1).get_xlabel() == "kind"
    refused: list[tuple[Category, dict[str, Any]]] = [
        (Category(tuple(range(200))), {}),
        (known["kind"], {"monotonic_cst": {"kind": 1}}),
    ]
    for column, fields in refused:
        data = PrivateData.of(table, Schema({**known, "kind": column}), Budget(1.0, 1e-6))
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            AnovaClassifier(target="y", **fields).fit(data)


def test_units_with_several_rows_pay_for_all_of_them() -> None:
    """A person with up to two rows: noise is twice as large, and classes are found."""
    X, y = people(20_000)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y, "who": np.arange(20_000) // 2}
    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": Category(("in", "out"))})
    data = PrivateData.of(table, schema, Budget(2.0, 1e-6), unit=Unit("user", "who", 2))
    assert (
        np.mean(
            AnovaClassifier(target="y", epsilon=2.0).fit(data).predict(pd.DataFrame(X[:, :2], columns=["a", "b"])) == y
        )
        > 0.85
    )


def test_functions_and_surfaces_are_drawn_with_their_bands() -> None:
    X, y = people()
    model = AnovaClassifier(**FIELDS, epsilon=3.0).fit(X, y)
    axes = model.plot(Figure().add_subplot(), feature=1)
    assert (axes.get_xlabel(), len(axes.lines), len(axes.collections)) == ("x1", 1, 1)
    surface = model.plot(Figure().add_subplot(), pair=(1, 0))
    assert (surface.get_xlabel(), surface.get_ylabel()) == ("x0", "x1")
    assert (
        0.3 < np.ma.getmaskarray(np.ma.asarray(surface.collections[0].get_array())).mean() + 0.3 < 1
    )  # near the axes it is 0
    assert len(model.plot(Figure().add_subplot()).patches) == 6
    with pytest.raises(ParameterError, match="no function"):
        model.plot(Figure().add_subplot(), pair=(0, 7))


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert 0.9e-6 < delta(AnovaClassifier(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(AnovaClassifier(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_where_noise_hides_all_functions_the_rounds_count_the_classes() -> None:
    """Of 300 records at a pure epsilon of 0.3, of which one in ten is in; the share was 0.3 or so with one count."""
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-1, 1, (300, 3)), np.where(rng.random(300) < 0.1, "in", "out")
    model = AnovaClassifier(classes=["in", "out"], bounds=(-1, 1), epsilon=0.3, delta=0.0)
    assert np.median([model.fit(X, y).predict_proba(X[:2])[0, 0] for _ in range(9)]) < 0.2
    with patch.multiple(anova_model, HIDDEN=np.inf, DIM=np.inf):
        assert np.ptp(model.fit(X, y).predict_proba(X)[:, 0]) == 0
    assert model.n_iter_ == 0


def test_of_so_few_records_as_are_known_the_whole_budget_counts_the_classes() -> None:
    rng = np.random.default_rng(6)
    X, y = rng.uniform(-1, 1, (100, 3)), np.where(np.arange(100) < 20, "in", "out")
    model = AnovaClassifier(classes=["in", "out"], bounds=(-1, 1), epsilon=0.3, expected_size=100)
    found = [model.fit(X, y).predict_proba(X)[:, 0] for _ in range(25)]
    assert model.n_iter_ == 0
    assert np.ptp(found, axis=1).max() == 0
    assert np.median(found) == pytest.approx(0.2, abs=0.06)
    assert isinstance(model.event_, LaplaceLoss)
    assert isinstance(model.set_params(expected_size=5000).fit(X, y).event_, Composed)


def test_the_audit_does_not_refute_a_fit_and_would_see_two_thirds_of_the_noise() -> None:
    """All that a fit releases but its trees, on the record of a grid that shows most in it."""
    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": Category(("in", "out"))})
    grid = np.array(list(itertools.product((-1.0, -0.3, 0.4, 1.0, np.nan), (-1.0, 0.2, 1.0), (0.0, 1.0))))
    check_short(AnovaClassifier(target="y", max_iter=2, epsilon=3.0), many(grid), schema, grid)


@pytest.mark.slow
def test_the_audit_does_not_refute_a_fit_with_its_trees() -> None:
    schema = Schema({"a": Number(-1, 1), "y": Category(("in", "out"))})
    grid = np.array(list(itertools.product((-1.0, -0.3, 0.4, 1.0, np.nan), (0.0, 1.0))))
    check_fit(AnovaClassifier(target="y", max_iter=1, epsilon=3.0), many(grid), schema, grid)


def many(grid: np.ndarray) -> np.ndarray:
    """So many records that noise does not hide all functions, and their sums are asked."""
    return np.tile(np.nan_to_num(0.7 * grid), (20, 1))


def check_short(model: Any, records: np.ndarray, schema: Schema, canaries: np.ndarray) -> None:
    """As `check_fit`, of all sums but the trees of columns, which are long."""
    heard = [asked for asked in transcript(model, records, schema) if asked[0].size < LEAVES]
    assert len(heard) >= 4
    assert sum("gradients" in str(question.recipe) for question, _ in heard) == 2
    check(lambda share, runs: audited_fit(model, heard, schema, list(canaries), share, runs), 5000)


def refuted(question: Any, record: np.ndarray) -> bool:
    """Whether an audit of the fused sum sees this record through Gaussian noise for the bound."""
    noise, row = Gaussian(0.4), question.total(record[None, :])
    released = []
    for bits, steps in enumerate((np.zeros_like(row), row)):
        many = np.tile(steps.astype(np.int64), (20_000, 1))
        noisy = noise.release(
            Answer(many, question.grid, question.bound, Neighbors.ADD_REMOVE), DeterministicBits(bits)
        )
        released.append(seen(noisy, question.grid.values(row), "l2", True))
    return not judged(noise.event, *released).holds


def test_an_audit_sees_pulls_that_are_not_shrunk() -> None:
    """Twins that leave out either bound: of features, or of residuals. Such a recipe is not even built."""
    question = anova_gradients_of(SCHEMA, **{**CLASSES, "reach": 0.125, "residual": 0.25})
    records = np.column_stack([records_of(20), np.ones(26)])
    worst = records[np.argmax(np.abs(question.of(records)).max(axis=1))]
    twins = (
        patch.object(AnovaFeatures, "factors", lambda self, cells: np.ones(cells.shape[1])),
        patch("discreet.questions.gradients.anova_gradients.lengths", lambda away, norm: np.zeros(away.shape[1])),
    )
    assert not refuted(question, worst)
    for number, twin in enumerate(twins):
        with twin:
            assert refuted(question, worst)
            with pytest.raises(ParameterError, match="fused sum"):
                anova_gradients_of(SCHEMA, **{**CLASSES, "reach": 0.125, "residual": 0.26 + 0.01 * number})


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    wrong = (
        {"max_iter": 0},
        {"epsilon": 0.0},
        {"classes": ["in"]},
        {"monotonic_cst": [1, 0]},
        {"monotonic_cst": [2, 0, 0]},
    )
    for fields in wrong:
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            AnovaClassifier(**{**FIELDS, **fields}).fit(X, y)
