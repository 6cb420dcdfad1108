"""A private ANOVA regression: means, quantiles and counts, wherever the target is in its bounds."""

from __future__ import annotations

import itertools
from typing import Any
from unittest.mock import Mock, patch

import numpy as np
import pytest
from matplotlib.figure import Figure
from sklearn.metrics import mean_gamma_deviance, mean_pinball_loss, mean_poisson_deviance

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.events import LaplaceLoss
from discreet.core.neighbors import Neighbors
from discreet.learners.anova import anova_fit, anova_model
from discreet.learners.anova.anova_regressor import AnovaRegressor
from discreet.learners.trees.additive_regressor import AdditiveRegressor
from discreet.schema.schema import Number, Schema
from discreet.statistics.moments.mean import mean
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.anova.test_anova_classifier import check_short, many
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    AnovaRegressor(max_iter=2, bounds=trial.BOUNDS, target_bounds=(-30.0, 30.0)),
    exemptions={
        "check_regressors_train": "its 200 records are too few for what it asks at epsilon 1",
        "check_non_transformer_estimators_n_iter": "of its 150 records noise may hide all functions: then it is 0",
    },
)
FIELDS: dict[str, Any] = {"bounds": (-1.0, 1.0), "target_bounds": (10.0, 30.0), "epsilon": 1.0}


def people(n: int = 10_000) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 3))
    return X, 20 + 3 * np.cos(4 * X[:, 0]) + 4 * X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=n)


def test_it_learns_what_no_sum_of_single_features_does() -> None:
    X, y = people()
    assert AdditiveRegressor(**FIELDS).fit(X, y).score(X, y) < 0.8
    assert AnovaRegressor(**FIELDS).fit(X, y).score(X, y) > 0.95
    assert AnovaRegressor(**FIELDS, delta=0.0).fit(X, y).score(X, y) > 0.5  # without pairs, 0.72 at most


def test_wherever_the_target_is_in_its_bounds_and_however_wide_these_are() -> None:
    X, y = people()
    for low, high, width in ((10, 400, 1), (-400, 30, 1), (-100, 100, 10)):
        fields = {**FIELDS, "target_bounds": (low, high), "bounds": (-width, width)}
        assert AnovaRegressor(**fields).fit(X, y).score(X, y) > 0.93


def test_its_shapes_are_the_functions_that_are_added_within_their_bands() -> None:
    X, y = people(50_000)
    model = AnovaRegressor(**{**FIELDS, "epsilon": 5.0}).fit(X, y)
    middles = (model.edges_[0, 1:] + model.edges_[0, :-1]) / 2
    truth = 3 * np.cos(4 * middles)
    truth -= truth @ model.cell_shares_[0]
    assert np.sqrt(np.square(model.shapes_[0, 0] - truth) @ model.cell_shares_[0]) < 0.2
    surface = model.functions_[1].T @ model.pair_coef_[0, model.pairs_.tolist().index([1, 2])] @ model.functions_[2]
    centers = [(model.edges_[i, 1:] + model.edges_[i, :-1]) / 2 for i in (1, 2)]
    weights = np.outer(model.cell_shares_[1], model.cell_shares_[2])
    assert np.sqrt((np.square(surface - 4 * np.outer(*centers)) * weights).sum()) < 0.3
    assert model.intercept_[0] == pytest.approx(np.median(y), abs=1.0)
    assert model.plot(Figure().add_subplot(), feature=0).get_ylabel() == "added to the score"


def test_a_monotone_function_does_not_turn_and_has_no_pairs() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (5000, 3))
    y = 20 + 4 * X[:, 0] + 2 * np.sin(9 * X[:, 0]) - 3 * X[:, 1] + rng.normal(size=5000)
    model = AnovaRegressor(**FIELDS, monotonic_cst=[1, -1, 0]).fit(X, y)
    assert (np.diff(model.shapes_[0, 0]) >= 0).all()
    assert (np.diff(model.shapes_[0, 1]) <= 0).all()
    assert len(model.pairs_) == 0
    assert model.score(X, y) > 0.75


def test_quantiles_have_the_share_below_them_that_they_say() -> None:
    rng = np.random.default_rng(4)
    X = rng.uniform(-1, 1, (20_000, 2))
    y = 20 + 2 * X[:, 0] + (1 + 0.8 * X[:, 1]) * rng.normal(size=20_000)
    for q in (0.1, 0.5, 0.9):
        found = AnovaRegressor(**FIELDS, loss="quantile", quantile=q).fit(X, y).predict(X)
        assert np.mean(y < found) == pytest.approx(q, abs=0.04)
        constant = mean_pinball_loss(y, np.full(len(y), np.quantile(y, q)), alpha=q)
        assert mean_pinball_loss(y, found, alpha=q) < 0.85 * constant


