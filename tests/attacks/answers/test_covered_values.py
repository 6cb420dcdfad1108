"""Coarse values stand for what they were made of, whatever stands in them."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.attacks.answers.covered_values import covered
from discreet.attacks.table_columns import Values, read_column
from discreet.core.budget import Budget
from discreet.microdata import anonymize
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.private_data import PrivateData


def _texts(*texts: str | None) -> Values:
    return np.array(texts, dtype=object)


def test_intervals_sets_and_dates_are_read() -> None:
    ages = np.array([30.0, 39.5, 40.0, np.nan])
    assert covered(_texts("[30, 40)", "[30, 40]", "40", "[-1e3, 31] or missing", "<b>"), ages).tolist() == [
        [True, True, False, True],
        [True, True, True, True],
        [False, False, True, True],
        [True, False, False, True],
        [False, False, False, True],
    ]
    towns = _texts("a", "b, c", 'd"', None)
    sets = _texts('{a, "b, c"}', '{"d\\"", x}', "{a, ..., z: 9 values}", "b, c", None)
    assert covered(sets, towns).tolist() == [
        [True, True, False, True],
        [False, False, True, True],
        [True, True, True, True],
        [False, True, False, True],
        [True, True, True, True],
    ]
    days = read_column(np.array(["2020-01-15", "2020-02-01"], dtype="M8[D]"))
    assert covered(_texts("[2020-01-01, 2020-02-01)"), days).tolist() == [[True, False]]
    assert covered(np.array([1.0, np.nan]), np.array([1.0, 2.0])).tolist() == [[True, False], [True, True]]


@pytest.mark.parametrize("method", ["mondrian", "lattice"])
def test_every_row_of_an_anonymous_table_stands_for_somebody(method: str) -> None:
    rng = np.random.default_rng(0)
    values = ("a", "b, c", 'd"', "{e}", "f")
    people = {"age": rng.integers(0, 100, 200), "town": rng.choice(values, 200)}
    schema = Schema({"age": Number(0, 100, step=1), "town": Category(values)})
    roles = {"age": "quasi-identifier", "town": "quasi-identifier"}
    levels = {"hierarchies": {"age": [20]}} if method == "lattice" else {}
    data = PrivateData.of(people, schema, Budget(1.0))
    table = anonymize(data, roles, k=7, method=method, waiver="made up", **levels)  # type: ignore[arg-type]
    fits = covered(table["age"], people["age"].astype(float)) & covered(table["town"], people["town"].astype(object))
    assert (fits.sum(axis=0) >= 7).all()
    assert fits.mean() < 0.8
