"""Private k-means: it finds the blobs, costs what it says, and releases the centers alone."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from discreet.accounting.accountant import delta, pure_epsilon
from discreet.core.budget import Budget
from discreet.core.errors import BudgetExceeded, DiscreetError
from discreet.core.events import Composed
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners.clusters.kmeans import KMeans
from discreet.ledger.sqlite_ledger import SqliteLedger
from discreet.questions.vectors.clusters import nearest
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.learners import trial
from tests.learners.audited_fit import check_releases
from tests.learners.trial import LearnerTrial

TRIAL = LearnerTrial(KMeans(bounds=trial.BOUNDS))
CENTERS = np.array([[-6.0, 10.0], [6.0, 30.0], [0.0, 20.0]])
BOUNDS = ([-10.0, 0.0], [10.0, 40.0])
Init = Literal["grid", "mean", "random"]
INITS: tuple[Init, ...] = ("grid", "mean", "random")


def blobs(n: int = 3000) -> Array:
    rng = np.random.default_rng(0)
    return np.vstack([rng.normal(center, 0.6, (n, 2)) for center in CENTERS])


def by_first(centers: Array) -> Array:
    return centers[np.argsort(centers[:, 0])]


@pytest.mark.parametrize("init", INITS)
@pytest.mark.parametrize("price", [1e-6, 0.0], ids=["approximate", "pure"])
def test_it_finds_the_blobs(price: float, init: Init) -> None:
    model = KMeans(3, bounds=BOUNDS, init=init, epsilon=2.0, delta=price, random_state=1).fit(blobs())
    np.testing.assert_allclose(by_first(model.cluster_centers_), by_first(CENTERS), atol=0.8)
    assert len(set(model.predict(CENTERS))) == 3


def test_the_fit_costs_what_it_says() -> None:
    model = KMeans(3, bounds=BOUNDS, epsilon=0.7, delta=1e-6).fit(blobs(100))
    assert delta(model.event_, 0.7) == pytest.approx(1e-6, rel=1e-3)
    assert delta(model.event_, 0.7) <= 1e-6
    pure = KMeans(3, bounds=BOUNDS, epsilon=0.7, delta=0.0).fit(blobs(100))
    assert pure_epsilon(pure.event_) == pytest.approx(0.7)


def test_a_start_from_a_grid_finds_many_clusters() -> None:
    rng = np.random.default_rng(2)
    X = np.clip(rng.normal(rng.uniform(-0.6, 0.6, (8, 6))[rng.integers(0, 8, 16_000)], 0.05), -1, 1)
    centers = [KMeans(8, bounds=(-1, 1)).fit(X).cluster_centers_ for _ in range(5)]
    inertias = [np.square(X[:, None] - each).sum(axis=2).min(axis=1).sum() for each in centers]
    assert np.median(inertias) < 1.1 * X.size * 0.05**2


def test_it_starts_from_the_mean_where_noise_would_hide_the_axes() -> None:
    """Then fewer releases are asked, and wide clusters in many features are found better than from a grid."""
    rng = np.random.default_rng(3)
    X = np.clip(rng.normal(0, 0.3, (6, 40))[rng.integers(0, 6, 1500)] + rng.normal(0, 0.2, (1500, 40)) + 0.3, -1, 1)

    def inertia(init: Init | None) -> float:
        centers = KMeans(6, bounds=(-1, 1), init=init, epsilon=2.0, delta=0.0).fit(X).cluster_centers_
        return float(np.square(X[:, None] - centers).sum(axis=2).min(axis=1).sum())

    assert np.median([inertia(None) for _ in range(5)]) < 0.9 * np.median([inertia("grid") for _ in range(5)])
    few, many = (KMeans(6, bounds=(-1, 1), epsilon=2.0, delta=0.0, expected_size=n).fit(X) for n in (1500, 10**6))
    assert isinstance(few.event_, Composed)
    assert isinstance(many.event_, Composed)
    assert (len(few.event_.events), len(many.event_.events)) == (3, 5)


def test_the_ledger_is_charged_and_refuses_a_second_fit(tmp_path: Path) -> None:
    schema = Schema.numeric(*BOUNDS, 2)
    ledger = SqliteLedger.create(tmp_path / "l", Budget(1.0, 1e-6), name="blobs", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(blobs(500), schema, ledger)
    model = KMeans(3, epsilon=0.8, delta=1e-7, random_state=0).fit(data)
    assert model.receipt_.head == ledger.head
    head = ledger.head
    with pytest.raises(BudgetExceeded, match="Nothing was released or spent"):
        KMeans(3, epsilon=0.8, delta=1e-7).fit(data)
    assert ledger.head == head


def test_a_retry_with_its_key_gives_the_same_centers(tmp_path: Path) -> None:
    ledger = SqliteLedger.create(tmp_path / "l", Budget(1.0, 1e-6), name="blobs", neighbors=Neighbors.ADD_REMOVE)
    data = PrivateData.of(blobs(500), Schema.numeric(*BOUNDS, 2), ledger)
    first, again = (KMeans(3, epsilon=0.8, delta=1e-7, random_state=0).fit(data, key="k") for _ in range(2))
    np.testing.assert_array_equal(first.cluster_centers_, again.cluster_centers_)
    assert again.receipt_.replayed


def test_the_centers_stay_in_their_bounds_whatever_the_noise() -> None:
    for _ in range(20):
        centers = KMeans(3, bounds=BOUNDS, epsilon=0.01).fit(blobs(5)).cluster_centers_
        assert (centers >= np.array(BOUNDS[0]) - 1e-9).all()
        assert (centers <= np.array(BOUNDS[1]) + 1e-9).all()


@pytest.mark.parametrize("row", [[np.nan, 1.0], [np.inf, -np.inf], [1e308, -1e308], [5e-324, -0.0]])
def test_one_wild_record_does_not_show(row: list[float]) -> None:
    model = KMeans(3, bounds=BOUNDS, epsilon=2.0, random_state=1).fit(np.vstack([blobs(), row]))
    np.testing.assert_allclose(by_first(model.cluster_centers_), by_first(CENTERS), atol=0.8)


@pytest.mark.parametrize("rows", [0, 1])
def test_no_record_and_one_record_are_fitted_alike(rows: int) -> None:
    assert KMeans(2, bounds=(-1, 1)).fit(np.zeros((rows, 3))).cluster_centers_.shape == (2, 3)


def test_a_value_that_is_no_number_is_missing_and_never_quoted() -> None:
    """An error would tell of its record."""
    table = np.ones((50, 2), dtype=object)
    for odd in ("Ann is ill", None, {"Ann": "ill"}, [1.0]):
        table[7, 1] = odd
        assert KMeans(2, bounds=(0.0, 1.0), epsilon=1.0).fit(table).cluster_centers_.shape == (2, 2)


def test_it_behaves_as_a_scikit_learn_estimator() -> None:
    model = clone(KMeans(3, bounds=BOUNDS, random_state=0))
    pipeline = make_pipeline(FunctionTransformer(), model).fit(blobs(200))
    assert pipeline.predict(CENTERS).shape == (3,)
    assert set(KMeans(2, bounds=BOUNDS).fit_predict(blobs(50))) <= {0, 1}


@pytest.mark.parametrize(
    "fields",
    [
        {"bounds": None},
        {"n_clusters": 0},
        {"n_clusters": 1000},
        {"init": "best"},
        {"max_iter": 0},
        {"epsilon": 0.0},
        {"delta": 1.0},
        {"bounds": (1, -1)},
    ],
)
def test_a_mistake_is_refused_before_anything_is_spent(fields: dict[str, object]) -> None:
    with pytest.raises(DiscreetError, match="Nothing was released or spent"):
        KMeans(**{"n_clusters": 2, "bounds": BOUNDS, **fields}).fit(blobs(10))  # type: ignore[arg-type]


def test_nearest_is_the_same_for_any_batch() -> None:
    rng = np.random.default_rng(0)
    records = np.trunc(rng.uniform(-1, 1, (500, 7)) * 2**20) / 2**20
    centers = np.trunc(rng.uniform(-1, 1, (5, 7)) * 2**20) / 2**20
    whole = nearest(records.T, centers)
    rows = np.concatenate([nearest(records[i : i + 1].T, centers) for i in range(500)])
    np.testing.assert_array_equal(whole, rows)
    np.testing.assert_array_equal(whole, ((records[:, None] - centers) ** 2).sum(axis=2).argmin(axis=1))


def test_rows_are_predicted_with_the_distances_of_the_fit() -> None:
    """A feature between wide bounds does not outweigh one between narrow bounds."""
    rng = np.random.default_rng(0)
    narrow = np.repeat([-0.8, 0.8], 5000)
    X = np.column_stack([narrow + rng.normal(0, 0.05, 10_000), rng.uniform(-1000, 1000, 10_000)])
    bounds = ([-1.0, -1000.0], [1.0, 1000.0])
    model = KMeans(2, bounds=bounds, epsilon=3.0, random_state=0).fit(X)
    exact = np.square((X[:, None] - model.cluster_centers_) / [1.0, 1000.0]).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(model.predict(X), exact)


@pytest.mark.parametrize("init", INITS)
def test_no_release_is_refuted_on_the_worst_record_and_each_is_with_two_thirds_of_the_noise(init: Init) -> None:
    steps, epsilon = {"grid": (1, 12.0), "mean": (1, 7.0), "random": (4, 12.0)}[init]  # about 5 for the greatest part
    for price in (1e-6, 0.0):
        check_releases(
            KMeans(2, init=init, max_iter=steps, bounds=(-1, 1), epsilon=epsilon, delta=price, random_state=0)
        )
