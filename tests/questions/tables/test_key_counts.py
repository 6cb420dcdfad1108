"""Divided cells: kept cells of the first columns, divided by the others."""

from __future__ import annotations

import numpy as np

from discreet.questions.tables.key_counts import matched, prefix_extension_of
from tests.questions.trial import SCHEMA, Trial, summed

TRIALS = {
    "prefix_extension": Trial(
        {
            "columns": ("kind", "two", "x"),
            "bins": (0, 0, 4),
            "kept": np.array([[0.0, 1.0], [2.0, 0.0], [2.0, 1.0]]),
        },
        "1651b772288e",
        forged=[{"kept": np.empty((0, 2))}, {"kept": np.array([[2.0, 0.0], [0.0, 1.0]])}],
    )
}


def test_the_sum_counts_the_records_in_the_cells_inside_kept_ones() -> None:
    rng = np.random.default_rng(9)
    kept = np.array([[0.0, 1.0], [2.0, 0.0]])
    records = np.column_stack([rng.integers(0, 3, 400), rng.integers(0, 2, 400), rng.uniform(-10, 110, 400)])
    records[::17, 1] = np.nan
    found = summed(prefix_extension_of(SCHEMA, ("kind", "two", "x"), (0, 0, 4), kept), records).reshape(2, 4)
    for place, cell in enumerate(kept):
        values = records[(records[:, :2] == cell).all(axis=1), 2]
        np.testing.assert_array_equal(found[place], np.histogram(values, 4, (-10, 110))[0])


def test_rows_are_matched_however_many_cells_there_are() -> None:
    rng = np.random.default_rng(9)
    known = np.unique(rng.integers(0, 1000, (50, 30)), axis=0)
    places = np.concatenate([known[[7, 0, 49]], rng.integers(0, 1000, (3, 30))])
    np.testing.assert_array_equal(matched(places, known, (1000,) * 30), [7, 0, 49, -1, -1, -1])
