"""Principal components, k-means and Gaussian mixtures: accuracy at epsilon 1 and below, and time."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
from sklearn import datasets, decomposition, mixture
from sklearn.cluster import KMeans as ExactKMeans

from benchmarks.rows import Row, at_least, at_most
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.core.schema import Schema
from discreet.learners import PCA, GaussianMixture, KMeans, OnlinePCA, TruncatedSVD
from discreet.learners.pca import Method
from discreet.trust.private_data import PrivateData

SEEDS = 10


def private(X: Array, reach: float, epsilon: float, delta: float) -> PrivateData:
    """Replace neighbors, with a budget for one fit."""
    schema = Schema.numeric(-reach, reach, X.shape[1])
    return PrivateData.of(X, schema, Budget(epsilon, delta), neighbors=Neighbors.REPLACE)


def mean_of(score: Callable[[], float]) -> float:
    """Over fresh noise."""
    return float(np.mean([score() for _ in range(SEEDS)]))


def classes(n: int) -> Array:
    """Twenty features, of which some are informative, within six units."""
    X, _ = datasets.make_classification(
        n + n // 4, 20, n_informative=8, n_redundant=4, class_sep=1.0, flip_y=0.03, random_state=7
    )
    return np.clip(X[:n] / 6, -1, 1)


def blobs(n: int) -> Array:
    """Five round clusters in eight features."""
    X, _ = datasets.make_blobs(n, 8, centers=5, cluster_std=1.0, center_box=(-6, 6), random_state=3)
    return np.clip(X / 10, -1, 1)


def wine() -> Array:
    """Thirteen features of 178 wines, each from -1 to 1."""
    X = datasets.load_wine().data
    return np.asarray(2 * (X - X.min(axis=0)) / np.ptp(X, axis=0) - 1)


def captured(X: Array, epsilon: float, delta: float, method: Method = "analyze_gauss") -> float:
    """The variance along four private components, as a share of the most."""
    found = PCA(4, method=method, epsilon=epsilon, delta=delta).fit(private(X, 1.0, epsilon, delta)).components_
    covariance = np.cov(X.T)
    return float(np.trace(found @ covariance @ found.T) / np.linalg.eigvalsh(covariance)[-4:].sum())


def inertia(X: Array, centers: Array) -> float:
    """The sum of squared distances from the nearest center."""
    parts = np.array_split(X, max(1, len(X) // 5000))
    return float(sum(np.square(part[:, None] - centers).sum(axis=2).min(axis=1).sum() for part in parts))


def inertia_ratio(X: Array, clusters: int, exact: float, epsilon: float, delta: float) -> float:
    """The inertia of private centers, in units of the exact one."""
    model = KMeans(clusters, epsilon=epsilon, delta=delta).fit(private(X, 1.0, epsilon, delta))
    return inertia(X, model.cluster_centers_) / exact


def principal_components() -> list[Row]:
    """Goals: at epsilon 1, and the shares of a peer at other settings."""
    X, digits = classes(10_000), datasets.load_digits().data / 8 - 1
    return [
        at_least("PCA, n 1e4, epsilon 1", mean_of(lambda: captured(X, 1.0, 1e-6)), 0.999),
        at_least("PCA, n 1e4, epsilon 0.1", mean_of(lambda: captured(X, 0.1, 1e-6)), 0.29),
        at_least("PCA, n 1e4, pure epsilon 1", mean_of(lambda: captured(X, 1.0, 0.0)), 0.98),
        at_least("PCA, digits, epsilon 1", mean_of(lambda: captured(digits, 1.0, 1e-6)), 0.7),
        at_least("PCA, wine, epsilon 0.1", mean_of(lambda: captured(wine(), 0.1, 1e-6)), 0.358),
        at_least("PCA, wine, epsilon 0.3", mean_of(lambda: captured(wine(), 0.3, 1e-6)), 0.387),
        at_least("PCA one by one, n 1e4, pure epsilon 1", mean_of(lambda: captured(X, 1.0, 0.0, "exponential")), 0.8),
        at_least(
            "PCA one by one, wine, pure epsilon 10", mean_of(lambda: captured(wine(), 10.0, 0.0, "exponential")), 0.514
        ),
    ]


def low_rank() -> list[Row]:
    """What a private approximation of rank 4 loses, and what one that follows through time does."""
    X = classes(10_000)
    exact = decomposition.TruncatedSVD(4, random_state=0).fit(X)
    least = float(np.square(X - exact.inverse_transform(exact.transform(X))).sum())

    def lost() -> float:
        found = TruncatedSVD(4, bounds=(-1, 1)).fit(X)
        return float(np.square(X - found.inverse_transform(found.transform(X))).sum()) / least

    timed = np.column_stack([np.linspace(-1, 1, len(X)), X])

    idle = OnlinePCA(4, steps=1, bounds=(-1, 1)).fit(timed).regret(timed)[-1]  # the first axes, to the end

    def regret() -> float:
        return float(OnlinePCA(4, radius=2.0, bounds=(-1, 1)).fit(timed).regret(timed)[-1] / idle)

    return [
        at_most("rank 4, n 1e4, epsilon 1, squared error in units of the least", mean_of(lost), 1.01),
        at_most("online rank 4, n 1e4, 64 steps, epsilon 1, regret in units of no learning's", mean_of(regret), 0.5),
    ]


def clusters() -> list[Row]:
    """Goals: at epsilon 1, and the ratios of a peer at other settings."""
    found = []
    goals = {0.1: 9.51, 0.3: 5.65, 1.0: 1.01, 3.0: 1.01, 10.0: 1.01}
    X = blobs(10_000)
    exact = float(ExactKMeans(5, n_init=5, random_state=0).fit(X).inertia_)
    for epsilon, goal in goals.items():
        ratio = mean_of(lambda epsilon=epsilon: inertia_ratio(X, 5, exact, epsilon, 1e-6))  # type: ignore[misc]
        found.append(at_most(f"k-means, n 1e4, epsilon {epsilon:g}", ratio, goal))
    exact = float(ExactKMeans(3, n_init=5, random_state=0).fit(wine()).inertia_)
    for epsilon, goal in {0.1: 4.97, 0.3: 4.51, 1.0: 3.79}.items():
        for delta in (1e-6, 0.0):
            ratio = mean_of(lambda e=epsilon, d=delta: inertia_ratio(wine(), 3, exact, e, d))  # type: ignore[misc]
            found.append(at_most(f"k-means, wine, epsilon {epsilon:g}, delta {delta:g}", ratio, goal))
    return found


def mixtures() -> list[Row]:
    """Held-out nats per record that are lost against the exact fit."""
    found = []
    for n, epsilon, goal in ((10_000, 3.0, 0.05), (100_000, 1.0, 0.01)):
        X = blobs(n) @ np.diag(1 + 0.1 * np.arange(8))
        held, kept = X[::5], np.delete(X, np.arange(0, n, 5), axis=0)
        exact = mixture.GaussianMixture(5, random_state=0, n_init=3).fit(kept).score(held)

        def lost(kept: Array = kept, held: Array = held, exact: float = exact, epsilon: float = epsilon) -> float:
            model = GaussianMixture(5, epsilon=epsilon).fit(private(kept, 2.0, epsilon, 1e-6))
            return exact - model.score(pd.DataFrame(held, columns=model.feature_names_in_))

        found.append(at_most(f"mixture, n {n:g}, epsilon {epsilon:g}, nats lost", mean_of(lost), goal))
    return found


def seconds() -> list[Row]:
    """Fits of 1e5 records, in units of scikit-learn's."""
    X, round_ = classes(100_000), blobs(100_000)
    pairs: dict[str, tuple[Any, Any, Array]] = {
        "PCA": (PCA(4, bounds=(-1, 1)), decomposition.PCA(4), X),
        "k-means": (KMeans(5, bounds=(-1, 1)), ExactKMeans(5, n_init=5), round_),
        "mixture": (GaussianMixture(5, bounds=(-1, 1)), mixture.GaussianMixture(5), round_),
    }
    found = []
    for name, (ours, exact, records) in pairs.items():
        taken = []
        for model in (ours, exact):
            start = time.process_time()
            for _ in range(3):
                model.fit(records)
            taken.append(time.process_time() - start)
        found.append(at_most(f"{name}, n 1e5, processor time in units of scikit-learn's", taken[0] / taken[1], 2.0))
    return found


def rows() -> list[Row]:
    """All of them."""
    return principal_components() + low_rank() + clusters() + mixtures() + seconds()
