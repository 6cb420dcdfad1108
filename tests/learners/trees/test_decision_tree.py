"""A private decision tree: it finds the splits, says its rules, and what it promises."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import log_loss, roc_auc_score
from sklearn.tree import DecisionTreeClassifier as Exact

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.neighbors import Neighbors
from discreet.learners.trees.decision_tree import DecisionTreeClassifier
from discreet.learners.trees.growth_plan import FromCounts, labelled_levels, leaf_shares
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from discreet.schema.schema import Category, Schema
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trees.test_random_forest import CLASSIFIER, rare
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(DecisionTreeClassifier(2, bounds=trial.BOUNDS, classes=[0, 1]), exemptions=CLASSIFIER)


def TWIN(model: Any) -> Any:
    """Scikit-learn's, as deep."""
    return Exact(max_depth=len(model.cuts_).bit_length(), random_state=0)


FIELDS: dict[str, Any] = {"classes": ["no", "yes"], "bounds": (-1.0, 1.0)}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    X = np.random.default_rng(0).uniform(-1, 1, (n, 3))
    return X, np.where(np.where(X[:, 0] > 0, X[:, 1] > 0.5, X[:, 2] > -0.5), "yes", "no")


@pytest.mark.parametrize("method", ["counts", "exponential"])
def test_it_finds_the_splits_and_says_its_rules(method: str) -> None:
    X, y = people()
    for price in (1e-6, 0.0):
        model = DecisionTreeClassifier(2, method=method, criterion="gini", **FIELDS, epsilon=2.0, delta=price).fit(X, y)
        assert model.score(X, y) > 0.97
    rules = [
        "x0 < 0",
        "|   x2 < -0.5: no",
        "|   x2 >= -0.5: yes",
        "x0 >= 0",
        "|   x1 < 0.5: no",
        "|   x1 >= 0.5: yes",
    ]
    assert model.export_text().splitlines() == rules


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    for method in ("counts", "exponential"):
        model = DecisionTreeClassifier(method=method, **FIELDS, epsilon=0.5).fit(X, y)
        assert 0.9e-6 < delta(model.event_, 0.5) <= 1e-6 if method == "counts" else delta(model.event_, 0.5) <= 1e-6
        model = DecisionTreeClassifier(method=method, **FIELDS, epsilon=0.5, delta=0.0).fit(X, y)
        assert pure_epsilon(model.event_) == pytest.approx(0.5)


def test_choices_are_better_than_counts_for_a_few_records() -> None:
    """Means over eight fits of 300 records: of 0.9 and 0.6, with deviations of 0.06 and 0.1."""
    X, y = people(300)
    chosen, counted = (
        np.mean([DecisionTreeClassifier(2, method=method, **FIELDS).fit(X, y).score(X, y) for _ in range(8)])
        for method in (None, "counts")
    )
    assert chosen > counted + 0.03


def test_so_few_records_that_choices_would_share_too_little_choose_a_labelled_tree() -> None:
    """One release, of a pure price; means of 12 and 48 fits, three classes: 0.97 and 0.79, deviations 0.01 and 0.02."""
    X = np.random.default_rng(1).uniform(-1, 1, (600, 3))
    y = (X[:, 0] > 0).astype(int) + ((X[:, 0] > 0) & (X[:, 1] > 0))
    kinds: dict[str, Any] = {"classes": range(3), "bounds": (-1.0, 1.0), "expected_size": 600}
    kinds |= {"epsilon": 0.08, "delta": 0.0}
    drawn = [DecisionTreeClassifier(random_state=seed, **kinds).fit(X, y) for seed in range(12)]
    chosen = [DecisionTreeClassifier(2, **kinds).fit(X, y) for _ in range(48)]
    assert pure_epsilon(drawn[0].event_) == pytest.approx(0.08)
    assert np.allclose(drawn[0].leaf_probabilities_.max(axis=1), 2 / 4)
    assert np.mean([model.score(X, y) for model in drawn]) > np.mean([model.score(X, y) for model in chosen]) + 0.1
    assert DecisionTreeClassifier(**kinds | {"epsilon": 1.0}).fit(X, y).leaf_probabilities_.max() > 2 / 4


def test_labelled_trees_are_as_deep_as_their_labels_can_be_compared() -> None:
    assert [labelled_levels(classes) for classes in (2, 16, 17, 256, 257)] == [2, 2, 1, 1, 0]
    X, y = np.zeros((5, 1)), np.zeros(5)
    for method, epsilon in (("labelled", 0.001), (None, 0.001)):
        model = DecisionTreeClassifier(method=method, classes=range(20), bounds=(-1, 1), epsilon=epsilon).fit(X, y)
        assert len(model.features_) == 1
    with pytest.raises(DiscreetError, match=r"more than 1,048,576 ways.*Nothing was released or spent"):
        DecisionTreeClassifier(3, method="labelled", classes=range(6), bounds=(-1, 1)).fit(X, y)


