"""Local principal components: the squared sine of the angle to the true subspace, and the time of the sparse solver.

    python -m benchmarks.local_pca

Rows have length one, 200 coordinates of which 10 take part, and two components. A million reports of 20,100 numbers
each are not made: their sum is drawn at once. That is exact in law for Gaussian noise, of which a sum is Gaussian with
n times the variance; for reports on the sphere it is the central limit, with their exact mean and their deviation. The
mean of x x' is that of 100,000 people, so that a million would be off by a little less.
"""

from __future__ import annotations

import math
import time

import numpy as np

from benchmarks.rows import Row, at_most, printed, report
from discreet.core.grid import Array
from discreet.local.subspaces.product_moments import ProductMoments, squared_sine
from discreet.local.subspaces.product_report import GaussianProducts, PrivUnitProducts, ProductReport

P, OWN, K, DRAWS, ROWS = 200, 10, 2, 3, 10**5


def truth(p: int, own: int, rng: np.random.Generator) -> Array:
    """Two components on the first coordinates, as rows."""
    basis = np.zeros((K, p))
    basis[:, :own] = np.linalg.qr(rng.normal(size=(own, K)))[0].T
    return basis


def products(basis: Array, rng: np.random.Generator, least: float = 0.0) -> Array:
    """The mean of x x' over rows of length one, with eigenvalues in the proportion 1 : 0.7 and little else.

    Rows are divided by their lengths; or, if `least` is 1, those alone that are longer than one.
    """
    rows = (rng.normal(size=(ROWS, K)) * np.sqrt([0.5, 0.35])) @ basis
    rows += rng.normal(size=rows.shape) * math.sqrt(0.15 / basis.shape[1])
    rows /= np.maximum(np.linalg.norm(rows, axis=1, keepdims=True), least)
    return np.asarray(rows.T @ rows / ROWS)


def collected(kind: ProductReport, mean: Array, n: int, rng: np.random.Generator) -> ProductMoments:
    """What a collector has after n reports."""
    tally = np.zeros(kind.form.shape, np.int64)
    moments: ProductMoments = kind.estimated(tally, n, simulated=True)
    noise = np.triu(rng.normal(0, moments.stddev / math.sqrt(2), mean.shape), 1)
    whole = mean + noise + noise.T + np.diag(rng.normal(0, moments.stddev, len(mean)))
    return ProductMoments(whole, moments.stddev, n, moments.receipt)


def rows() -> list[Row]:
    """All figures, each the mean of some draws."""
    found: dict[str, list[float]] = {}
    for seed in range(DRAWS):
        rng = np.random.default_rng(seed)
        basis = truth(P, OWN, rng)
        even, shorter = products(basis, rng), products(basis, rng, least=1.0)
        for n in (10**5, 10**6):
            for name, kind, mean in (
                ("gaussian", GaussianProducts(1.0, P), even),
                ("sphere", PrivUnitProducts(1.0, P), even),
                ("shorter", GaussianProducts(1.0, P), shorter),
            ):
                moments, at = collected(kind, mean, n, rng), f"{name} {n:.0e}"
                found.setdefault(f"{at} dense", []).append(squared_sine(moments.components(K), basis))
                start = time.perf_counter()
                found.setdefault(f"{at} sparse", []).append(squared_sine(moments.sparse_components(K), basis))
                found.setdefault("seconds", []).append(time.perf_counter() - start)
    means = {name: float(np.mean(numbers)) for name, numbers in found.items()}
    about = f"p {P}, {OWN} own, epsilon 1"
    return [
        at_most(f"Gaussian, delta 1e-6, {about}, n 1e6: dense", means["gaussian 1e+06 dense"], 0.1),
        at_most(f"Gaussian, delta 1e-6, {about}, n 1e6: sparse", means["gaussian 1e+06 sparse"], 0.045),
        at_most(f"sphere, pure, {about}, n 1e6: dense", means["sphere 1e+06 dense"], 0.1),
        at_most(f"sphere, pure, {about}, n 1e6: sparse", means["sphere 1e+06 sparse"], 0.045),
        printed(f"Gaussian, delta 1e-6, {about}, n 1e5: dense", means["gaussian 1e+05 dense"]),
        printed(f"Gaussian, delta 1e-6, {about}, n 1e5: sparse", means["gaussian 1e+05 sparse"]),
        printed(f"sphere, pure, {about}, n 1e5: dense", means["sphere 1e+05 dense"]),
        printed(f"sphere, pure, {about}, n 1e5: sparse", means["sphere 1e+05 sparse"]),
        printed("Gaussian, rows of length up to one, n 1e5: dense (0.96 noted)", means["shorter 1e+05 dense"]),
        printed("Gaussian, rows of length up to one, n 1e5: sparse (0.44 noted)", means["shorter 1e+05 sparse"]),
        printed("Gaussian, rows of length up to one, n 1e6: dense (0.088 noted)", means["shorter 1e+06 dense"]),
        at_most(
            "Gaussian, rows of length up to one, n 1e6: sparse (0.039 noted)", means["shorter 1e+06 sparse"], 0.045
        ),
        at_most("sparse solver, seconds at most", max(found["seconds"]), 10),
    ]


if __name__ == "__main__":
    report("local_pca", rows())
