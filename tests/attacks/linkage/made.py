"""People of a town, and what somebody knows of them."""

from __future__ import annotations

from typing import Any

import numpy as np

Rng = np.random.Generator


def people(rng: Rng, number: int = 2000) -> dict[str, Any]:
    """Independent columns: who shares them all with somebody else is rare."""
    return {
        "born": rng.integers(0, 20_000, number).astype(float),
        "sex": rng.choice(["f", "m"], number),
        "zip": rng.choice([f"0{code}" for code in range(50)], number),
        "work": rng.integers(0, 30, number).astype(float),
        "income": rng.normal(50, 15, number),
    }


def chosen(table: dict[str, Any], rows: Any) -> dict[str, Any]:
    """Some rows of a table."""
    return {name: np.asarray(values)[rows] for name, values in table.items()}
