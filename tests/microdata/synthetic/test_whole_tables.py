"""Whole tables by every method: dates, numbers, missing values, users, constraints; and nothing but what was said."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest

from discreet.core.budget import Budget
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.microdata.synthetic.synthesize import METHODS, synthesize
from discreet.microdata.synthetic.synthetic_table import SyntheticTable
from discreet.schema.dates import Date
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.private_data import PrivateData

YES_NO = Category(("no", "yes"))
DAYS = Date("2020-01-01", "2024-12-31")
COLUMNS = ["start", "end", "sex", "pregnant", "dose"]
SCHEMA = Schema(
    dict(zip(COLUMNS, (DAYS, DAYS, Category(("f", "m")), YES_NO, Number(0, 1e4)), strict=True)),
)
CONSTRAINTS = ["end >= start", "sex == 'f' or pregnant == 'no'"]  # many of the records contradict both
PEOPLE = Unit("user", "who", 3)


def patients(n: int, seed: int) -> dict[str, Any]:
    """Patients with three rows each: some leave before they come, all men are pregnant, a tenth has no dose."""
    rng = np.random.default_rng(seed)
    start = np.datetime64("2020-01-01") + rng.integers(0, 900, n)
    sex = rng.choice(["f", "m"], n).astype(object)
    sex[rng.random(n) < 0.2] = None
    dose = np.where(rng.random(n) < 0.5, 0.0, rng.exponential(100, n))
    dose[rng.random(n) < 0.1] = np.nan
    pregnant = np.where(sex == "m", "yes", rng.choice(["no", "yes"], n))
    columns = dict(zip(COLUMNS, (start, start + rng.integers(-5, 60, n), sex.tolist(), pregnant, dose), strict=True))
    return {**columns, "who": (np.arange(n) // 3).astype(str)}


def made(method: str, rows: dict[str, Any], unit: Unit | None, neighbors: Neighbors, **options: Any) -> SyntheticTable:
    shown = rows if unit else {name: rows[name] for name in COLUMNS}
    data = PrivateData.of(shown, SCHEMA, Budget(9.0, 1e-5), neighbors=neighbors, unit=unit or RECORD)
    options = {"target": "pregnant" if method == "diffgen" else None, "bins": 4, "random_state": 1, **options}
    return synthesize(data, COLUMNS, method=method, constraints=CONSTRAINTS, **options)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_keeps_types_missing_values_and_constraints(method: str) -> None:
    """For users and records, where n is secret and where it is public, with a delta and without."""
    rows = patients(1800, 1)
    for unit, neighbors, delta in product((None, PEOPLE), Neighbors, (1e-6, 0.0)):
        table = made(method, rows, unit, neighbors, epsilon=3.0, delta=delta)
        assert 1200 < len(table) < 2400
        known = ~(np.isnat(table["start"]) | np.isnat(table["end"]))
        assert (table["end"][known] >= table["start"][known]).all()
        assert not ((table["sex"] == "m") & (table["pregnant"] == "yes")).any()
        if unit is None:
            assert 0.1 < np.mean([value is None for value in table["sex"]]) < 0.5
            assert 0.03 < np.isnan(table["dose"]).mean() < 0.2
            assert 0.3 < np.mean(table["dose"] == 0.0) < 0.65


@pytest.mark.parametrize("method", METHODS)
def test_answers_about_others_make_the_same_table(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """All that a permit answers about some is said again about others, a third as many: no byte tells them apart."""
    ask = Permit.ask
    for unit, distances, epsilon in product((None, PEOPLE), (0.0, 0.2), (0.02, 3.0)):
        said: list[Any] = []

        def kept(self: Permit, *asked: Any, said: list[Any] = said) -> Any:
            said.append(ask(self, *asked))
            return said[-1]

        def again(self: Permit, *asked: Any, said: list[Any] = said) -> Any:
            ask(self, *asked)
            return said.pop(0)

        found = []
        for answered, rows in ((kept, patients(900, 1)), (again, patients(300, 7))):
            monkeypatch.setattr(Permit, "ask", answered)
            options = {"epsilon": epsilon, "delta": 1e-6, "distances": distances}
            table = made(method, rows, unit, Neighbors.ADD_REMOVE, **options)
            notes = [table.model.to_notes(), table.compared.to_notes() if table.compared else None]
            plain = json.dumps(notes, default=lambda own: own.tolist() if hasattr(own, "tolist") else repr(own))
            found.append((table.records.tobytes(), plain, table.receipt.epsilon))
        assert not said
        assert found[0] == found[1]
