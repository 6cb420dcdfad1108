"""Private choice of hyper-parameters: it finds the better candidate, and pays for having looked."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression as Exact

from discreet.accounting.accountant import delta, epsilon, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors, Unit
from discreet.learners.bayes.gaussian_nb import GaussianNB
from discreet.learners.linear.linear_regression import Ridge
from discreet.learners.linear.logistic_regression import LogisticRegression
from discreet.learners.preprocessing.scalers import MinMaxScaler, StandardScaler
from discreet.learners.selection.private_pipeline import PrivatePipeline
from discreet.learners.selection.private_search_cv import PrivateSearchCV
from discreet.learners.selection.score_table import ScoreCells, ScoreTable
from discreet.learners.selection.search_scores import SCORES
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.spread import Spread
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.private_data import PrivateData
from discreet.trust.sources.matrix import Matrix
from tests.learners import trial
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(
    PrivateSearchCV(LogisticRegression(max_iter=1), {"residual": [0.5, 1.0]}, bounds=trial.BOUNDS, classes=[0, 1]),
    exemptions={
        "check_classifiers_train": "at epsilon 1, 200 records leave no accuracy above 0.83",
        "check_classifiers_classes": "classes are public: those of the check are others",
        "check_classifiers_regression_target": "a target that is no class counts for nothing: an error would show it",
    },
)
SCHEMA = Schema({"a": Number(-1, 1), "b": Number(-1, 1), "y": Category((0, 1))})
GRID = {"radius": [0.02, 0.03, 0.04, 0.05, 1.4]}  # the last shrinks no record: the others lose nearly all


def people(n: int = 4000) -> tuple[Array, Array]:
    rng = np.random.default_rng(0)
    X = rng.uniform(-1, 1, (n, 2))
    return X, (X[:, 0] + 0.1 * rng.normal(size=n) > 0).astype(int)


def private(n: int, account: MemoryLedger | SqliteLedger) -> PrivateData:
    X, y = people(n)
    return PrivateData.of({"a": X[:, 0], "b": X[:, 1], "y": y}, SCHEMA, account)


@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
@pytest.mark.parametrize("method", ["random_stopping", "every"])
def test_it_finds_the_better_candidate_within_its_budget(method: str, price: float) -> None:
    X, y = people()
    trust = Curator(Matrix(np.column_stack([X, y]), SCHEMA), bits=DeterministicBits(1))  # else it stops early at times
    search = PrivateSearchCV(
        GaussianNB(), GRID, method=method, n_iter=30, release_after=0.0, target="y", epsilon=2.0, delta=price
    )
    search.fit(PrivateData(trust, MemoryLedger(Budget(2.0, price))))
    exact = search.score(pd.DataFrame(X, columns=["a", "b"]), y.astype(str))
    assert exact > 0.9
    assert search.best_score_ == pytest.approx(exact, abs=0.1)
    assert search.best_params_ == search.candidates_[search.best_index_]
    assert delta(search.event_, 2.0) <= price
    assert search.receipt_.epsilon == pytest.approx(2.0, rel=0.01)
    assert (search.scores_ is None) == (method == "random_stopping")


def test_random_stopping_costs_about_threefold_however_many_candidates() -> None:
    many = {"radius": np.linspace(0.5, 1.4, 40).tolist()}
    search = PrivateSearchCV(GaussianNB(), many, bounds=(-1, 1), classes=[0, 1], epsilon=3.0, delta=0.0)
    plan = search.plan(search._task(*people(10), Budget(3.0)))
    assert plan.stop == 0.1
    assert max(pure_epsilon(one.event) for one in plan.candidates) == pytest.approx(1.0, rel=1e-6)
    assert pure_epsilon(plan.event) <= 3.0
    few = PrivateSearchCV(GaussianNB(), {"radius": [0.5, 1.4]}, bounds=(-1, 1), classes=[0, 1])
    plan = few.plan(few._task(*people(10), Budget(1.0, 1e-6)))
    assert plan.stop is None
    assert 0.99 < epsilon(plan.event, 1e-6) <= 1.0


def test_a_regressor_is_searched_by_its_r2() -> None:
    X, _ = people()
    target = np.clip(2 * X[:, 0] - X[:, 1], -3, 3)
    grid = {"alpha": [1.0, 1e5]}
    search = PrivateSearchCV(Ridge(), grid, bounds=(-1, 1), target_bounds=(-3, 3), epsilon=20.0, delta=0.0)
    search.fit(X, target)
    assert search.best_params_ == {"alpha": 1.0}
    assert search.best_score_ == pytest.approx(search.score(X, target), abs=0.05)
    assert not hasattr(search, "classes_")


def test_a_pipeline_is_searched_and_charged_once() -> None:
    account = MemoryLedger(Budget(3.0))
    steps = [("scale", MinMaxScaler(q=None)), ("fit", GaussianNB())]
    grid = {"fit__radius": [0.02, 0.03, 0.05, 1.4]}
    search = PrivateSearchCV(
        PrivatePipeline(steps), grid, n_iter=20, release_after=0.0, target="y", epsilon=3.0, delta=0.0
    )
    search.fit(private(4000, account))
    assert search.predict(pd.DataFrame(people(3)[0], columns=["a", "b"])).shape == (3,)
    assert len(account.entries()) == 1
    assert search.best_params_["fit__radius"] in grid["fit__radius"]
    assert set(search.classes_) == {"0", "1"}


def test_where_no_curator_holds_the_records_every_candidate_is_paid_for() -> None:
    X, y = people(50)
    for method in (None, "random_stopping"):
        data = PrivateData(Local(Matrix(np.column_stack([X, y]), SCHEMA)), MemoryLedger(Budget(1.0, 1e-6)))
        search = PrivateSearchCV(GaussianNB(), GRID, method=method, target="y")
        if method is None:
            assert search.fit(data).scores_.shape == (5,)
        else:
            with pytest.raises(DiscreetError, match=r"takes a curator.*Nothing was released or spent"):
                search.fit(data)


def test_units_of_several_rows_are_never_searched_as_if_they_had_one() -> None:
    X, y = people(20)
    table = {"a": X[:, 0], "b": X[:, 1], "y": y, "who": np.arange(20) // 2}
    unit = Unit("user", column="who", rows=2)
    data = PrivateData.of(table, SCHEMA, Budget(1.0, 1e-6), unit=unit)
    with pytest.raises(DiscreetError, match="one row for each unit"):
        PrivateSearchCV(GaussianNB(), GRID, method="random_stopping", target="y").fit(data)


def test_a_retry_with_its_key_gives_the_same_model(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(3.0, 1e-6), name="s", neighbors=Neighbors.ADD_REMOVE)
    data = private(200, ledger)
    fits = [PrivateSearchCV(GaussianNB(), GRID, n_iter=2, target="y", delta=0.0).fit(data, key="k") for _ in range(2)]
    assert fits[0].best_score_ == fits[1].best_score_
    np.testing.assert_array_equal(fits[0].best_estimator_.theta_, fits[1].best_estimator_.theta_)
    assert fits[1].receipt_.replayed


def test_a_mistake_is_refused_before_anything_is_spent() -> None:
    X, y = people(10)
    for fields in (
        {"method": "best"},
        {"n_iter": 1},
        {"estimator": Exact()},
        {"estimator": StandardScaler()},
        {"estimator": GaussianNB(bounds=(-1, 1))},
        {"param_grid": {"method": ["nearest"]}},
        {"epsilon": 0.0},
    ):
        given = {"estimator": GaussianNB(), "param_grid": GRID, "bounds": (-1, 1), "classes": [0, 1], **fields}
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            PrivateSearchCV(**given).fit(X, y)


def unequal(n: int = 10_000) -> tuple[Array, Array]:
    """A class of 6 in a hundred: whoever never names it is right for 94."""
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (n, 2))
    return X, (3 * X[:, 0] - 3.7 + rng.logistic(size=n) > 0).astype(int)


@pytest.mark.parametrize("scoring", ["roc_auc", "neg_log_loss"])
def test_with_unequal_classes_ranks_and_losses_find_the_better_model(scoring: str) -> None:
    """The first candidate shrinks nearly all records; the accuracy of both is that of naming the frequent class."""
    X, y = unequal()
    for seed in range(2):
        trust = Curator(Matrix(np.column_stack([X, y]), SCHEMA), bits=DeterministicBits(seed))
        search = PrivateSearchCV(GaussianNB(), {"radius": [0.016, 1.4]}, scoring=scoring, target="y", epsilon=4.0)
        search.set_params(delta=0.0).fit(PrivateData(trust, MemoryLedger(Budget(4.0))))
        assert search.best_params_ == {"radius": 1.4}
        assert pure_epsilon(search.event_) <= 4.0


def test_scores_follow_from_counts_and_noise_alone_wins_no_search() -> None:
    """Where a class has fewer records than noise could feign, they count as if there were so many."""
    spread = Spread(Laplace(1.0), 2**0.5)
    counts = np.array([[900.0, 20.0], [40.0, 60.0]])
    cells = ScoreCells(np.array([0.0, 0.5, 1.0]), np.zeros(2, dtype=bool), 1)
    exact = {
        "accuracy": 960 / 1020,
        "balanced_accuracy": (900 / 920 + 60 / 100) / 2,
        "f1": 120 / 180,
        "roc_auc": 0.5 * (900 / 920 + 60 / 100),
        "neg_log_loss": -(960 * np.log(4 / 3) + 60 * np.log(4)) / 1020,
        "neg_brier_score": -(960 / 16 + 60 * 9 / 16) / 1020,
    }
    for name, value in exact.items():
        assert SCORES[name].of(ScoreTable(counts, cells, spread)) == pytest.approx(value)
    few = ScoreTable(np.array([[900.0, 20.0], [-1.0, 3.0]]), cells, spread)
    assert SCORES["f1"].of(few) < 0.3
    none = ScoreTable(np.array([[900.0, 1.0], [-1.0, 3.0]]), cells, spread)  # all but 900 records may be noise
    assert SCORES["f1"].of(none) == pytest.approx(6 / (8 * spread.stddev))
    assert SCORES["balanced_accuracy"].of(few) < 0.8
    assert abs(SCORES["roc_auc"].of(few) - 0.5) < 0.3


def test_a_score_of_two_classes_or_of_none_is_refused_before_anything_is_spent() -> None:
    X, _ = people(10)
    three = PrivateSearchCV(GaussianNB(), GRID, release_after=0.0, bounds=(-1, 1), classes=[0, 1, 2])
    for scoring in ("roc_auc", "f1", "r2", "loss"):
        with pytest.raises(DiscreetError, match="Nothing was released or spent"):
            three.set_params(scoring=scoring).fit(X, np.zeros(10))
    assert three.set_params(scoring="balanced_accuracy").fit(X, np.zeros(10)).best_score_ <= 1.0
