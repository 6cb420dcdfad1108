"""Tables without a promise: by a waiver alone, the same again under the same key, in no order of the original."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pytest

from discreet.core.bits import Bits
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, SchemaError
from discreet.core.events import NoPromise
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.microdata.published_table import PublishedTable
from discreet.microdata.waived_table import waived_table
from discreet.schema.schema import Schema, Text
from discreet.trust.private_data import PrivateData

ROWS = np.arange(300_000.0)[:, None]


@dataclass(frozen=True)
class Negated:
    """Gives records away with another sign."""

    event: ClassVar[NoPromise] = NoPromise("the records themselves")

    def release(self, answer: Any, bits: Bits) -> ChangedRows:
        return ChangedRows.shuffled(-answer.values, bits, rows=len(answer.values))


def asked(data: PrivateData, **options: Any) -> PublishedTable:
    def schema(found: ChangedRows) -> Schema:
        return Schema.numeric(-float(found.notes["rows"]), 0.0, 1)

    return waived_table(data, "negated table", ("x0",), Negated(), schema, **options)


def private() -> PrivateData:
    return PrivateData.of(ROWS, Schema.numeric(0.0, 300_000.0, 1), Budget(1.0))


def test_without_a_waiver_it_is_refused_and_the_private_way_is_named() -> None:
    data = private()
    for waiver in (None, " "):
        with pytest.raises(NotPermitted, match=r"keeps no promise \(the records themselves\).*discreet.synthesize"):
            asked(data, waiver=waiver)
    assert not data.ledger.entries()


def test_the_same_key_gives_the_same_bytes_and_rows_have_no_order() -> None:
    data = private()
    first, second = (asked(data, waiver="public data", key="monday") for _ in range(2))
    assert first.records.tobytes() == second.records.tobytes()
    assert second.receipt.replayed
    assert np.array_equal(np.sort(first.records, axis=0), -ROWS[::-1])
    assert abs(np.corrcoef(first.records[:, 0], ROWS[:, 0])[0, 1]) < 0.02
    assert asked(data, waiver="public data").records.tobytes() != first.records.tobytes()


def test_text_is_refused_before_anything_goes_on_record() -> None:
    data = PrivateData.of({"x0": ["a"]}, {"x0": Text()}, Budget(1.0))
    with pytest.raises(SchemaError, match="its values are not public"):
        asked(data, waiver="public data")
    assert not data.ledger.entries()
