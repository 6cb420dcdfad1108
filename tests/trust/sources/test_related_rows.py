"""Rows of related tables: made once, before a charge, from every source alike, and gone with it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

from discreet.core.errors import EngineFailure
from discreet.core.neighbors import RECORD, Unit
from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.listed_rows import ListedRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.kept_rows import kept_rows
from discreet.trust.sources.related_rows import RelatedRows, most_alike
from discreet.trust.sources.source import Source
from tests.trust.sources.tables import Table
from tests.trust.sources.trial import SourceTrial


def stored(table: Table, schema: Schema) -> RelatedRows:
    node = StoredRows("records", schema, RECORD)
    return RelatedRows(node, {node: Frame(dict(table), schema)})


TRIAL = SourceTrial(lambda table, schema, folder: stored(table, schema), mixed=True)
TRIALS = {
    "RelatedRows": TRIAL,
    "RelistedRows": SourceTrial(None, elsewhere="here: texts are read by a list afterwards"),
}
SCHEMA = Schema({"stay": Number(0, 60), "town": Text()})
RNG = np.random.default_rng(3)
VISITS = {
    "who": [f"p{i}" for i in RNG.integers(0, 40, 200)],
    "stay": RNG.integers(0, 9, 200).astype(float),
    "town": RNG.choice(["Bern", "Basel", "01"], 200).tolist(),
}


def limited(rows: int, visits: dict[str, Any] = VISITS) -> RelatedRows:
    unit = Unit("user", "who", rows)
    node = StoredRows("visits", SCHEMA, unit)
    return RelatedRows(LimitedRows(node, rows), {node: Frame(visits, SCHEMA, unit)})


def test_a_limit_keeps_the_same_rows_as_every_source() -> None:
    for rows in (1, 2, 5, 100):
        plain = Frame(VISITS, SCHEMA, Unit("user", "who", rows)).everything(["stay"])
        assert sorted(limited(rows).everything(["stay"]).ravel()) == sorted(plain.ravel())
    assert len(kept_rows(VISITS["who"], [np.array(VISITS["stay"])], 1)) == len(set(VISITS["who"]))


def test_texts_are_read_by_a_list_afterwards() -> None:
    rows = limited(3)
    listed = rows.listed(ListedRows(rows.relation, (("town", Category(("Basel", "1"))),)))
    codes = listed.everything(["town"]).ravel()
    texts = [value for counts in rows.keys("town") for value, count in counts.items() for _ in range(count)]
    assert np.sum(codes == 0) == texts.count("Basel")
    assert np.sum(codes == 1) == texts.count("01")
    assert np.sum(np.isnan(codes)) == texts.count("Bern")
    assert listed.units() == rows.units() == 40


def test_threads_make_the_rows_once(monkeypatch: pytest.MonkeyPatch) -> None:
    rows, made = limited(3), []
    own = Frame.copy_into

    def counting(self: Frame, *given: Any) -> None:
        made.append(1)
        own(self, *given)

    monkeypatch.setattr(Frame, "copy_into", counting)
    threads = [threading.Thread(target=rows.units) for _ in range(8)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert len(made) == 1


def test_a_table_that_fails_is_told_of_without_its_words() -> None:
    class Failing(Frame):
        def copy_into(self, connection: Any, table: str) -> None:
            raise ValueError("p7 has a stay of 3")

    unit = Unit("user", "who", 2)
    node = StoredRows("visits", SCHEMA, unit)
    rows = RelatedRows(LimitedRows(node, 2), {node: Failing(VISITS, SCHEMA, unit)})
    with pytest.raises(EngineFailure) as told:
        rows.check_ready()
    assert "p7" not in str(told.value)
    assert told.value.__context__ is None


def test_a_source_that_hands_nothing_over_says_so() -> None:
    class Closed(Frame):
        copy_into = Source.copy_into

    unit = Unit("user", "who", 2)
    node = StoredRows("visits", SCHEMA, unit)
    with pytest.raises(Exception, match="hands no rows over"):
        RelatedRows(LimitedRows(node, 2), {node: Closed(VISITS, SCHEMA, unit)}).check_ready()


def test_physical_order_does_not_matter() -> None:
    order = RNG.permutation(200)
    shuffled = {name: [column[i] for i in order] for name, column in VISITS.items()}
    joined = []
    for visits in (VISITS, shuffled):
        unit = Unit("user", "who", 3)
        node = StoredRows("visits", SCHEMA, unit)
        limit = LimitedRows(node, 3)
        by_key = JoinedRows(limit, limit, (("town", "town"),), False, 2, False, ("other",))
        joined.append(RelatedRows(by_key, {node: Frame(visits, SCHEMA, unit)}).everything(["stay", "other"]))
    assert sorted(map(tuple, joined[0])) == sorted(map(tuple, joined[1]))
    assert len(joined[0]) > 0


def test_how_many_public_rows_are_alike() -> None:
    node = PublicRows("wards", SCHEMA)
    source = Frame({"stay": [1, 2, 2, 2], "town": ["a", "b", "b", "c"]}, SCHEMA)
    assert most_alike(source, node, ["stay"]) == 3
    assert most_alike(source, node, ["stay", "town"]) == 2
    assert most_alike(Frame({"stay": [], "town": []}, SCHEMA), node, ["town"]) == 0
