"""Four hospitals learn from all of their patients, and show their tables to nobody.

Each hospital is a process of its own, with its own key, its own table and its own account; they talk over TLS. For a
question, each adds up its records, adds its share of the noise and masks the sum. In each round only the noisy total
over those who stay can be opened; when a hospital drops out, two such totals tell what its records, with noise, add.

Run: python examples/hospitals.py
"""

from __future__ import annotations

import csv
import tempfile
import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet import Budget, Category, Neighbors, Number, PrivateData, Schema, SqliteLedger, count
from discreet.learners import KMeans
from discreet.releases.estimate import Estimate
from discreet.releases.table import Table
from discreet.service.local_parties import local_parties
from discreet.statistics.moments.grouped import grouped

# What is public: agreed on by all four, and taken from nobody's table.
WARDS = ("maternity", "surgery", "medicine", "geriatrics")
SCHEMA = Schema({"age": Number(0, 110), "stay_days": Number(0, 40), "ward": Category(WARDS)})
HOSPITALS = {"north": 7000, "east": 5000, "south": 9000, "harbour": 4000}
BUDGET = Budget(epsilon=2.0, delta=1e-6)


@dataclass(frozen=True)
class Findings:
    """What an analyst asks of any patients, wherever they are."""

    stays: Table
    kinds: KMeans


def findings(data: PrivateData) -> Findings:
    """How long patients stay, ward by ward, and which kinds of patients there are."""
    stays = grouped(data, "stay_days", by="ward", epsilon=0.5)
    kinds = KMeans(3, columns=["age", "stay_days"], epsilon=1.0, delta=1e-7, random_state=0).fit(data)
    return Findings(stays, kinds)


def main() -> dict[str, Any]:
    """Ask the four hospitals, and beside them a curator who has all tables in one place."""
    with tempfile.TemporaryDirectory() as folder:
        tables = {name: written(Path(folder) / f"{name}.csv", name) for name in HOSPITALS}
        pooled = findings(PrivateData.of(folder, SCHEMA, account(folder, "pooled")))

        # Any three of the four are enough to answer, and one of them may work together with the asker.
        with local_parties(tables, SCHEMA, BUDGET, threshold=3, colluding=1) as hospitals:
            data = PrivateData(hospitals.trust, account(folder, "together"))
            together = findings(data)
            show(together, pooled)
            patients = [count(data, "age", epsilon=0.1)]
            hospitals["harbour"].kill()
            with warnings.catch_warnings(record=True) as warned:  # what the library says of it is printed below
                warnings.simplefilter("always")
                patients += [count(data, "age", epsilon=0.1)]
            tell(patients, warned)
            print(f"\nThe asker's account: {data.ledger.balance()}.")
    return {
        "stays": [one.stays["mean"].values.tolist() for one in (together, pooled)],
        "kinds": [ages_and_stays(one.kinds) for one in (together, pooled)],
        "patients": [one.value for one in patients],
    }


def show(together: Findings, pooled: Findings) -> None:
    """Two answers side by side."""
    print(f"{'':<18}{'four hospitals, masked':>26}{'one trusted curator':>26}")
    print("Mean stay, in days")
    for i, ward in enumerate(WARDS):
        stays = (one.stays["mean"].texts()[i] for one in (together, pooled))
        print(f"  {ward:<16}" + "".join(f"{stay:>26}" for stay in stays))
    print("Kinds of patients")
    both = (ages_and_stays(one.kinds) for one in (together, pooled))
    for number, centers in enumerate(zip(*both, strict=True), 1):
        kinds = (f"{age:.0f} years, {stay:.0f} days" for age, stay in centers)
        print(f"  kind {number:<11}" + "".join(f"{kind:>26}" for kind in kinds))
    print(f"\nThe receipt of these kinds\n{together.kinds.receipt_}")


def tell(patients: list[Estimate], warned: list[warnings.WarningMessage]) -> None:
    """Two counts, and what they tell together.

    Masks hide each hospital's own sum in every single round. Where two rounds have different hospitals in them, the
    difference of their answers is the sum of the others, with the noise of both rounds: as private as was paid for, but
    it is that hospital's own number.
    """
    for one in patients:
        print(f"\n{one}\n  of {one.receipt.participants}")
    difference = patients[0].value - patients[1].value
    print(f"\nThe difference, {difference:,.0f}, is about the harbour alone. The library warned of it:")
    print("\n".join(f"  {one.category.__name__}: {one.message}" for one in warned))


def ages_and_stays(kinds: KMeans) -> list[list[float]]:
    """The centers, youngest first."""
    return sorted(kinds.cluster_centers_.tolist())


def account(folder: str, name: str) -> SqliteLedger:
    """An account that is charged before anything is asked."""
    return SqliteLedger.create(Path(folder) / f"{name}.ledger", BUDGET, name=name, neighbors=Neighbors.ADD_REMOVE)


def written(path: Path, hospital: str) -> Path:
    """A made-up table: mothers, people with an operation, and the old and frail, in other shares at each hospital."""
    rng = np.random.default_rng(list(HOSPITALS).index(hospital))
    kinds = rng.choice(3, size=HOSPITALS[hospital], p=rng.dirichlet([20, 20, 20]))
    age = rng.normal(np.array([30, 52, 80])[kinds], 5)
    stay = rng.gamma(16, np.array([4, 8, 20])[kinds] / 16)
    ward = np.array([[0, 0, 1], [1, 1, 2], [2, 3, 3]])[kinds, rng.integers(3, size=len(kinds))]
    with path.open("w", newline="", encoding="utf-8") as file:
        rows = csv.writer(file)
        rows.writerow(SCHEMA.columns)
        rows.writerows(zip(age.round(1), stay.round(1), np.array(WARDS)[ward], strict=True))
    return path


if __name__ == "__main__":
    main()
