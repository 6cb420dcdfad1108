"""Reach: products along a path, sums over paths, and refusals where nothing bounds it."""

from __future__ import annotations

import pytest

from discreet.core.errors import NotPermitted
from discreet.core.neighbors import Unit
from discreet.schema.relation.joined_rows import JoinedRows
from discreet.schema.relation.limited_rows import LimitedRows
from discreet.schema.relation.per_unit import PerUnit
from discreet.schema.relation.relation_node import RowReach
from discreet.schema.relation.row_wise import ComputedRows, FilteredRows
from discreet.schema.relation.stored_rows import PublicRows, StoredRows
from discreet.schema.schema import Category, Number, Schema

UNIT = Unit("user", "who", 3)
SCHEMA = Schema({"stay": Number(0, 60), "ward": Category(("day", "icu"))})
VISITS = LimitedRows(StoredRows("visits", SCHEMA, UNIT), 3)
WARDS = PublicRows("wards", Schema({"ward": Category(("day", "icu")), "beds": Number(0, 100)}))
ON = (("ward", "ward"),)


def key_join(left: object, right: object, most: int) -> JoinedRows:
    return JoinedRows(left, right, ON, False, most, False, ("other",))  # type: ignore[arg-type]


def test_reach_is_multiplied_along_a_path() -> None:
    joined = JoinedRows(VISITS, WARDS, ON, False, 4, False, ("beds",))
    assert joined.reach == RowReach(12)
    chosen = FilteredRows.read(ComputedRows.read(joined, {"each": "stay / 2"}, {}), "each > 3")
    assert chosen.reach == RowReach(12)
    assert chosen.unit == Unit("user", "who", 12)
    assert PerUnit.read(chosen, {"longest": "max of each"}, {}).reach == RowReach(1)


def test_reach_through_two_paths_is_added() -> None:
    """A table that is joined with itself on a key: a unit is on both sides, and makes room on both."""
    twice = key_join(VISITS, VISITS, 5)
    assert twice.reach == RowReach(2 * 5 * (3 + 3), both_ways=True)
    other = LimitedRows(StoredRows("visits", SCHEMA, Unit("user", "who", 2)), 2)
    assert key_join(VISITS, other, 5).reach == RowReach(2 * 5 * (3 + 2), both_ways=True)
    assert JoinedRows(twice, WARDS, ON, False, 2, False, ("beds",)).reach == RowReach(120, both_ways=True)


def test_rows_of_a_unit_meet_rows_of_the_same_unit_alone() -> None:
    assert JoinedRows(VISITS, VISITS, (), True, None, False, ("s", "w")).reach == RowReach(9)
    assert JoinedRows(VISITS, VISITS, ON, True, 2, False, ("s",)).reach == RowReach(6)
    each = PerUnit.read(VISITS, {"longest": "max of stay"}, {})
    assert JoinedRows(VISITS, each, (), True, None, True, ("longest",)).reach == RowReach(3)


def test_what_is_no_units_own_is_not_brought_together() -> None:
    shared = key_join(VISITS, VISITS, 5)
    with pytest.raises(NotPermitted, match="no longer one unit's own"):
        PerUnit.read(shared, {"longest": "max of stay"}, {})
    with pytest.raises(NotPermitted, match="no longer one unit's own"):
        JoinedRows(shared, VISITS, (), True, None, False, ("a", "b"))


def test_what_nothing_bounds_is_refused() -> None:
    pooled = StoredRows("visits", SCHEMA, Unit("user", "who", pooled=True))
    with pytest.raises(NotPermitted, match="any number of rows"):
        JoinedRows(pooled, VISITS, (), True, None, False, ("a", "b"))
    with pytest.raises(NotPermitted, match="any number of rows"):  # sums of its rows would not be clipped together
        JoinedRows(pooled, WARDS, ON, False, 4, False, ("beds",)).check_bounded("join")
    with pytest.raises(NotPermitted, match="nothing bounds how many"):
        JoinedRows(VISITS, VISITS, ON, False, None, False, ("a",))
    with pytest.raises(NotPermitted, match="depends on other units"):
        JoinedRows(VISITS, VISITS, ON, False, 3, True, ("a",))
    with pytest.raises(NotPermitted, match="more than 1073741824"):
        key_join(VISITS, VISITS, 2**28)
    assert PerUnit.read(pooled, {"longest": "max of stay"}, {}).reach == RowReach(1)
