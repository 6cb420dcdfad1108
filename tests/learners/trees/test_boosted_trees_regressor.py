"""Private boosted trees for a number: steps and products, wherever the target is in its bounds, and outliers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.learners.anova.anova_fit import TargetStart
from discreet.learners.anova.anova_regressor import AnovaRegressor
from discreet.learners.trees.boosted_trees_regressor import FAR, BoostedTreesRegressor
from discreet.learners.trees.column_copula import ColumnCopula
from discreet.learners.trees.random_trees import Trees
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.questions.columns.column_trees import LEAVES
from discreet.releases.least_noise import SumPlan
from discreet.releases.spread import spread
from discreet.trust.permit import Permit
from tests.learners import trial
from tests.learners.audited_sum import check_sum, worst
from tests.learners.trees.test_boosted_trees_classifier import in_leaves
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    BoostedTreesRegressor(2, max_depth=2, max_iter=2, bounds=trial.BOUNDS, target_bounds=(-30.0, 30.0)),
    exemptions={"check_regressors_train": "its 200 records are too few for what it asks at epsilon 1"},
)
FIELDS: dict[str, Any] = {"bounds": (-1.0, 1.0), "target_bounds": (10.0, 30.0), "random_state": 0}


def TWIN(model: Any) -> Any:
    """An exact fit of the values of leaves of the same trees, whose splits are random."""
    return make_pipeline(in_leaves(model), Ridge())


def people(n: int = 10_000) -> tuple[Array, Array]:
    """A product of three signs, and noise."""
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 4))
    return X, np.clip(20 + 3 * np.sign(X[:, 0] * X[:, 1] * X[:, 2]) + rng.normal(size=n), 10, 30)


def test_it_learns_what_depends_on_three_features_at_once() -> None:
    X, y = people()
    known = {name: value for name, value in FIELDS.items() if name != "random_state"}
    assert AnovaRegressor(**known).fit(X, y).score(X, y) < 0.05
    assert BoostedTreesRegressor(**FIELDS).fit(X, y).score(X, y) > 0.2
    assert BoostedTreesRegressor(**FIELDS, delta=0.0, epsilon=10.0).fit(X, y).score(X, y) > 0.05


def test_wherever_the_target_is_in_its_bounds_and_whatever_a_few_records_say() -> None:
    rng = np.random.default_rng(1)
    X = rng.uniform(-1, 1, (10_000, 3))
    y = 20 + 3 * (X[:, 0] > 0) * (X[:, 1] > 0) + 0.5 * rng.normal(size=10_000)
    for ends in ((10.0, 30.0), (10.0, 300.0), (-300.0, 30.0)):
        assert BoostedTreesRegressor(**{**FIELDS, "target_bounds": ends}).fit(X, y).score(X, y) > 0.7
    odd = np.where(rng.random(10_000) < 0.02, 300.0, y)
    model = BoostedTreesRegressor(**{**FIELDS, "target_bounds": (10.0, 300.0)}).fit(X, odd)
    assert model.score(X, y) > 0.65


def test_features_that_repeat_one_another_are_seen_to_do_so() -> None:
    """Correlations of columns are those of records, nearly, and made-up records have them."""
    rng = np.random.default_rng(3)
    X = rng.normal(size=(20_000, 3)) @ np.array([[1.0, 0.9, 0.0], [0.0, 0.44, 0.0], [0.0, 0.0, 1.0]])
    kept: list[ColumnCopula] = []
    drawn = ColumnCopula.drawn

    def listening(own: ColumnCopula, rng: np.random.RandomState) -> Array:
        kept.append(own)
        return drawn(own, rng)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(ColumnCopula, "drawn", listening)
        BoostedTreesRegressor(2, bounds=(-5, 5), target_bounds=(-5, 5), epsilon=3.0).fit(X, X[:, 2].clip(-5, 5))
    np.testing.assert_allclose(kept[0].correlations, np.corrcoef(X.T), atol=0.05)
    made = kept[0].drawn(np.random.RandomState(0))
    np.testing.assert_allclose(np.corrcoef(made.T), np.corrcoef(X.T), atol=0.05)
    np.testing.assert_allclose(np.quantile(made, [0.1, 0.9], axis=0), np.quantile(X, [0.1, 0.9], axis=0), atol=0.1)


def test_residuals_are_shrunk_to_their_own_size_as_it_falls() -> None:
    """A target that trees explain: what is left of it gets smaller, and so does what it is shrunk to."""
    X = np.random.default_rng(4).uniform(-1, 1, (10_000, 2))
    y = np.where(X[:, 0] > 0, 25.0, 15.0) + 0.1 * X[:, 1]
    asked: list[float] = []
    with pytest.MonkeyPatch.context() as patched:
        listen(patched, lambda recipe: asked.append(recipe.parameters.get("residual", np.inf)))
        model = BoostedTreesRegressor(**FIELDS, epsilon=3.0).fit(X, y)
    asked = [one for one in asked if np.isfinite(one)]
    assert asked == sorted(asked, reverse=True)
    assert asked[0] == model.residual_ > FAR
    assert asked[-1] < asked[0] / 2
    assert model.score(X, y) > 0.95


def test_a_target_without_any_spread_and_columns_without_one_are_fitted() -> None:
    """After the charge nothing fails: sizes do not fall for ever, and one column has no correlations."""
    X, size = np.zeros((2000, 1)), 1.0
    for value in (10.0, 20.0, 30.0):
        model = BoostedTreesRegressor(4, **FIELDS, epsilon=100.0).fit(X, np.full(2000, value))
        assert model.predict(X[:1])[0] == pytest.approx(value, abs=0.1)
    for _ in range(40):
        size = model.resized(TargetStart((0.0,), 1.0, 100.0, 1.5, 1.0), size, 0.0)
    assert size >= 2.0**-16


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    fields = {**FIELDS, "n_estimators": 2, "epsilon": 0.5}
    assert 0.9e-6 < delta(BoostedTreesRegressor(**fields).fit(X, y).event_, 0.5) <= 1e-6
    assert pure_epsilon(BoostedTreesRegressor(**fields, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_its_sums_and_would_see_two_thirds_of_the_noise() -> None:
    """Without a delta, where what a record adds is bounded in l1."""
    model = BoostedTreesRegressor(2, max_depth=1, **FIELDS, epsilon=3.0, delta=0.0)
    task = model._task(np.zeros((1, 1)), np.array([20.0]), Budget(3.0, 1e-6))
    trees = Trees(np.zeros((2, 1)), np.array([[0.0], [0.5]]))
    question = model._gradients(task, trees, np.array([[0.0, 2, -2, 1, 0]]), (20.0,), 4.0, 0.8)
    record = worst(question, (-0.5, 0.2, 0.8, np.nan), (10.0, 15.0, 20.0, 25.0, 30.0, np.nan))
    noise = spread(task.data, question, Gaussian(1.0))
    check_sum(SumPlan(question, noise), record)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"n_estimators": 0}, {"max_depth": 12}, {"max_iter": 0}, {"epsilon": 0.0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            BoostedTreesRegressor(**{**FIELDS, **fields}).fit(X, y)


def test_equal_values_are_on_one_side_of_every_cut() -> None:
    """Of marks and of whole numbers, which are at the edges of cells: trees are cut where no value can be."""
    rng = np.random.default_rng(5)
    X = np.column_stack([rng.random(5000) < 0.2, rng.integers(0, 9, 5000)]).astype(np.float64)
    y = np.where(X[:, 0] > 0, X[:, 1], 8 - X[:, 1])
    fields: dict[str, Any] = {"bounds": (0.0, 8.0), "target_bounds": (0.0, 8.0), "random_state": 0}
    model = BoostedTreesRegressor(**fields, epsilon=3.0).fit(X, y)
    cells = model.cuts_ / 8 * LEAVES
    assert np.abs(cells - np.rint(cells)).max() < 1e-5
    assert (cells < np.rint(cells)).all()
    assert model.score(X, y) > 0.8


def test_where_noise_hides_what_leaves_say_predictions_are_constant() -> None:
    """Of 60 records at epsilon 0.3, with a delta and without."""
    X, y = people(1060)
    for price in (1e-6, 0.0):
        models = [BoostedTreesRegressor(**FIELDS, epsilon=0.3, delta=price).fit(X[:60], y[:60]) for _ in range(4)]
        assert all(model.n_iter_ == 0 and np.ptp(model.predict(X)) == 0 for model in models)
        assert np.mean([model.predict(X[:1])[0] for model in models]) == pytest.approx(20, abs=6)
    kept: list[str] = []
    with pytest.MonkeyPatch.context() as patched:
        listen(patched, lambda recipe: kept.append(recipe.name))
        BoostedTreesRegressor(**FIELDS, epsilon=0.3).fit(X[:60], y[:60])
    assert kept.count("winsorized") == 10  # all that the rounds were paid for


def listen(patched: pytest.MonkeyPatch, heard: Callable[[Any], None]) -> None:
    """Tell of every question that is asked."""
    ask = Permit.ask

    def listening(permit: Any, question: Any, mechanism: Any) -> Any:
        heard(question.recipe)
        return ask(permit, question, mechanism)

    patched.setattr(Permit, "ask", listening)


def test_where_there_is_hardly_noise_one_round_is_nearly_an_exact_fit() -> None:
    X, y = people()
    model = BoostedTreesRegressor(8, max_iter=1, **FIELDS, epsilon=1000.0).fit(X, y)
    assert model.score(X, y) > 0.9 * TWIN(model).fit(X, y).score(X, y) > 0.1
