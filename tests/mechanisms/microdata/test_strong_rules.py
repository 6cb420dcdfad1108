"""Strong rules: exactly those of the definition, at the thresholds too."""

from __future__ import annotations

from fractions import Fraction
from itertools import chain, combinations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.mechanisms.microdata import strong_rules
from discreet.mechanisms.microdata.strong_rules import StrongRules, Thresholds
from discreet.questions.tables.itemsets import NOTHING, Items
from discreet.schema.schema import Boolean, Category, Schema

SCHEMA = Schema({**{name: Boolean() for name in "abcd"}, "town": Category(("x", "y", "z"))})
ITEMS = Items.of(SCHEMA, tuple(SCHEMA.columns), 1)


def baskets(n: int, seed: int) -> np.ndarray:
    rng = np.random.default_rng(seed)
    rows = np.column_stack([*(rng.random((4, n)) < 0.6), rng.integers(0, 3, n)]).astype(float)
    rows[rng.random(rows.shape) < 0.1] = np.nan
    return ITEMS.present(rows)


def by_definition(present: np.ndarray, thresholds: Thresholds) -> set[tuple[tuple[int, ...], tuple[int, ...]]]:
    n, found = len(present), set()
    share, sure = Fraction(thresholds.support).limit_denominator(10**6), thresholds.ratio
    for whole in chain(*(combinations(range(present.shape[1]), size) for size in range(2, thresholds.size + 1))):
        count = int(present[:, whole].all(axis=1).sum())
        if count < 1 or count < share * n:
            continue
        for first in chain(*(combinations(whole, size) for size in range(1, len(whole)))):
            if count >= sure * int(present[:, first].all(axis=1).sum()):
                found.add((first, tuple(item for item in whole if item not in first)))
    return found


@pytest.mark.parametrize("size", [2, 3, 5])
def test_the_rules_are_those_of_the_definition(size: int) -> None:
    for seed, n in enumerate((0, 1, 7, 100, 300)):
        for support, confidence in ((0.1, 0.5), (0.25, 0.6), (1 / 3, 1.0), (1e-6, 0.9)):
            thresholds = Thresholds(support, confidence, size)
            found = StrongRules.of(ITEMS, baskets(n, seed), thresholds)
            assert found.complete
            assert set(found.rules) == by_definition(baskets(n, seed), thresholds)
            assert len(found.rules) == len(set(found.rules))


def test_a_rule_at_both_thresholds_is_strong_and_one_below_is_not() -> None:
    present = np.zeros((10, len(ITEMS.cells)), dtype=bool)
    present[:5, 0], present[:3, 1] = True, True
    assert ((0,), (1,)) in StrongRules.of(ITEMS, present, Thresholds(0.3, 0.6)).rules
    for thresholds in (Thresholds(0.31, 0.6), Thresholds(0.3, 0.601)):
        assert ((0,), (1,)) not in StrongRules.of(ITEMS, present, thresholds).rules


def test_counts_are_exact_and_sets_are_ascending() -> None:
    present = baskets(200, 9)
    found = StrongRules.of(ITEMS, present, Thresholds(0.05, 0.5, 4))
    for one, count in zip(found.sets.tolist(), found.counts.tolist(), strict=True):
        items = [item for item in one if item != NOTHING]
        assert items == sorted(set(items))
        assert count == present[:, items].all(axis=1).sum()


def test_too_many_itemsets_end_the_search_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(strong_rules, "MOST_FOUND", 9)
    found = StrongRules.of(ITEMS, baskets(300, 1), Thresholds(0.01, 0.1, 4))
    assert not found.complete
    assert 0 < len(found.sets) <= 9


def test_thresholds_without_meaning_are_refused() -> None:
    for wrong in ((0.0, 0.5, 3), (1.1, 0.5, 3), (0.1, 0.0, 3), (0.1, np.nan, 3), (0.1, 0.5, 1), (0.1, 0.5, 6)):
        with pytest.raises(ParameterError):
            Thresholds(*wrong)
