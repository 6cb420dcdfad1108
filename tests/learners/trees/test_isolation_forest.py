"""Private anomaly scores: near the exact ones, called by counts alone, and paid for."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn import ensemble
from sklearn.metrics import roc_auc_score

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import Unit
from discreet.learners.trees.isolation_forest import IsolationForest, halving_trees, length_below, path_lengths
from discreet.questions.trees.forest_leaves import leaves_of
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    IsolationForest(8, max_depth=4, bounds=trial.BOUNDS),
    exemptions={
        "check_outliers_train": "as many are called anomalies as contamination says, up to noise",
        "check_outliers_fit_predict": "it compares two fits, and every fit draws fresh noise",
        "check_classifier_data_not_an_array": "it compares two fits, and every fit draws fresh noise",
    },
)
RARE = 0.05


def strange(n: int = 5000, features: int = 4, spread: float = 0.08, seed: int = 0) -> tuple[Array, Array]:
    """Three clusters, and one record in twenty anywhere."""
    rng = np.random.default_rng(seed)
    anywhere = int(RARE * n)
    centers = rng.uniform(-0.5, 0.5, (3, features))[rng.integers(0, 3, n - anywhere)]
    X = np.vstack([rng.normal(centers, spread), rng.uniform(-1, 1, (anywhere, features))])
    return np.clip(X, -1, 1), np.repeat([0, 1], [n - anywhere, anywhere])


def auc(model: IsolationForest, X: Array, y: Array) -> float:
    return float(roc_auc_score(y, -model.score_samples(X)))


def test_at_epsilon_one_it_ranks_nearly_as_exact_isolation_forests_do() -> None:
    """Within two hundredths, with a delta and without one, of records that were not fitted."""
    for features, spread in ((2, 0.08), (4, 0.05), (10, 0.1)):
        X, y = strange(10_000, features, spread)
        exact = ensemble.IsolationForest(random_state=0).fit(X[::2])
        best = roc_auc_score(y[1::2], -exact.score_samples(X[1::2]))
        for price in (1e-6, 0.0):
            model = IsolationForest(bounds=(-1, 1), epsilon=1.0, delta=price, random_state=0).fit(X[::2])
            assert auc(model, X[1::2], y[1::2]) > max(best - 0.02, 0.9)


def test_bounds_that_are_five_times_too_wide_cost_little() -> None:
    X, y = strange()
    wide = IsolationForest(bounds=(-5, 5), epsilon=1.0, random_state=0).fit(X)
    assert auc(wide, X, y) > 0.95


def test_it_calls_as_many_anomalies_as_contamination_says() -> None:
    """At epsilon 3, to within 0.015 of the records: noise on the counts below the offset, and the width of a cell."""
    X, _ = strange()
    for contamination in (0.05, 0.2):
        model = IsolationForest(bounds=(-1, 1), contamination=contamination, epsilon=3.0, random_state=0).fit(X)
        assert np.mean(model.predict(X) == -1) == pytest.approx(contamination, abs=0.015)
        np.testing.assert_array_equal(model.predict(X) == -1, model.decision_function(X) < 0)


def test_scores_lie_between_minus_one_and_zero_and_usual_ones_near_a_half() -> None:
    X, y = strange()
    model = IsolationForest(bounds=(-1, 1), random_state=0).fit(X)
    scores = model.score_samples(X)
    assert scores.min() >= -1
    assert scores.max() < 0
    assert scores[y == 0].mean() == pytest.approx(-0.5, abs=0.05)
    assert scores[y == 1].mean() < -0.6


def test_the_fit_costs_what_it_says() -> None:
    X, _ = strange(100)
    model = IsolationForest(bounds=(-1, 1), epsilon=0.7, delta=1e-6).fit(X)
    assert delta(model.event_, 0.7) == pytest.approx(1e-6, rel=1e-3)
    assert delta(model.event_, 0.7) <= 1e-6
    pure = IsolationForest(bounds=(-1, 1), epsilon=0.7, delta=0.0).fit(X)
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_people_with_several_records_are_protected_as_a_whole() -> None:
    """At one price, noise is four times as much for 4 records each; 3,200 counts show it to within a tenth."""
    people = pd.DataFrame({"who": ["a"] * 6, "x": 0.5, "y": 0.5})
    units = (Unit("user", "who", 1), Unit("user", "who", 4))
    data = [PrivateData.of(people, {"x": (-1, 1), "y": (-1, 1)}, Budget(1.0, 1e-6), unit=unit) for unit in units]
    alone, together = (IsolationForest().fit(one).leaf_counts_.std() for one in data)
    assert together == pytest.approx(4 * alone, rel=0.1)


def test_the_ledger_refuses_a_second_fit() -> None:
    data = PrivateData.of(strange(500)[0], Schema.numeric(-1, 1, 4), Budget(1.0, 1e-6))
    IsolationForest(epsilon=0.8, delta=1e-7).fit(data)
    with pytest.raises(BudgetExceeded, match="Nothing was released or spent"):
        IsolationForest(epsilon=0.8, delta=1e-7).fit(data)


def test_cuts_lie_in_the_middle_part_of_their_own_cells() -> None:
    task = IsolationForest(bounds=([0.0, -8.0], [1.0, 8.0]))._task(np.zeros((1, 2)), None, Budget(1.0))
    trees = halving_trees(task, np.random.RandomState(0), 20, 5)
    rng = np.random.default_rng(0)
    points = rng.uniform([0.0, -8.0], [1.0, 8.0], (20_000, 2))
    for own in leaves_of(points, trees.features.astype(np.intp), trees.cuts):
        shares = np.bincount(own, minlength=32) / len(points)
        assert shares.min() > 0.15**5 / 2  # the least cell has 0.15 of each cell above it
        assert shares.max() < 0.85**5
        assert np.count_nonzero(shares) == 32


def test_a_path_ends_where_noise_could_feign_the_records() -> None:
    counts = np.array([[100.0, 60.0, 3.0, 0.0, 30.0, 1.0, 0.0, 0.0]])
    assert path_lengths(counts, 0.0)[0, :5].round(2).tolist() == [9.64, 8.91, 4.58, 2.0, 7.91]
    assert path_lengths(counts, 19.0)[0].round(2).tolist() == [5.32, 4.58, 1.0, 1.0, 0.0, 0.0, 0.0, 0.0]


def test_the_offset_follows_from_sums_that_rise() -> None:
    ends = np.arange(5.0)
    assert length_below(np.array([0.0, 10.0, -10.0, 10.0]), ends, 5.0) == pytest.approx(2.0, abs=1.0)
    assert length_below(np.full(4, 10.0), ends, 15.0) == 1.5
    assert length_below(np.full(4, -10.0), ends, 15.0) == 4.0


def test_each_release_holds_and_is_refuted_with_two_thirds_of_the_noise() -> None:
    """The twin of the leaves has the noise of fewer trees."""
    for price in (1e-6, 0.0):
        check_releases(IsolationForest(3, max_depth=2, bounds=(-1, 1), epsilon=6.0, delta=price, random_state=0))


@pytest.mark.parametrize(
    "fields",
    [
        {"bounds": None},
        {"n_estimators": 0},
        {"max_depth": 0},
        {"max_depth": 17},
        {"contamination": 0.0},
        {"contamination": 0.6},
        {"epsilon": 0.0},
    ],
)
def test_a_mistake_is_refused_before_anything_is_spent(fields: dict[str, object]) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        IsolationForest(**{"bounds": (-1, 1), **fields}).fit(strange(10)[0])  # type: ignore[arg-type]
