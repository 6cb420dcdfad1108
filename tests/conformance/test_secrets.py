"""What holds records or exact answers is neither copied nor pickled, and does not print them."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator
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
from discreet.schema.schema import Number, Schema, Text
from discreet.trust.curator import Curator
from discreet.trust.local import Local
from discreet.trust.moving_table import MovingTable
from discreet.trust.private_data import PrivateData
from discreet.trust.secure_sum import SecureSum
from discreet.trust.sources.source import Batched
from discreet.trust.sources.source_of import source_of

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
