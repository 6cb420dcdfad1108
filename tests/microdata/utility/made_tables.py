"""Tables that were released, for tests: of the data themselves, and of others."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np

from discreet.core.events import NoPromise
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.microdata.published_table import PublishedTable
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of

SCHEMA = Schema(
    {
        "age": Number(0, 100, step=1),
        "income": Number(0.0, 1e6),
        "sex": Category(("f", "m")),
        "ill": Category(("no", "yes")),
    }
)
RECEIPT = Receipt("a table", NoPromise("made up"), 0.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")


def people(n: int = 3000, seed: int = 1) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    age = rng.integers(18, 90, n).astype(float)
    income = np.where(rng.random(n) < 0.4, 0.0, 800 * age + rng.exponential(9_000, n))
    ill = np.where(rng.random(n) < age / 120, "yes", "no")
    sex = rng.choice(["f", "m"], n).astype(object)
    sex[rng.random(n) < 0.1] = None
    return {"age": age, "income": income, "sex": sex.tolist(), "ill": ill.tolist()}


def table_of(records: dict[str, Any], schema: Schema = SCHEMA) -> PublishedTable:
    source = source_of(records, schema)
    assert isinstance(source, Batched)
    rows = source.everything(tuple(schema.columns))
    return PublishedTable(name="people", receipt=RECEIPT, confidence=None, schema=schema, records=rows)


PEOPLE = people()
SAME = table_of(PEOPLE)


def shuffled(seed: int = 2) -> PublishedTable:
    """A table with the same columns, each in another order: nothing depends on anything."""
    rng = np.random.default_rng(seed)
    return dataclasses.replace(SAME, records=np.column_stack([rng.permutation(own) for own in SAME.records.T]))