def test_counts_and_sizes_are_fitted_by_the_logarithms_of_their_means() -> None:
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (10_000, 2))
    mean = np.exp(0.5 + X[:, 0] + X[:, 0] * X[:, 1])
    cases: tuple[tuple[Any, Any, Any], ...] = (
        ("poisson", rng.poisson(mean), mean_poisson_deviance),
        ("gamma", rng.gamma(2, mean / 2), mean_gamma_deviance),
    )
    for loss, y, deviance in cases:
        model = AnovaRegressor(loss=loss, bounds=(-1, 1), target_bounds=(0, 60), epsilon=1.0).fit(X, y)
        found = np.maximum(model.predict(X), 1e-6)
        assert deviance(y, found) < 1.1 * deviance(y, mean)
    with pytest.raises(DiscreetError, match=r"target may be -1.*Nothing was released or spent"):
        AnovaRegressor(loss="poisson", bounds=(-1, 1), target_bounds=(-1, 60)).fit(X, mean)


def test_with_hardly_any_budget_it_is_hardly_worse_than_a_constant() -> None:
    X, y = people(3000)
    for epsilon in (0.1, 0.3):
        assert AnovaRegressor(**{**FIELDS, "epsilon": epsilon}).fit(X, y).score(X, y) > -0.2


def few(n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Five features of size; a target that is low in its bounds, from -5 to 100."""
    rng = np.random.default_rng(seed)
    X = np.exp(rng.normal(size=(n, 5))).clip(0, 60)
    return X, 3 * np.log1p(X[:, 0]) + rng.normal(size=n)


def test_where_noise_hides_all_functions_all_that_is_left_finds_a_constant() -> None:
    """Of 300 records at epsilon 0.3, and bounds that are 60 deviations wide."""
    for paid, least in ((1e-6, -0.5), (0.0, -0.5)):
        model = AnovaRegressor(bounds=(0, 60), target_bounds=(-5, 100), epsilon=0.3, delta=paid)
        scores = [model.fit(*few(300, seed)).score(*few(300, seed)) for seed in range(7)]
        assert np.median(scores) > least
    with patch.multiple(anova_model, HIDDEN=np.inf, DIM=np.inf):
        model = AnovaRegressor(bounds=(0, 60), target_bounds=(-5, 100), epsilon=0.1).fit(*few(100, 0))
    assert model.n_iter_ == 0
    assert np.ptp(model.predict(few(100, 1)[0])) == 0
    assert (model.shape_errors_ > 0).any()


def test_of_so_few_records_as_are_known_the_whole_budget_finds_the_constant_that_a_mean_is() -> None:
    """The same release at the same price as that of `mean`, with which it is as good at any such size."""
    X, y = people(100)
    ends, price = FIELDS["target_bounds"], {"epsilon": 0.3}
    known = AnovaRegressor(**{**FIELDS, **price}, expected_size=100).fit(X, y)
    assert known.event_ == mean(y, bounds=ends, epsilon=0.3, delta=1e-6).receipt.event
    assert known.n_iter_ == 0
    assert np.ptp(known.predict(X)) == 0
    assert (known.shape_errors_ > 0).all()
    assert not known.shapes_.any()
    assert not known.pair_coef_.any()
    schema = Schema({"x": Number(-1, 1), "y": Number(*ends)})
    counted = PrivateData.of({"x": X[:, 0], "y": y}, schema, Budget(0.3), neighbors=Neighbors.REPLACE)
    public = AnovaRegressor(target="y", epsilon=0.3, delta=0.0).fit(counted)
    assert isinstance(public.event_, LaplaceLoss)
    assert pure_epsilon(public.event_) == pytest.approx(0.3)
    for n in (30, 60, 100):
        some = AnovaRegressor(**{**FIELDS, **price}, expected_size=n)
        found = [some.fit(X[:n], y[:n]).predict(X[:1])[0] for _ in range(60)]
        assert abs(np.median(found) - y[:n].mean()) < 20 / 0.3 / n
        assert 0.5 < np.std(found) / (20 / 0.3 / n) < 1.6  # as two Laplace variables, halved
    assert AnovaRegressor(**{**FIELDS, **price}, expected_size=10_000).fit(X, y).event_ != known.event_


def test_a_constant_of_few_records_is_what_the_loss_asks_for() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.uniform(-1, 1, (400, 2)), rng.gamma(2.0, 5.0, 400).clip(0, 60)
    fields: dict[str, Any] = {"bounds": (-1, 1), "target_bounds": (0, 60), "epsilon": 0.1, "expected_size": 400}
    for loss, level, exact, close in (
        ("squared", 0.5, y.mean(), 3.5),
        ("poisson", 0.5, y.mean(), 3.5),
        ("gamma", 0.5, y.mean(), 3.5),
        ("quantile", 0.5, np.median(y), 3.5),
        ("quantile", 0.9, np.quantile(y, 0.9), 12.0),  # noise on the cells of the tail feigns records there
    ):
        model = AnovaRegressor(loss=loss, quantile=level, **fields)  # type: ignore[arg-type]
        found = [float(model.fit(X, y).predict(X[:1])[0]) for _ in range(15)]
        assert model.n_iter_ == 0
        assert np.median(found) == pytest.approx(exact, abs=close)


def test_where_functions_are_seen_no_round_asks_about_the_target_again() -> None:
    assert AnovaRegressor(**FIELDS).fit(*people()).n_iter_ == 6
    assert AnovaRegressor(**{**FIELDS, "epsilon": 0.003}).fit(*people()).n_iter_ < 6


def test_few_records_and_a_small_epsilon_give_the_constant_that_is_known() -> None:
    """At 200 records and a pure epsilon of 0.3 the middle of the bounds is left; without that, the median is -13."""
    rng = np.random.default_rng(2)
    X = rng.normal(size=(200, 3)).clip(-4, 4)
    y = np.sin(2 * X[:, 0]) + X[:, 1] * X[:, 2] + 0.5 * rng.normal(size=200)
    model = AnovaRegressor(bounds=(-4, 4), target_bounds=(-10, 10), epsilon=0.3, delta=0.0)
    assert np.median([model.fit(X, y).score(X, y) for _ in range(11)]) > -2


def test_predictions_stay_inside_the_bounds_of_the_target() -> None:
    X, y = people(50)
    found = AnovaRegressor(**{**FIELDS, "epsilon": 0.01}).fit(X, y).predict(X)
    assert found.min() >= 10
    assert found.max() <= 30


def test_the_fit_costs_what_it_says() -> None:
    X, y = people(10)
    for rounds in (1, 2, None):
        fields = {**FIELDS, "epsilon": 0.5, "max_iter": rounds}
        assert 0.9e-6 < delta(AnovaRegressor(**fields).fit(X, y).event_, 0.5) <= 1e-6
        assert pure_epsilon(AnovaRegressor(**fields, delta=0.0).fit(X, y).event_) == pytest.approx(0.5)


def test_the_audit_does_not_refute_a_fit_and_would_see_two_thirds_of_the_noise() -> None:
    schema = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": Number(-1, 1)})
    grid = np.array(list(itertools.product((-1.0, -0.3, 0.4, 1.0, np.nan), (-1.0, 0.2, 1.0), (-1.0, 0.1, 1.0))))
    check_short(AnovaRegressor(target="y", max_iter=2, epsilon=3.0), many(grid), schema, grid)


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in ({"loss": "absolute"}, {"quantile": 1.0}, {"max_iter": 0}, {"epsilon": 0.0}, {"expected_size": 0}):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            AnovaRegressor(**{**FIELDS, **fields}).fit(X, y)


def test_counts_of_the_target_are_averaged_by_their_information() -> None:
    class Said:
        stddev = 2.0

    with patch.object(anova_fit, "spread", return_value=Said):
        counts = anova_fit.TargetCounts(Mock(), Mock(size=2))
        for noise, said in ((2.0, [8.0, 0.0]), (1.0, [4.0, 5.0])):
            Said.stddev = noise
            counts.ask(Mock(ask=Mock(return_value=np.array(said))), Mock())
    assert counts.counts.tolist() == pytest.approx([4.8, 4.0])
    assert counts.stddev == pytest.approx(0.8**0.5)


def test_the_first_round_asks_about_the_target_where_noise_is_large_and_the_rest_where_it_hides_functions() -> None:
    X, y = people(500)
    for seen, rounds in (([100.0], 3), ([20.0, 20.0], 2), ([20.0, 5.0], 0), ([5.0], 0)):
        with patch.object(AnovaRegressor, "_seen", side_effect=seen):
            assert AnovaRegressor(**FIELDS, max_iter=3).fit(X, y).n_iter_ == rounds
    with patch.object(AnovaRegressor, "_seen", side_effect=[20.0]):
        assert AnovaRegressor(**FIELDS, max_iter=1).fit(X, y).n_iter_ == 1  # a single round is not for the target
    with (
        patch.object(AnovaRegressor, "_seen", side_effect=[20.0, 20.0]),
        patch.object(AnovaRegressor, "start", autospec=True, side_effect=AnovaRegressor.start) as start,
    ):
        AnovaRegressor(**FIELDS, max_iter=3).fit(X, y)
    before, after = (call.args[4] for call in start.call_args_list)
    assert after < before / 2  # both releases of the target count


def test_the_less_is_known_of_the_target_the_more_records_may_be_anywhere() -> None:
    X, y = people(2000)
    found = []
    for epsilon in (0.5, 5.0):
        with patch.object(AnovaRegressor, "_center", autospec=True, return_value=1000.0) as center:
            AnovaRegressor(**{**FIELDS, "epsilon": epsilon}, max_iter=1).fit(X, y)
        found.append(center.call_args_list[0].args[2])
    assert found[0] > 20 * found[1] > 0
