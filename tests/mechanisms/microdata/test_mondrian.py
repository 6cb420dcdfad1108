"""Mondrian: the boxes of a plain recursion, what they hold, and what breaks them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, SensitiveValues
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.equivalence_classes import Ranked
from discreet.mechanisms.microdata.mondrian import Mondrian, cut_boxes
from discreet.mechanisms.microdata.round_cuts import Scale
from discreet.noise.deterministic import DeterministicBits

WIDE = Scale("number", -1e20, 1e20)
MODELS = (
    AnonymityModel(2),
    AnonymityModel(3, l=2),
    AnonymityModel(2, l=1.5, diversity="entropy"),
    AnonymityModel(2, l=2, diversity="recursive", c=2.0),
    AnonymityModel(3, t=0.35),
)


def released(values: Array, model: AnonymityModel, sensitive: Sequence[int] = (), rows: int = 1) -> ChangedRows:
    scales = (WIDE,) * (values.shape[1] - 1)
    mechanism = Mondrian(model, scales, tuple((place, False) for place in sensitive))
    return mechanism.release(Records(values, rows, Neighbors.ADD_REMOVE), DeterministicBits(1))


def normal(*shape: int) -> Array:
    return np.random.default_rng(11).normal(size=shape)


def table(rows: int, columns: int, distinct: int) -> Array:
    values = np.round(normal(rows, columns) * distinct / 4)
    values[np.random.default_rng(12).random(values.shape) < 0.1] = np.nan
    return values


def recursion(codes: Steps, rows: Steps, spans: Steps, fine: Callable[[Steps], bool]) -> list[frozenset[int]]:
    """The same, box by box: the widest column that can be cut at its median or beside it."""
    own = codes[rows]
    widths = np.ptp(own, axis=0) / spans
    for axis in np.argsort(-widths, kind="stable"):
        ranks = np.sort(own[:, axis])
        middle = ranks[len(ranks) // 2]
        sides = [own[:, axis] < middle, own[:, axis] <= middle]
        left = max(sides, key=lambda side: min(side.sum(), len(side) - side.sum()))
        if widths[axis] > 0 and fine(rows[left]) and fine(rows[~left]):
            return recursion(codes, rows[left], spans, fine) + recursion(codes, rows[~left], spans, fine)
    return [frozenset(rows.tolist())]


@pytest.mark.parametrize("model", MODELS, ids=lambda model: model.described)
def test_boxes_are_those_of_a_plain_recursion(model: AnonymityModel) -> None:
    for rows, distinct in ((40, 3), (60, 12), (25, 40)):
        values = table(rows, 4, distinct)
        codes = np.stack([Ranked.of(column).codes for column in values[:, :3].T], axis=1)
        sensitive = SensitiveValues.of(Ranked.of(values[:, 3]).codes, False)

        def fine(some: Steps, sensitive: SensitiveValues = sensitive) -> bool:
            sizes = np.array([len(some)])
            return bool(len(some) and model.met([sensitive.among(some)], 0 * some, sizes)[0])

        def allowed(some: Steps, own: Steps, sizes: Steps, sensitive: SensitiveValues = sensitive) -> Any:
            return model.met([sensitive.among(some)], own, sizes)

        found = cut_boxes(list(codes.T), model.k, allowed)
        groups = {frozenset(np.flatnonzero(found.own == one).tolist()) for one in np.unique(found.own)}
        spans = np.maximum(codes.max(axis=0), 1)
        assert groups == set(recursion(codes, np.arange(rows), spans, fine))
        if model == MODELS[0]:
            assert len(groups) > 3
            assert uncuttable(codes, groups, model.k)


def uncuttable(codes: Steps, groups: set[frozenset[int]], k: int) -> bool:
    """Whether no cut of any group, at whatever value, leaves k on both sides."""
    for group in groups:
        for column in codes[sorted(group)].T:
            for cut in np.unique(column):
                if k <= (column < cut).sum() <= len(column) - k:
                    return False
    return True


def test_ranks_that_short_keys_cannot_hold_are_cut_alike() -> None:
    columns = list(np.random.default_rng(3).integers(0, 60, (2, 400)))
    few, many = cut_boxes(columns, 3), cut_boxes([column * 2**24 for column in columns], 3)
    assert few.own.max() > 64
    assert np.array_equal(few.own, many.own)


def test_records_lie_in_their_boxes_and_boxes_leave_no_gap() -> None:
    values = table(200, 3, 30)
    columns = [Ranked.of(column) for column in values[:, :2].T]
    boxes = cut_boxes([column.codes for column in columns], 5)
    everywhere = [np.array([-1e20, -7.2, -2.0, 0.3, 1.0, 4.9, 8.0, 1e20, np.nan])] * 2
    points = np.stack(np.meshgrid(*everywhere), axis=-1).reshape(-1, 2)
    inside, met = np.ones((len(points), boxes.low.shape[1]), bool), np.ones(len(values), bool)
    for place, column in enumerate(columns):
        bounds, own = WIDE.ranges(column, boxes.low[place], boxes.high[place])
        low, high, closed, missing = np.where(np.isnan(own), np.array([[np.inf, 0, 0, 1.0]]).T, bounds[_whole(own)].T)

        def within(values: Array, low: Array, high: Array, closed: Array, missing: Array) -> Array:
            numbers = (values >= low) & ((values < high) | ((closed == 1) & (values <= high)))
            return np.asarray(np.where(np.isnan(values), missing == 1, numbers))

        inside &= within(points[:, place, None], low, high, closed, missing)
        met &= within(values[:, place], *(one[boxes.own] for one in (low, high, closed, missing)))
    assert met.all()
    assert (inside.sum(axis=1) == 1).all()


def _whole(own: Array) -> Steps:
    return np.where(np.isnan(own), 0, own).astype(np.int64)


def least(found: ChangedRows, columns: int) -> int:
    keys = np.where(np.isnan(found.values[:, :columns]), -1, found.values[:, :columns])
    return int(np.unique(keys, axis=0, return_counts=True)[1].min())


def test_raw_floats_ties_and_ranges_near_1e15_end_in_boxes_of_k() -> None:
    raw = normal(2000, 3)
    tied = np.where(raw > 0.3, raw, 0.0)
    huge = 1e15 + np.round(raw * 8) / 8
    constant = np.zeros((50, 3))
    for values in (raw, tied, huge, constant, np.where(raw < 0, np.nan, raw), 1e19 * raw):
        found = released(values, AnonymityModel(7))
        assert len(found.values) == len(values)
        assert least(found, 2) >= 7
        assert np.array_equal(np.sort(found.values[:, 2]), np.sort(values[:, 2]), equal_nan=True)


def test_a_missing_value_is_a_class_and_no_wildcard() -> None:
    """Ten records with missing values are apart from ten with others: they fill up no class."""
    values = np.full((20, 2), np.nan)
    values[:10, 0] = 5.0
    found = released(values, AnonymityModel(10))
    assert np.isnan(found.values[:, 0]).sum() == 10
    assert "missing" not in str(found.notes)
    few = released(np.vstack([values[:10], values[10:14]]), AnonymityModel(10))
    assert few.notes["ranges"][0].tolist() == [[-1e20, 1e20, 1, 1]]


def test_a_class_has_k_people_where_a_person_has_several_rows() -> None:
    values = normal(400, 2)
    assert least(released(values, AnonymityModel(5), rows=3), 1) >= 15


def test_fewer_records_than_k_give_no_table() -> None:
    for rows in (0, 1, 4):
        found = released(normal(rows, 2), AnonymityModel(5))
        assert len(found.values) == 0
        assert found.notes["near"] == f"all records together are {rows}"
    same = released(np.zeros((6, 2)), AnonymityModel(2, l=2), sensitive=[1])
    assert "reaches l = 1" in same.notes["near"]


def test_rows_are_in_no_order_and_nothing_is_promised() -> None:
    values = np.stack([np.arange(20_000.0)] * 2, axis=1)
    found = released(values, AnonymityModel(10))
    assert abs(np.corrcoef(np.arange(20_000), found.values[:, 1])[0, 1]) < 0.05
    assert isinstance(Mondrian.event, NoPromise)


def test_no_bound_is_the_value_of_a_record_where_a_rounder_number_is_there() -> None:
    """A unique value of the original is nowhere in the quasi-identifiers of the table."""
    values = normal(1000, 2) * 1000
    found = released(values, AnonymityModel(5))
    assert not np.isin(found.notes["ranges"][0][:, :2], values[:, 0]).any()


def test_minimality_tells_what_a_cut_would_have_shown() -> None:
    """Wong and others 2007: the box was not cut though it has 2k records, so one half had a single illness.

    Whoever knows the ages of all, and the method, learns that all of one half are ill.
    """
    ages = np.array([20.0, 21, 22, 50, 51, 52])
    ill = np.array([1.0, 1, 1, 0, 0, 1])
    found = released(np.stack([ages, ill], axis=1), AnonymityModel(3, l=2), sensitive=[1])
    assert len(found.notes["ranges"][0]) == 1  # 2-diversity forbade the cut that 3-anonymity alone would make
    assert len(released(np.stack([ages, ill], axis=1), AnonymityModel(3)).notes["ranges"][0]) == 2
    others = [np.isin(np.arange(6), healthy) for healthy in ([0, 3], [0, 4], [1, 5], [2, 3])]
    for healthy in others:  # wherever the two healthy ones are in different halves, the box is cut
        rows = np.stack([ages, np.where(healthy, 0.0, 1.0)], axis=1)
        assert len(released(rows, AnonymityModel(3, l=2), sensitive=[1]).notes["ranges"][0]) == 2
