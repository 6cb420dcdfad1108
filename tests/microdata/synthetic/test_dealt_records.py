"""Records are dealt out in the shares of a table, and evenly among those that resemble one another."""

from __future__ import annotations

import numpy as np

from discreet.microdata.synthetic.dealt_records import MOST_ALIKE, alike, ascending_order, dealt_out


def test_dealing_rounds_every_share_up_or_down() -> None:
    rng = np.random.default_rng(4)
    for _ in range(50):
        table, groups = rng.dirichlet(np.ones(5), 3), rng.integers(0, 3, 101)
        cells = dealt_out(table, groups, rng)
        for group in range(3):
            own = np.bincount(cells[groups == group], minlength=5)
            assert np.abs(own - table[group] * (groups == group).sum()).max() < 1 + 1e-6


def test_a_table_that_is_not_counted_is_as_the_model_says() -> None:
    """In a chain of three columns, the first and the last: far nearer than if cells were drawn."""
    rng, rows = np.random.default_rng(5), 3000
    first, second = rng.dirichlet(np.ones(4), 3), rng.dirichlet(np.ones(5), 4)
    expected = first @ second / 3

    def off(coded: bool) -> float:
        found = np.zeros((rows, 3), np.int64)
        found[:, 0] = np.arange(rows) % 3
        found[:, 1] = dealt_out(first, found[:, 0], rng)
        found[:, 2] = dealt_out(second, found[:, 1], rng, alike(found, (3, 4, 5), (1, 0)) if coded else None)
        own = np.bincount(found[:, 0] * 5 + found[:, 2], minlength=15).reshape(3, 5) / rows
        return float(np.abs(own - expected).sum())

    even, drawn = (np.mean([off(coded) for _ in range(20)]) for coded in (True, False))
    assert even < 0.4 * drawn


def test_codes_end_before_they_would_be_too_large() -> None:
    records = np.full((3, 70), 1)
    records[1, :31] = 0
    codes = alike(records, [2] * 70, range(70))
    assert codes.min() >= 0
    assert codes.max() < MOST_ALIKE
    assert codes.tolist() == [2**32 - 1, 1, 2**32 - 1]


def test_codes_are_put_in_order_as_a_stable_sort_does() -> None:
    rng = np.random.default_rng(3)
    for most in (1, 5, 2**16, 2**20, 2**40):
        codes = rng.integers(0, most, 1000)
        assert ascending_order(codes).tolist() == np.argsort(codes, kind="stable").tolist()
    assert ascending_order(np.zeros(0, np.int64)).tolist() == []
