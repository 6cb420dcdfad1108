"""Measurements with missing values: every record is counted, and none moves them farther than the bound."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Norm
from discreet.questions.tables.coded_measurements import coded_measurements_of
from discreet.questions.tables.coded_tables import coded_tables_of
from discreet.questions.tables.measurements import Measurements
from discreet.questions.tables.residuals import Measurement, closure
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import Trial

TRIALS = {
    "coded_measurements": Trial(
        {
            "columns": ("kind", "two", "x"),
            "edges": ((), (), (-10.0, 0.0, 30.5, 110.0)),
            "whole": ((0,), (1, 2), ()),
            "contrasts": ((), (0,), (1, 2)),
            "steps": (3, 5, 7),
            "exponent": -3,
            "norm": "l2",
        },
        "48449acf2eda",
        forged=[
            {"steps": (10**9, 1 - 10**9, 1)},
            {"whole": ((0,), (0, 1), ())},
            {"whole": ((0,), (-1,), ())},
            {"edges": ((), (), ())},
        ],
    )
}

SCHEMA = Schema({"age": Number(0, 90), "sex": Category(("f", "m")), "town": Category(("a", "b", "c"))})
NAMES, EDGES, SIZES = ("age", "sex", "town"), ((0.0, 30.0, 90.0), (), ()), (3, 3, 4)
PAIRS = [frozenset({0, 1}), frozenset({1, 2}), frozenset({0, 2})]


def records(n: int = 40) -> np.ndarray:
    rng = np.random.default_rng(1)
    rows = np.column_stack([rng.uniform(0, 90, n), rng.integers(0, 2, n), rng.integers(0, 3, n)])
    rows[rng.random(rows.shape) < 0.2] = np.nan
    return rows


def test_whole_tables_are_those_of_coded_tables() -> None:
    same = Measurements.even(SIZES, [Measurement(pair) for pair in PAIRS], "l2")
    asked = coded_measurements_of(SCHEMA, NAMES, EDGES, **same.described)
    tables = coded_tables_of(SCHEMA, NAMES, EDGES, ((0, 1), (1, 2), (0, 2)), "l2")
    np.testing.assert_array_equal(asked.total(records()), tables.total(records()))  # type: ignore[misc]


def test_every_record_is_as_long_as_the_bound_says_whatever_is_missing_of_it() -> None:
    norms: tuple[Norm, ...] = ("l1", "l2")
    for norm in norms:
        spaces = closure(PAIRS, SIZES)
        members = [Measurement(contrasts=part) for part in spaces]
        measured = Measurements.weighted(SIZES, members, norm, dict.fromkeys(spaces, 1.0))
        asked = coded_measurements_of(SCHEMA, NAMES, EDGES, **measured.described)
        added = asked.of(records())
        lengths = np.abs(added).sum(axis=1) if norm == "l1" else np.sqrt(np.square(added).sum(axis=1))
        assert (lengths <= asked.bound.radius).all()
        assert math.isclose(lengths.min(), asked.bound.radius, rel_tol=1e-6)
