"""The sample table behind an account of its own, to try things on."""

from __future__ import annotations

import csv
import shutil
import tempfile
import weakref
from pathlib import Path

from discreet.accounting.sqlite_ledger import SqliteLedger
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.schema import Number
from discreet.query.sample import SCHEMA, TABLE
from discreet.query.schema_file import read_schema
from discreet.trust.private_data import PrivateData

NAMES = (TABLE.stem,)


def sample(name: str = "patients", *, epsilon: float = 2.0, delta: float = 1e-6) -> PrivateData:
    """Open the synthetic table that comes with this library, with an account that lasts as long as the object.

    Parameters
    ----------
    name : {"patients"}
        Public. Which table: 5,000 made-up stays in a hospital, with age, sex, weight_kg, systolic, department, town
        and stay_days. No row is about anybody.
    epsilon, delta : float
        Public. The budget of the account. Every call opens another one: what is asked here is practice.

    Examples
    --------
    >>> from discreet import mean, sample
    >>> patients = sample("patients")
    >>> abs(mean(patients, "age", epsilon=0.5).value - 52) < 3
    True
    >>> ", ".join(patients.schema.columns)
    'age, sex, weight_kg, systolic, department, town, stay_days'
    """
    if name not in NAMES:
        raise ParameterError("sample", f"there is none called {name!r}", f"There is {', '.join(NAMES)}.", name=name)
    described, budget = read_schema(SCHEMA), Budget(epsilon, delta)
    with TABLE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    kinds = described.schema.columns
    columns = {
        column: [_number(text) for text in texts] if isinstance(kinds[column], Number) else list(texts)
        for column, texts in zip(header, zip(*rows, strict=True), strict=True)
    }
    folder = tempfile.mkdtemp(prefix="discreet-")
    ledger = SqliteLedger.create(Path(folder, f"{name}.ledger"), budget, name=name, neighbors=described.neighbors)
    weakref.finalize(ledger, shutil.rmtree, folder, ignore_errors=True)
    return PrivateData.of(columns, described.schema, ledger, neighbors=described.neighbors)


def _number(text: str) -> float | None:
    return float(text) if text else None