def test_an_entropy_is_chosen_by_where_the_number_of_records_is_public() -> None:
    X, y = people(3000)
    data = np.column_stack([X, y == "yes"]).astype(np.float64)
    schema = Schema({**Schema.numeric(-1.0, 1.0, 3).columns, "target": Category(("no", "yes"))})
    private = PrivateData.of(Matrix(data, schema), schema, Budget(5.0), neighbors=Neighbors.REPLACE)
    model = DecisionTreeClassifier(2, criterion="entropy", target="target", epsilon=5.0, delta=0.0).fit(private)
    assert np.mean(model.predict(pd.DataFrame(X, columns=["x0", "x1", "x2"])) == y) > 0.9
    with pytest.raises(DiscreetError, match=r"which is secret.*Nothing was released or spent"):
        DecisionTreeClassifier(2, criterion="entropy", **FIELDS).fit(X, y)


def test_a_tree_is_drawn_with_its_rules_and_as_few_leaves_as_say_the_same() -> None:
    X = np.random.default_rng(0).uniform(-1, 1, (2000, 2))
    data = np.column_stack([X, X[:, 0] >= 0.5]).astype(np.float64)
    schema = Schema({**Schema.numeric(-1.0, 1.0, 2).columns, "target": Category(("no", "yes"))})
    private = PrivateData.of(Matrix(data, schema), schema, Budget(20.0), bits=DeterministicBits(1))
    model = DecisionTreeClassifier(2, target="target", epsilon=20.0, delta=0.0).fit(private)
    assert model.export_text() == "x0 < 0.5: no\nx0 >= 0.5: yes"
    axes = Figure().add_subplot()
    assert model.plot(axes) is axes
    assert [text.get_text() for text in axes.texts] == ["no", "yes", "x0 < 0.5"]


def test_the_audit_does_not_refute_its_sums_and_would_see_two_thirds_of_the_noise() -> None:
    for price in (1e-6, 0.0):
        model = DecisionTreeClassifier(1, bins=2, method="counts", **FIELDS, epsilon=3.0, delta=price)
        task = model._task(np.zeros((1, 1)), np.array(["no"]), Budget(3.0, price))
        plan = model.plan(task)
        assert isinstance(plan, FromCounts)
        question = plan.growth.marginals(plan.growth.root, plan.norm)
        asked = SumPlan(question, spread(task.data, question, plan.noise))
        record = worst(asked.question, (-0.5, 0.5, np.nan), (0.0, 1.0, np.nan))
        check_sum(asked, record)


def test_it_has_as_many_levels_as_records_times_epsilon_pay_for() -> None:
    X, y = np.zeros((5, 1)), np.zeros(5)
    for size, levels in ((10, 2), (45, 1), (100, 2), (1000, 3), (5000, 5), (10**7, 8)):
        model = DecisionTreeClassifier(**FIELDS, epsilon=1.0, expected_size=size).fit(X, y)
        assert len(model.features_) == 2**levels - 1


def test_a_rare_class_is_told_apart_and_probabilities_are_no_worse_than_those_of_a_constant() -> None:
    """By the area under the curve and the log loss on others; a thousandth for noise."""
    X, y = rare(26_000)
    share = np.mean(y[:6000] == "in")
    constant = log_loss(y[6000:], np.tile([share, 1 - share], (20_000, 1)))
    for epsilon, least in ((0.3, 0.5), (1.0, 0.65), (10.0, 0.72)):
        fields: dict[str, Any] = {"classes": ["in", "out"], "bounds": (0.0, 60.0), "expected_size": 6000}
        found = DecisionTreeClassifier(**fields, epsilon=epsilon).fit(X[:6000], y[:6000]).predict_proba(X[6000:])
        assert log_loss(y[6000:], found) < constant + 0.001
        assert roc_auc_score(y[6000:] == "in", found[:, 0]) >= least


def test_the_less_is_known_of_a_leaf_the_closer_it_is_to_the_node_above_it() -> None:
    counts = np.array([[400.0, 100.0], [8.0, 2.0], [0.0, 20.0], [-3.0, 1.0]])
    exact, noisy = leaf_shares(counts, 0.0), leaf_shares(counts, 10.0)
    np.testing.assert_allclose(exact.sum(axis=1), 1.0)
    np.testing.assert_allclose(exact[0], [0.8, 0.2], atol=0.01)
    whole = counts[:, 1].sum() / counts.sum()
    assert exact[2, 1] > noisy[2, 1] > whole
    assert (exact > 0).all()


def test_cells_are_as_many_as_can_be_counted() -> None:
    X, y = np.zeros((5, 40)), np.zeros(5)
    model = DecisionTreeClassifier(**{**FIELDS, "classes": range(8)}, epsilon=1000.0).fit(X, y)
    assert len(model.features_) == 2**8 - 1


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"max_depth": 0}, {"max_depth": 11}, {"bins": 1}, {"epsilon": 0.0}, {"criterion": "chi2"}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            DecisionTreeClassifier(**{**FIELDS, **fields}).fit(X, y)
