"""Four clinics learn together, under three schemes, with the same lines.

Each clinic is a process of its own, with its own key, table and account. Under masks nobody sees a clinic's own sums,
and every model that learns from bounded sums runs as it stands. Under verified shares (Our Data, Ourselves) a clinic
may lie, and what it says is proved to be in range. `odo` is for counts in each of which a record is once: what asks
such counts runs as it stands, and all else is refused before anything is spent. `odo-vector` is for every bounded sum,
and runs all that masks do.

Run: python examples/organisations.py
"""

from __future__ import annotations

import csv
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from discreet import Budget, Category, Neighbors, Number, PrivateData, Schema, SqliteLedger, histogram
from discreet.core.errors import NotPermitted, ParameterError
from discreet.learners import PCA, CategoricalNB, KMeans, LogisticRegression
from discreet.sequential import series_of_events
from discreet.service.local_parties import local_parties

# What is public: agreed on by all four, and taken from nobody's table.
SCHEMA = Schema({"age": Number(0, 100), "dose": Number(0, 10), "week": Number(0, 52), "ill": Category(("no", "yes"))})
CLINICS = ("ash", "birch", "cedar", "elm")
PATIENTS, BUDGET = 1500, Budget(epsilon=20.0, delta=1e-4)
PRICE: dict[str, Any] = {"epsilon": 2.0, "delta": 1e-6}

LESSONS: dict[str, Callable[[PrivateData], list[float]]] = {
    "histogram": lambda data: np.asarray(histogram(data, "age", bins=4, **PRICE).counts, dtype=float).tolist(),
    "logistic regression": lambda data: LogisticRegression(target="ill", **PRICE).fit(data).coef_.ravel().tolist(),
    "k-means": lambda data: np.sort(
        KMeans(2, columns=["age", "dose"], random_state=0, **PRICE).fit(data).cluster_centers_[:, 0]
    ).tolist(),
    "naive Bayes": lambda data: CategoricalNB(bins=4, target="ill", **PRICE).fit(data).class_prior_.tolist(),
    "principal component": lambda data: (
        np.abs(PCA(1, columns=["age", "dose"], **PRICE).fit(data).components_).ravel().tolist()
    ),
    "Fourier series": lambda data: series_of_events(
        data, "week", periods=13, coefficients=2, epsilon=2.0, delta=1e-6
    ).values.tolist(),
}


def main() -> dict[str, Any]:
    """Learn under each scheme, and print what was found or why it was refused."""
    found: dict[str, Any] = {}
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: written(Path(folder) / f"{name}.csv", name) for name in CLINICS}
        for scheme in ("masks", "odo", "odo-vector"):
            print(f"\nScheme {scheme}")
            with local_parties(tables, SCHEMA, BUDGET, threshold=3, scheme=scheme, largest=2047) as clinics:
                print(f"  {clinics.trust.federation.protocol.hides}")
                ledger = SqliteLedger.create(
                    Path(folder) / f"{scheme}.ledger", BUDGET, name=scheme, neighbors=Neighbors.ADD_REMOVE
                )
                found[scheme] = {name: learnt(name, PrivateData(clinics.trust, ledger)) for name in LESSONS}
                print(f"  The asker's account: {ledger.balance()}.")
    return found


def learnt(name: str, data: PrivateData) -> list[float] | str:
    """What a model has learnt, or in which words it was refused."""
    try:
        values = LESSONS[name](data)
    except (NotPermitted, ParameterError) as why:
        print(f"  {name:<20} refused: {why}")
        return str(why)
    print(f"  {name:<20} {'  '.join(f'{value:.3g}' for value in values)}")
    return values


def written(path: Path, clinic: str) -> Path:
    """A made-up table: who is older gets more of the medicine, is ill more often, and comes in winter."""
    rng = np.random.default_rng(CLINICS.index(clinic))
    age = np.where(rng.random(PATIENTS) < 0.5, rng.normal(30, 6, PATIENTS), rng.normal(70, 6, PATIENTS))
    dose = np.clip(age / 12 + rng.normal(0, 1, PATIENTS), 0, 10)
    ill = rng.random(PATIENTS) < 1 / (1 + np.exp(-(age - 50) / 6))
    week = rng.triangular(0, 0, 52, PATIENTS)
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(SCHEMA.columns)
        rows.writerows(zip(age.round(1), dose.round(2), week.round(1), np.where(ill, "yes", "no"), strict=True))
    return path


if __name__ == "__main__":
    main()
