"""Small tables that the tests of this room share."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from discreet.core.budget import Budget
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.private_data import PrivateData

SCHEMA = Schema({"age": Number(0, 100), "sex": Category(("f", "m")), "town": Text()})
NUMBERS = Schema({"age": Number(0, 100), "sex": Category(("f", "m"))})
BUDGET = Budget(1.0, 1e-6)


def rows(count: int = 2000) -> list[str]:
    """So many made-up lines: ages around 40, half of the people in one town."""
    rng = np.random.default_rng(5)
    ages = rng.normal(40, 12, count).clip(0, 100).round(1)
    towns = np.where(rng.random(count) < 0.5, "Rome", np.where(rng.random(count) < 0.5, "Oslo", "Lima"))
    return [f"{age},{'f' if i % 2 else 'm'},{town}" for i, (age, town) in enumerate(zip(ages, towns, strict=True))]


def ages(lines: list[str]) -> np.ndarray:
    """The ages in such lines."""
    return np.array([float(line.split(",")[0]) for line in lines])


def written(path: Path, lines: list[str]) -> Path:
    """The lines as a CSV file."""
    path.write_text("\n".join(["age,sex,town", *lines]) + "\n", encoding="utf-8")
    return path


def private(
    records: object,
    schema: Schema = SCHEMA,
    budget: Budget = BUDGET,
    *,
    seed: int = 1,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    unit: Unit = RECORD,
) -> PrivateData:
    """The records behind a curator whose noise can be replayed."""
    account = MemoryLedger(budget, neighbors, unit)
    return PrivateData.of(records, schema, account, neighbors=neighbors, unit=unit, bits=DeterministicBits(seed))
