"""The tables behind the constants of components, k-means and mixtures, on made-up records of no benchmark.

    python -m benchmarks.tuning_clusters [components | one_by_one | clusters | starts | mixtures ...]

Every table has the mean score over data sets and noise, the least or greatest of which a constant was taken from.
"""

from __future__ import annotations

import itertools
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from types import ModuleType
from typing import Any, Literal

import numpy as np

from discreet.core.grid import Array
from discreet.learners import PCA, GaussianMixture, KMeans
from discreet.learners.clusters import gaussian_mixture, kmeans
from discreet.learners.components import components

FITS = 8  # with fresh noise, of each data set


@contextmanager
def set_to(module: ModuleType, **constants: float) -> Iterator[None]:
    """These constants, for a while."""
    before = {name: getattr(module, name) for name in constants}
    for name, value in constants.items():
        setattr(module, name, value)
    try:
        yield
    finally:
        for name, value in before.items():
            setattr(module, name, value)


def spectra() -> list[Array]:
    """Records around a mean that is not the middle, with variances that fall slowly or fast."""
    found = []
    for seed, (n, d, fall) in enumerate(((1000, 6, 0.5), (3000, 12, 0.7), (8000, 24, 0.85), (20_000, 24, 0.6))):
        rng = np.random.default_rng(100 + seed)
        turn = np.linalg.qr(rng.normal(size=(d, d)))[0]
        X = rng.normal(size=(n, d)) * 0.3 * fall ** np.arange(d) @ turn.T + rng.uniform(-0.3, 0.3, d)
        found.append(np.clip(X, -1, 1))
    return found


def clumps() -> list[Array]:
    """Round clusters of different sizes."""
    found = []
    for seed, (n, d, k, width) in enumerate(((600, 5, 4, 0.12), (4000, 9, 6, 0.12), (20_000, 4, 7, 0.08))):
        rng = np.random.default_rng(200 + seed)
        part = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0)))
        found.append(np.clip(rng.uniform(-0.7, 0.7, (k, d))[part] + rng.normal(0, width, (n, d)), -1, 1))
    return found


def captured(X: Array, **how: Any) -> float:
    """The variance along three private components, as a share of the most."""
    found = PCA(3, bounds=(-1, 1), **how).fit(X).components_
    covariance = np.cov(X.T)
    return float(np.trace(found @ covariance @ found.T) / np.linalg.eigvalsh(covariance)[-3:].sum())


def inertia(X: Array, **how: Any) -> float:
    """The logarithm of the mean squared distance from the nearest of five private centers."""
    centers = KMeans(5, bounds=(-1, 1), **how).fit(X).cluster_centers_
    return float(np.log(np.square(X[:, None] - centers).sum(axis=2).min(axis=1).mean()))


def density(X: Array, **how: Any) -> float:
    """Nats per record."""
    return GaussianMixture(5, bounds=(-1, 1), **how).fit(X).score(X)


def mean_score(score: Callable[..., float], sets: Sequence[Array], epsilons: Sequence[float], **how: Any) -> float:
    """Over data sets, epsilons and noise."""
    cases = itertools.product(sets, epsilons, range(FITS))
    return float(np.mean([score(X, epsilon=epsilon, **how) for X, epsilon, _ in cases]))


def table(name: str, module: ModuleType, grid: dict[str, Sequence[float]], score: Callable[[], float]) -> None:
    """A row for each combination of constants."""
    print(name)
    for values in itertools.product(*grid.values()):
        with set_to(module, **dict(zip(grid, values, strict=True))):
            words = ", ".join(f"{key} {value:g}" for key, value in zip(grid, values, strict=True))
            print(f"  {words:50} {score():.4f}", flush=True)


def run_components() -> None:
    """The parts of the place, and the share of records that are not shrunk."""
    sets, epsilons = spectra(), (0.3, 1.0)
    score = lambda: mean_score(captured, sets, epsilons)  # noqa: E731
    table("variance captured, by CENTER", components, {"CENTER": (0.05, 0.1, 0.16, 0.25)}, score)
    table("variance captured, by RADIUS", components, {"RADIUS": (0.01, 0.04, 0.1)}, score)
    table("variance captured, by INSIDE", components, {"INSIDE": (0.7, 0.8, 0.9, 0.97)}, score)


