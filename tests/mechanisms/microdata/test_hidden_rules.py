"""Hidden rules: none stays strong, few others are lost, and nothing is changed without need."""

from __future__ import annotations

from itertools import chain, combinations, product

import numpy as np
import pytest

from discreet.core.answer import Records
from discreet.core.errors import ParameterError
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.guarded_deletion import GuardedDeletion
from discreet.mechanisms.microdata.hidden_rules import METHODS, HiddenRules
from discreet.mechanisms.microdata.hiding_task import HidingOutcome, HidingTask
from discreet.mechanisms.microdata.strong_rules import StrongRules, Thresholds
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.itemsets import Items
from discreet.schema.schema import Boolean, Category, Schema

SCHEMA = Schema({**{name: Boolean() for name in "abcdef"}, "town": Category(("x", "y"))})
ITEMS = Items.of(SCHEMA, tuple(SCHEMA.columns), 1)


def baskets(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    chances = rng.beta(0.7, 0.7, (2, 6))
    kind = rng.integers(0, 2, n)
    rows = np.column_stack([(rng.random((n, 6)) < chances[kind]), kind ^ (rng.random(n) < 0.1)]).astype(float)
    rows[rng.random(rows.shape) < 0.05] = np.nan
    return rows


def chosen(rows: np.ndarray, thresholds: Thresholds, seed: int, most: int = 3, **options: object) -> HidingTask:
    strong = StrongRules.of(ITEMS, ITEMS.present(rows), thresholds).rules
    some = np.random.default_rng(seed).permutation(len(strong))[:most]
    return HidingTask(ITEMS, tuple(strong[one] for one in some), thresholds, **options)  # type: ignore[arg-type]


def released(task: HidingTask, rows: np.ndarray, method: str) -> ChangedRows:
    return HiddenRules(task, method).release(Records(rows, 1, Neighbors.ADD_REMOVE), DeterministicBits(1))


def test_every_method_hides_every_rule_and_reports_what_a_second_mining_finds() -> None:
    for seed, (n, method) in enumerate(product((1, 2, 40, 300), METHODS)):
        rows, thresholds = baskets(n, seed), Thresholds(0.2, 0.6)
        task = chosen(rows, thresholds, seed)
        found = released(task, rows, method)
        before, after = (
            set(StrongRules.of(ITEMS, ITEMS.present(one), thresholds).rules) for one in (rows, found.values)
        )
        assert not after & set(task.sensitive)
        assert found.notes["failures"] == []
        assert len(found.notes["lost"]) == len(before - after - set(task.sensitive))
        assert len(found.notes["ghosts"]) == len(after - before)
        assert found.notes["changes"] == ITEMS.present(rows).sum() - ITEMS.present(found.values).sum()
        assert len(found.values) == n


def test_items_are_only_taken_out_of_columns_that_may_change() -> None:
    rows = baskets(200, 5)
    for fixed in ("a", "town"):
        task = chosen(rows, Thresholds(0.2, 0.6), 3, 2, fixed=(fixed,))
        place = ITEMS.columns.index(fixed)
        values = released(task, rows, "border").values[:, place]
        np.testing.assert_array_equal(np.sort(values), np.sort(rows[:, place]))


def test_taken_out_of_a_category_a_value_is_missing_and_a_truth_is_false() -> None:
    rows = np.array([[1.0, 0, 0, 0, 0, 0, 0.0]] * 10)
    rule = ((0,), (6,))
    for fixed, column, value in ((("a",), 6, np.nan), (("town",), 0, 0.0)):
        task = HidingTask(ITEMS, (rule,), Thresholds(0.5, 1.0), fixed=fixed)
        found = released(task, rows, "border").values
        changed = found[:, column][~(found[:, column] == rows[0, column])]
        assert len(changed) == (1 if fixed == ("a",) else 6)
        np.testing.assert_array_equal(changed, np.full(len(changed), value))


def best_by_trial(task: HidingTask, rows: np.ndarray) -> tuple[int, int, int]:
    """By all ways to take items of sensitive rules out of these few records."""
    original = ITEMS.present(rows)
    before = StrongRules.of(ITEMS, original, task.thresholds)
    items = sorted({item for items in task.victims for item in items})
    places = [(row, item) for row in range(len(rows)) for item in items if original[row, item]]
    best = (9, 9, 999)
    for taken in chain(*(combinations(places, size) for size in range(len(places) + 1))):
        present = original.copy()
        for place in taken:
            present[place] = False
        best = min(best, HidingOutcome.of(task, before, original, present).worth)
    return best


def test_the_exact_method_finds_what_trying_everything_does() -> None:
    for seed in range(4):
        rng = np.random.default_rng(seed)
        rows = np.zeros((7, 7))
        rows[:, :4], rows[:, 6] = rng.random((7, 4)) < 0.6, np.nan
        task = chosen(rows, Thresholds(0.4, 0.6), seed, 1)
        found = released(task, rows, "exact")
        assert found.notes["exact"]
        assert best_by_trial(task, rows) == (0, len(found.notes["lost"]), found.notes["changes"])


def test_the_exact_method_is_never_worse_and_sometimes_better() -> None:
    better = 0
    for seed in range(3):
        rows = baskets(24, seed)
        task = chosen(rows, Thresholds(0.3, 0.6), seed, 2)
        worths = [
            (len(one.notes["lost"]), one.notes["changes"]) for one in (released(task, rows, way) for way in METHODS)
        ]
        assert worths[2] <= min(worths)
        better += worths[2] < min(worths[:2])
    assert better


def test_where_changes_are_limited_it_says_how_near_it_came() -> None:
    rows = baskets(300, 7)
    task = chosen(rows, Thresholds(0.2, 0.6), 2, 3, most_changes=4)
    for method in METHODS:
        found = released(task, rows, method)
        assert 0 < found.notes["changes"] <= 4
        assert found.notes["failures"]
        remaining = np.asarray(found.notes["remaining"])
        assert remaining.shape == (len(found.notes["failures"]), 2)
        assert (remaining >= [0.2, 0.6]).all()
    nothing = released(chosen(rows, Thresholds(0.2, 0.6), 2, 3, most_changes=0), rows, "border")
    np.testing.assert_array_equal(np.sort(nothing.values, axis=0), np.sort(rows, axis=0))


def test_nothing_is_changed_that_could_be_put_back() -> None:
    for seed, border in product(range(4), (True, False)):
        rows = baskets(150, seed)
        task = chosen(rows, Thresholds(0.2, 0.6), seed)
        original = ITEMS.present(rows)
        before = StrongRules.of(ITEMS, original, task.thresholds)
        present = GuardedDeletion(task, before, border).hide(original)
        for row, item in zip(*np.nonzero(original & ~present), strict=True):
            more = present.copy()
            more[row, item] = True
            assert HidingOutcome.of(task, before, original, more).failures


def test_a_hidden_rule_is_found_just_below_the_threshold_unless_there_is_a_margin() -> None:
    """The attack: of all rules that are not strong, those that were hidden are the nearest to being so."""
    rows = baskets(400, 3)
    plain, far = (chosen(rows, Thresholds(0.2, 0.6), 1, 2, margin=margin) for margin in (0.0, 0.3))
    for task, near in ((plain, True), (far, False)):
        present = ITEMS.present(released(task, rows, "border").values)
        lower = set(StrongRules.of(ITEMS, present, Thresholds(0.2 * 0.97, 0.6 * 0.97)).rules)
        found = lower - set(StrongRules.of(ITEMS, present, Thresholds(0.2, 0.6)).rules)
        assert (set(task.sensitive) <= found) is near


def test_rows_have_no_order_and_no_rule_at_all_is_fine() -> None:
    rows = baskets(500, 9)
    rows[:, 5] = np.repeat([0.0, 1.0], 250)
    values = released(chosen(rows, Thresholds(0.2, 0.6), 1), rows, "border").values
    assert abs(np.corrcoef(values[:, 5], np.arange(500))[0, 1]) < 0.2
    weak = HidingTask(ITEMS, (((0,), (1,)),), Thresholds(1.0, 1.0))
    for n in (0, 5):
        assert released(weak, np.zeros((n, 7)), "exact").notes["changes"] == 0


def test_an_unknown_method_is_refused() -> None:
    with pytest.raises(ParameterError, match="greedy or border or exact"):
        HiddenRules(HidingTask(ITEMS, ()), "best")
