"""What holds records or exact answers is neither copied nor pickled, and does not print them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from discreet.core.answer import GramAnswer, KeyedAnswer, MovableRows, Records, whole_numbers
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.noise.deterministic import DeterministicBits
from discreet.schema.schema import Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.moving_table import MovingTable
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of
from tests.conformance.test_door import holders as holder_kinds
from tests.conformance.test_trust_models import found as trust_models
from tests.conformance.walk import trial

SCHEMA = Schema({"x": Number(0, 1e6), "town": Text()})
TABLE: dict[str, Any] = {"x": np.array([31337.0, 2.0]), "town": ["Xanadu", "Bern"]}
WHO = {**TABLE, "who": ["Xanadu", "b"]}


def sources(folder: Path) -> Iterator[Any]:
    frame = pd.DataFrame(TABLE)
    frame.to_csv(folder / "people.csv", index=False)
    pq.write_table(pa.table(TABLE), folder / "people.parquet")
    records = (TABLE, frame, pa.table(TABLE), str(folder / "people.csv"), str(folder / "people.parquet"))
    for one in records:
        yield source_of(one, SCHEMA)
    numbers = Schema({"x": Number(0, 1e6)})
    yield source_of(np.array([[31337.0], [2.0]]), numbers)
    for unit in (Unit("user", column="who", rows=2), Unit("user", column="who", pooled=True)):
        yield source_of(WHO, numbers, unit)


def holders(folder: Path) -> Iterator[Any]:
    for source in sources(folder):
        yield source
        yield Curator(source)
        yield PrivateData(Curator(source), MemoryLedger(Budget(1.0)))
        if isinstance(source, Batched) and source.unit.kind == "record":
            yield Local(source)
            yield PrivateData(Local(source), MemoryLedger(Budget(1.0)))
    together = SecureSum.rehearsal(dict.fromkeys(("a", "b", "c"), TABLE), SCHEMA, threshold=2)
    yield from (together, PrivateData(together, MemoryLedger(Budget(1.0))))
    yield from (one._party for one in together._here.values())
    yield whole_numbers([31337], Bound("l1", 1.0))
    yield KeyedAnswer(("Xanadu",), np.array([31337]), 1, Neighbors.ADD_REMOVE)
    yield Records(np.array([[31337.0]]), 1, Neighbors.ADD_REMOVE)
    yield MovableRows(np.array([[31337.0]]), 1.0)
    yield MovingTable(np.array([[31337.0]]), 1.0, Budget(1.0, 1e-6))
    yield GramAnswer(np.array([[31337]]), 1, 1, Neighbors.ADD_REMOVE)


def test_nothing_that_holds_records_is_copied_or_printed(tmp_path: Path) -> None:
    for holder in holders(tmp_path):
        assert not any(secret in f"{holder!r}{holder}" for secret in ("31337", "Xanadu"))
        for duplicate in (pickle.dumps, copy.deepcopy):
            with pytest.raises(TypeError, match="pickle"):
                duplicate(holder)


@dataclass
class Rows:
    """Rows as nobody should keep them."""

    values: Any


def parts(value: Any, seen: dict[int, Any]) -> Iterator[Any]:
    """Whatever of this library, or of these tests, an object is made of, however deep."""
    if id(value) in seen or isinstance(value, str | bytes | int | float | np.ndarray | type):
        return
    seen[id(value)] = value
    if isinstance(value, Mapping):
        yield from (part for one in value.values() for part in parts(one, seen))
    elif isinstance(value, list | tuple | set | frozenset):
        yield from (part for one in value for part in parts(one, seen))
    elif type(value).__module__.startswith(("discreet", "tests")):
        yield value
        yield from parts(getattr(value, "__dict__", {}), seen)


def has_rows(value: Any) -> bool:
    """Whether it has arrays, tensors or tables of its own."""
    own = [one for each in vars(value).values() for one in (each.values() if isinstance(each, Mapping) else [each])]
    kinds = ("torch", "pandas", "polars", "pyarrow", "duckdb")
    return any(isinstance(one, np.ndarray) or type(one).__module__.split(".")[0] in kinds for one in own)


def copies(value: Any) -> list[str]:
    """The classes of what it is made of that has rows, and lets itself be pickled all the same."""
    found = []
    for part in parts(value, {}):
        if hasattr(part, "__dict__") and has_rows(part):
            try:
                pickle.dumps(part)
                found.append(type(part).__name__)
            except (TypeError, AttributeError, pickle.PicklingError):
                pass
    return found


def test_nothing_that_a_holder_or_trust_model_is_made_of_gives_its_rows_away() -> None:
    for kind in holder_kinds():
        assert not copies(trial(kind).made()), kind
    for kind in trust_models():
        assert not copies(trial(kind).made(np.full((3, 1), 0.25), DeterministicBits(0))), kind
    assert copies([{"a": PrivateData(Curator(source_of(TABLE, SCHEMA)), MemoryLedger(Budget(1.0)))}, Rows(np.ones(3))])
