"""A mixture model gives a record away: one far from all others gets a part of its own, whose mean is the record.

A thousand people earn between 20 and 80 thousand a year; one earns 412. Whoever sees the parts of the exact mixture
reads her income, and her age, to the last digit. The private one is no closer with her than without her.

Run: python examples/singleton_cluster.py
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from sklearn.mixture import GaussianMixture as Exact

from discreet.learners import GaussianMixture

SHE = np.array([47.25, 412.75])  # age, and income in thousands
SCALE = np.array([100.0, 500.0])


def people(n: int = 1000) -> pd.DataFrame:
    """Everybody else."""
    rng = np.random.default_rng(0)
    young = rng.random(n) < 0.5
    ages = np.where(young, rng.normal(30, 4, n), rng.normal(55, 5, n))
    incomes = np.where(young, rng.normal(35, 5, n), rng.normal(60, 7, n))
    return pd.DataFrame({"age": ages, "income": incomes})


def nearest(means: np.ndarray) -> float:
    """How far the nearest mean of a part is from her, in shares of the ranges."""
    return float(np.linalg.norm((means - SHE) / SCALE, axis=1).min())


def main() -> dict[str, Any]:
    """Distances of the nearest mean from her: exact, private with her, and private without her."""
    others = people()
    everybody = pd.concat([others, pd.DataFrame([SHE], columns=others.columns)])
    exact = Exact(3, n_init=5, random_state=0).fit(everybody)
    bounds = ([0.0, 0.0], SCALE.tolist())
    private = {
        name: [nearest(GaussianMixture(3, bounds=bounds, epsilon=1.0).fit(table).means_) for _ in range(15)]
        for name, table in (("with her", everybody), ("without her", others))
    }
    print("exact mixture, mean of the smallest part:", exact.means_[np.argmin(exact.weights_)].round(2))
    for name, distances in private.items():
        print(f"private, {name}: nearest mean at {np.median(distances):.2f} of the ranges (median of 15 fits)")
    return {"exact": nearest(exact.means_), **private}


if __name__ == "__main__":
    main()
