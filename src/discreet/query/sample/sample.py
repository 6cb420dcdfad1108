"""The sample table behind an account of its own, to try things on."""

from __future__ import annotations

import csv
from typing import Any

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.query.sample import SCHEMA, TABLE
from discreet.query.schema_file import read_schema
from discreet.schema.schema import Number
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
    described = read_schema(SCHEMA)
    return PrivateData.of(sample_records(name), described.schema, Budget(epsilon, delta), neighbors=described.neighbors)


def sample_records(name: str = "patients") -> dict[str, list[Any]]:
    """Read the records of the synthetic table, in the open: they are about nobody.

    Parameters
    ----------
    name : {"patients"}
        Public. Which table; see `sample`.

    Returns
    -------
    dict of str to list
        The columns; a missing number is None. `pandas.DataFrame(...)` makes a data frame of it.

    Examples
    --------
    >>> from discreet import sample_records
    >>> {column: values[0] for column, values in sample_records().items()}["department"]
    'cardiology'
    """
    if name not in NAMES:
        raise ParameterError("sample", f"there is none called {name!r}", f"There is {', '.join(NAMES)}.", name=name)
    kinds = read_schema(SCHEMA).schema.columns
    with TABLE.open(encoding="utf-8", newline="") as file:
        header, *rows = csv.reader(file)
    return {
        column: [_number(text) for text in texts] if isinstance(kinds[column], Number) else list(texts)
        for column, texts in zip(header, zip(*rows, strict=True), strict=True)
    }


def _number(text: str) -> float | None:
    return float(text) if text else None
