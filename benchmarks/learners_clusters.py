"""Principal components, k-means and Gaussian mixtures: accuracy beside diffprivlib's and goals, and time."""

from __future__ import annotations

from functools import lru_cache, partial
from typing import Any

import numpy as np
from sklearn import decomposition, mixture
from sklearn.cluster import KMeans as ExactKMeans

from benchmarks.cells import EPSILONS, Cell, Figure, peer
from benchmarks.learning_data import blobs, classified
from benchmarks.rows import Row, at_most, cpu_seconds
from discreet.core.budget import Budget
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.learners import PCA, GaussianMixture, KMeans, OnlinePCA, TruncatedSVD
from discreet.learners.components.pca import Method
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

DELTA = 1e-6
CLUSTERS = {"1e4": 5, "1e5": 5, "wine": 3, "digits": 10}
PROMISED_COMPONENTS = {("1e4", 1.0, DELTA): 0.999, ("digits", 1.0, DELTA): 0.7, ("1e4", 1.0, 0.0): 0.98}
PROMISED_CLUSTERS = {("1e4", epsilon, DELTA): 1.01 for epsilon in (1.0, 3.0, 10.0)}


def private(X: Array, reach: float, epsilon: float, delta: float) -> PrivateData:
    """Replace neighbors, with a budget for one fit."""
    schema = Schema.numeric(-reach, reach, X.shape[1])
    return PrivateData.of(X, schema, Budget(epsilon, delta), neighbors=Neighbors.REPLACE)


def captured(name: str, method: Method, epsilon: float, delta: float, seed: int) -> float:
    """The variance along four private components, as a share of the most."""
    X = classified(name, seed).X
    found = PCA(4, method=method, epsilon=epsilon, delta=delta).fit(private(X, 1.0, epsilon, delta)).components_
    covariance = np.cov(X.T)
    return float(np.trace(found @ covariance @ found.T) / np.linalg.eigvalsh(covariance)[-4:].sum())


def clustered(name: str) -> Array:
    """Round clusters, or all records of a data set."""
    return blobs(int(float(name))) if name in ("1e4", "1e5") else _whole(name)


@lru_cache(2)
def _whole(name: str) -> Array:
    data = classified(name)
    return np.concatenate([data.X, data.others])


@lru_cache(4)
def exact_inertia(name: str) -> float:
    """Without noise."""
    return float(ExactKMeans(CLUSTERS[name], n_init=5, random_state=0).fit(clustered(name)).inertia_)


def inertia_ratio(name: str, epsilon: float, delta: float, seed: int) -> float:
    """The sum of squared distances from the nearest private center, in units of the exact one."""
    X = clustered(name)
    model = KMeans(CLUSTERS[name], epsilon=epsilon, delta=delta, random_state=seed)
    centers = model.fit(private(X, 1.0, epsilon, delta)).cluster_centers_
    parts = np.array_split(X, max(1, len(X) // 5000))
    found = sum(np.square(part[:, None] - centers).sum(axis=2).min(axis=1).sum() for part in parts)
    return float(found) / exact_inertia(name)


def low_rank(seed: int) -> float:
    """The squared error of four factors, in units of the least."""
    X = classified("1e4").X
    exact = decomposition.TruncatedSVD(4, random_state=0).fit(X)
    found = TruncatedSVD(4, bounds=(-1, 1)).fit(X)
    ours, least = (np.square(X - one.inverse_transform(one.transform(X))).sum() for one in (found, exact))
    return float(ours / least)


def regret(seed: int) -> float:
    """That of online components, in units of what the first axes have."""
    X = classified("1e4").X
    timed = np.column_stack([np.linspace(-1, 1, len(X)), X])
    idle = OnlinePCA(4, steps=1, bounds=(-1, 1)).fit(timed).regret(timed)[-1]
    return float(OnlinePCA(4, radius=2.0, bounds=(-1, 1)).fit(timed).regret(timed)[-1] / idle)


def nats_lost(n: int, epsilon: float, seed: int) -> float:
    """Held-out nats per record that a mixture loses against the exact fit."""
    X = blobs(n) @ np.diag(1 + 0.1 * np.arange(8))
    held, kept = X[::5], np.delete(X, np.arange(0, n, 5), axis=0)
    model = GaussianMixture(5, bounds=(-2, 2), epsilon=epsilon).fit(kept)
    return _exact_nats(n) - float(model.score(held))


@lru_cache(2)
def _exact_nats(n: int) -> float:
    X = blobs(n) @ np.diag(1 + 0.1 * np.arange(8))
    held, kept = X[::5], np.delete(X, np.arange(0, n, 5), axis=0)
    return float(mixture.GaussianMixture(5, random_state=0, n_init=3).fit(kept).score(held))


def cells() -> list[Cell]:
    """Goals that were promised, and what the peer reaches; None where it gave no answer within a minute."""
    found = []
    for delta in (DELTA, 0.0):
        for name in ("breast_cancer", "wine", "digits", "1e4"):
            for epsilon in EPSILONS:
                goal: Figure | float | None = peer("PCA", name, epsilon)
                goal = PROMISED_COMPONENTS.get((name, epsilon, delta), goal)
                score = partial(captured, name, "analyze_gauss", epsilon, delta)
                found.append(Cell(f"PCA {name}, epsilon {epsilon:g}, delta {delta:g}", score, goal))
        for name in CLUSTERS:
            for epsilon in EPSILONS:
                goal = PROMISED_CLUSTERS.get((name, epsilon, delta), peer("k-means", name, epsilon, less=True))
                score = partial(inertia_ratio, name, epsilon, delta)
                found.append(Cell(f"k-means {name}, epsilon {epsilon:g}, delta {delta:g}", score, goal, less=True))
    for name, epsilon, goal in (("1e4", 1.0, 0.8), ("wine", 10.0, peer("PCA", "wine", 10.0))):
        claim = f"PCA one by one {name}, epsilon {epsilon:g}, delta 0"
        found.append(Cell(claim, partial(captured, name, "exponential", epsilon, 0.0), goal))
    return [
        *found,
        Cell("rank 4 1e4, epsilon 1, squared error in units of the least", low_rank, 1.01, less=True),
        Cell("online rank 4 1e4, 64 steps, epsilon 1, regret in units of no learning's", regret, 0.5, less=True),
        Cell("mixture 1e4, epsilon 3, nats lost", partial(nats_lost, 10_000, 3.0), 0.05, less=True),
        Cell("mixture 1e5, epsilon 1, nats lost", partial(nats_lost, 100_000, 1.0), 0.01, less=True),
    ]


def rows() -> list[Row]:
    """Fits of 1e5 records, in units of scikit-learn's."""
    X, round_ = classified("1e5").X, blobs(100_000)
    pairs: dict[str, tuple[Any, Any, Array]] = {
        "PCA": (PCA(4, bounds=(-1, 1)), decomposition.PCA(4), X),
        "k-means": (KMeans(5, bounds=(-1, 1)), ExactKMeans(5, n_init=5), round_),
        "mixture": (GaussianMixture(5, bounds=(-1, 1)), mixture.GaussianMixture(5), round_),
    }
    jobs = [partial(model.fit, records) for *models, records in pairs.values() for model in models]
    spent = cpu_seconds(*jobs, rounds=5)
    return [
        at_most(f"{name} 1e5, processor time in units of scikit-learn's", ours / exact, 2.0)
        for name, ours, exact in zip(pairs, spent[::2], spent[1::2], strict=True)
    ]