def run_one_by_one() -> None:
    """What the exponential mechanism leaves to sums."""
    sets, epsilons = spectra(), (1.0, 3.0)
    for delta in (1e-6, 0.0):
        score = lambda d=delta: mean_score(captured, sets, epsilons, method="exponential", delta=d)  # noqa: E731
        table(f"variance captured one by one, delta {delta:g}", components, {"SUMS": (0.2, 0.35, 0.5)}, score)


def run_clusters() -> None:
    """The part of the start of k-means."""
    sets, epsilons = clumps(), (0.3, 1.0)
    for start in (0.3, 0.4, 0.5, 0.63, 0.8):
        with set_to(kmeans, START=start, STEPS=1 - start):
            print(f"  log inertia, START {start:g}: {mean_score(inertia, sets, epsilons):.4f}", flush=True)


def many_features() -> list[tuple[int, Array]]:
    """Wide clusters in few to many features, around a mean that is not the middle; and how many there are."""
    found = []
    for seed, (n, d, k, width) in enumerate(
        ((600, 5, 4, 0.12), (1500, 20, 6, 0.2), (2000, 40, 8, 0.25), (1500, 60, 10, 0.3), (4000, 9, 6, 0.12))
    ):
        rng = np.random.default_rng(300 + seed)
        part, mean = rng.choice(k, n, p=rng.dirichlet(np.full(k, 5.0))), rng.uniform(-0.6, 0.6, d)
        X = mean + rng.normal(0, 0.3, (k, d))[part] + rng.normal(0, width, (n, d))
        found.append((k, np.clip(X, -1, 1)))
    return found


def run_starts() -> None:
    """Inertia of k-means, in units of that of the mean, from a grid and from the mean, by constants of the latter."""
    tried: tuple[tuple[Literal["grid", "mean"], float, float], ...]
    tried = (("grid", 0.15, 0.5), ("mean", 0.05, 0.5), ("mean", 0.15, 0.5), ("mean", 0.5, 0.5), ("mean", 0.15, 1.0))
    print("delta, n, d, k, epsilon: " + "; ".join(f"{init}, MEAN {mean}, LONGEST {most}" for init, mean, most in tried))
    for delta, (k, X), epsilon in itertools.product((1e-6, 0.0), many_features(), (0.1, 0.3, 1.0, 3.0, 10.0)):
        cells = []
        for init, mean, longest in tried:
            with set_to(kmeans, MEAN=mean, LONGEST=longest):
                model = KMeans(k, init=init, bounds=(-1, 1), epsilon=epsilon, delta=delta)
                centers = [model.fit(X).cluster_centers_ for _ in range(FITS)]
            inertias = [np.square(X[:, None] - each).sum(axis=2).min(axis=1).sum() for each in centers]
            cells.append(np.mean(inertias) / np.square(X - X.mean(axis=0)).sum())
        words = f"{delta:g} {len(X)} {X.shape[1]} {k} {epsilon:g}: "
        print(words + "  ".join(f"{cell:.3f}" for cell in cells), flush=True)


def run_mixtures() -> None:
    """The parts of the start and of the steps of a mixture."""
    sets, epsilons = clumps(), (1.0, 3.0)
    for start, step in ((0.2, 0.1), (0.3, 0.05), (0.3, 0.1), (0.3, 0.2), (0.4, 0.1), (0.5, 0.2)):
        with set_to(gaussian_mixture, START=start, STEP=step, ROUNDS=1 - start - step):
            print(f"  nats, START {start:g}, STEP {step:g}: {mean_score(density, sets, epsilons):.4f}", flush=True)


if __name__ == "__main__":
    for asked in sys.argv[1:] or ("components", "one_by_one", "clusters", "starts", "mixtures"):
        globals()[f"run_{asked}"]()
