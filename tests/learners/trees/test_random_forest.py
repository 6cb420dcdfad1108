"""A private random forest: accurate, deeper where there is less noise, and what it promises."""

from __future__ import annotations

import itertools
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.ensemble import RandomForestClassifier as Exact
from sklearn.metrics import log_loss

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.audit.trial import judged
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import Repeated
from discreet.core.neighbors import Neighbors
from discreet.learners.trees.forest_plan import StagedForest
from discreet.learners.trees.random_forest import RandomForestClassifier
from discreet.learners.trees.random_trees import sample_question
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.selection.exponential import PermuteAndFlip
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.trees.scores import leaf_counts_of
from discreet.releases.least_noise import SumPlan
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trial import LearnerTrial

CLASSIFIER = {
    "check_classifiers_train": "its classes are taken from the data, three and two of them",
    "check_classifiers_classes": "its classes are taken from the data, texts and numbers",
    "check_classifiers_regression_target": "classes are public: what is not listed counts for nothing",
}

TRIAL = LearnerTrial(RandomForestClassifier(4, max_depth=3, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)


def TWIN(_: Any) -> Any:
    """Scikit-learn's, with its defaults."""
    return Exact(random_state=0)


FIELDS: dict[str, Any] = {"classes": ["in", "out"], "bounds": (-1.0, 1.0), "random_state": 0}
BITS = DeterministicBits(0)


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(X[:, 0] ** 2 + X[:, 1] ** 2 < 0.5, "in", "out")


def test_it_learns_what_no_line_separates() -> None:
    X, y = people()
    for price in (1e-6, 0.0):
        assert RandomForestClassifier(**FIELDS, epsilon=2.0, delta=price).fit(X, y).score(X, y) > 0.85


def test_a_rare_class_is_not_made_frequent() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (10_000, 3))
    y = np.where(X[:, 0] > 0.6, "out", "in")
    model = RandomForestClassifier(**FIELDS, epsilon=1.0).fit(X, y)
    assert model.score(X, y) > 0.9
    np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    assert delta(RandomForestClassifier(**FIELDS, epsilon=0.5).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(RandomForestClassifier(**FIELDS, epsilon=0.5, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_trees_are_deeper_and_more_where_there_is_less_noise() -> None:
    X, y = people(10)
    shapes = [
        RandomForestClassifier(**FIELDS, epsilon=epsilon, delta=0.0, expected_size=500).fit(X, y).cuts_.shape
        for epsilon in (0.1, 1.0, 10.0)
    ]
    assert shapes == sorted(shapes)
    assert len(set(shapes)) == 3


def test_what_trees_split_comes_from_the_random_state_alone_and_where_from_it_and_noisy_quantiles() -> None:
    X, y = people(50)
    first, other = (RandomForestClassifier(**FIELDS).fit(some, y) for some in (X, -X))
    np.testing.assert_array_equal(first.features_, other.features_)
    few = [RandomForestClassifier(4, max_depth=2, **FIELDS, expected_size=50).fit(some, y).cuts_ for some in (X, -X)]
    np.testing.assert_array_equal(few[0], few[1])


def sums(price: float) -> list[SumPlan | None]:
    """What a fit asks: the cells of the columns, the counts of the leaves, the scores."""
    model = RandomForestClassifier(4, max_depth=1, **FIELDS, epsilon=3.0, delta=price)
    task = model._task(np.zeros((1, 1)), np.array(["in"]), Budget(3.0, price))
    plan = model.plan(task)
    assert isinstance(plan, StagedForest)
    own = plan.counts
    leaves = SumPlan(sample_question(task, own.trees, own.depth, own.norm), own.spread)
    return [plan.cells, leaves, plan.scores]


def audit(asked: SumPlan | None) -> None:
    assert asked is not None
    axes = ((-0.5, 0.5, np.nan), (0.0, 1.0, np.nan))
    check_sum(asked, worst(asked.question, *axes[: len(asked.question.columns)]))


def test_the_audit_does_not_refute_its_sum_and_would_see_two_thirds_of_the_noise() -> None:
    for asked in (*sums(1e-6), *sums(0.0)[1:]):
        audit(asked)


@pytest.mark.slow
def test_nor_does_it_refute_cells_without_a_delta() -> None:
    """A thousand numbers of discrete noise, many times."""
    audit(sums(0.0)[0])


def test_a_few_trees_that_are_chosen_are_better_for_a_few_records() -> None:
    """Means over five seeds: of 0.96 and 0.75, with deviations of 0.03 and 0.1 for each."""
    X = np.random.default_rng(0).uniform(-1, 1, (300, 6))
    y, scores = np.where(X[:, 0] > 0.2, "in", "out"), []
    for number in (None, 1):
        fields: dict[str, Any] = {**FIELDS, "epsilon": 0.3, "n_candidates": number, "expected_size": 300}
        models = (RandomForestClassifier(**{**fields, "random_state": seed}) for seed in range(5))
        scores.append(np.mean([model.fit(X, y).score(X, y) for model in models]))
    assert scores[0] > scores[1] + 0.05


def test_a_fit_that_chooses_costs_what_it_says_and_pays_no_delta() -> None:
    X, y = people(10)
    for trees in (1, 3):
        model = RandomForestClassifier(trees, n_candidates=8, **FIELDS, epsilon=0.5).fit(X, y)
        assert pure_epsilon(model.event_) == pytest.approx(0.5)
        assert model.cuts_.shape == (trees, 7)
        for odd in (X[:0], np.full((5, 3), np.nan), np.full((5, 3), 1e308)):
            again = RandomForestClassifier(trees, n_candidates=8, **FIELDS, epsilon=0.5).fit(odd, y[: len(odd)])
            assert again.event_ == model.event_
            assert again.leaf_values_.shape == model.leaf_values_.shape


def test_one_tree_is_printed_and_drawn() -> None:
    X, y = people(300)
    model = RandomForestClassifier(2, n_candidates=8, max_depth=2, **FIELDS, epsilon=20.0).fit(X, y)
    axes = Figure().add_subplot()
    assert model.plot(axes, place=1) is axes
    drawn = [text.get_text() for text in axes.texts if " < " in text.get_text()]
    assert drawn
    assert all(rule in str(model.tree(1)) for rule in drawn)


def test_nobody_can_choose_trees_who_does_not_hold_all_records() -> None:
    X, _ = people(10)
    for number, refused in ((None, False), (8, True)):
        data = PrivateData(Local(TRIAL.source(X)), MemoryLedger(trial.BUDGET))
        model = TRIAL.of_private().set_params(n_candidates=number)
        with pytest.raises(DiscreetError, match="takes a curator") if refused else nullcontext():
            model.fit(data)


def test_the_audit_of_labels_does_not_refute_them_and_would_see_a_record_in_two_leaves() -> None:
    """A record is replaced, and so leaves one leaf and joins another: the worst of all pairs of two records or less."""
    schema = Schema({"x0": Number(-1, 1), "target": Category(("in", "out"))})
    leaves = leaf_counts_of(schema, ("x0",), "target", np.zeros((1, 1)), np.zeros((1, 1)))
    grid = [np.array([[x, kind]]) for x in (-0.5, 0.5) for kind in (0.0, 1.0)]
    mechanism = PermuteAndFlip(2.0)
    for neighbors, holds in ((Neighbors.REPLACE, True), (Neighbors.ADD_REMOVE, False)):  # as if one only joined
        verdicts = []
        for first, second in itertools.combinations(grid, 2):
            answers = [leaves.answer(CuratorsView(Matrix(rows, schema), neighbors, BITS)) for rows in (first, second)]
            found = [mechanism.release(one.stacked(60_000), DeterministicBits(i)) for i, one in enumerate(answers)]
            verdicts.append(judged(mechanism.event, *(labels @ [1, 2] for labels in found)).holds)
        assert all(verdicts) == holds


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"n_estimators": 0}, {"max_depth": 17}, {"epsilon": 0.0}, {"n_candidates": 0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            RandomForestClassifier(**{**FIELDS, **fields}).fit(X, y)


def rare(n: int = 6000) -> tuple[np.ndarray, np.ndarray]:
    """One in twelve is "in", by an amount of which few are large, and by a mark; between 0 and 60."""
    rng = np.random.default_rng(2)
    X = np.column_stack([np.exp(rng.normal(size=n)), 60.0 * (rng.random(n) < 0.2), rng.uniform(0, 60, n)])
    odds = 1.2 * np.log(X[:, 0]) + X[:, 1] / 60 - 3.3
    return np.clip(X, 0, 60), np.where(rng.random(n) < 1 / (1 + np.exp(-odds)), "in", "out")


def test_its_probabilities_are_no_worse_than_those_of_a_constant() -> None:
    """By the log loss on others, where a class is rare and an amount has a heavy tail; a thousandth for noise."""
    X, y = rare(26_000)
    share = np.mean(y[:6000] == "in")
    constant = log_loss(y[6000:], np.tile([share, 1 - share], (20_000, 1)))
    for epsilon, better in ((0.3, -0.001), (1.0, 0.01), (10.0, 0.02)):
        fields = {**FIELDS, "bounds": (0.0, 60.0), "expected_size": 6000}
        model = RandomForestClassifier(**fields, epsilon=epsilon).fit(X[:6000], y[:6000])
        assert log_loss(y[6000:], model.predict_proba(X[6000:])) < constant - better


def test_where_noise_is_small_each_split_is_one_of_a_few_and_the_fit_costs_what_it_says() -> None:
    """Without a delta choices are dearer, and splits random up to a larger epsilon."""
    X, y = people(2000)
    for epsilon, price in ((60.0, 1e-6), (600.0, 0.0)):
        fields = {**FIELDS, "expected_size": 2000, "delta": price}
        model = RandomForestClassifier(3, max_depth=3, **fields, epsilon=epsilon).fit(X, y)
        task = model._task(X, y, Budget(epsilon, price))
        plan = model.plan(task)
        assert isinstance(plan, StagedForest)
        assert plan.choice is not None
        assert plan.event == model.event_
        assert (delta(plan.event, epsilon) if price else pure_epsilon(plan.event) - epsilon) <= max(price, 1e-9)
        assert Repeated(plan.choice.event, 9) in plan.event.events  # type: ignore[attr-defined]
        assert model.score(X, y) > 0.85
    few = RandomForestClassifier(**FIELDS, expected_size=2000, delta=0.0, epsilon=60.0)
    random = few.plan(few._task(X, y, Budget(60.0, 0.0)))
    assert isinstance(random, StagedForest)
    assert random.choice is None


def test_a_single_tree_of_labels_is_not_certain() -> None:
    X, y = people(60)
    for classes in (["in", "out"], ["in", "out", "else"]):
        fields = {**FIELDS, "classes": classes, "expected_size": 60, "epsilon": 0.3}
        found = RandomForestClassifier(1, n_candidates=4, **fields).fit(X, y).predict_proba(X)
        np.testing.assert_allclose(found.max(axis=1), 2 / (1 + len(classes)))
        np.testing.assert_allclose(found.sum(axis=1), 1.0)
