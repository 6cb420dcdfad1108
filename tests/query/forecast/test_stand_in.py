"""Made-up records keep to the schema and have the shapes that they say."""

from __future__ import annotations

from datetime import date

import numpy as np

from discreet.core.neighbors import RECORD, Unit
from discreet.query.forecast.stand_in import Shape, stand_in
from discreet.schema.plain_schema import schema_of
from discreet.schema.schema import Category, Number, Schema, Text

SCHEMA = Schema({"age": Number(20, 80), "sex": Category(("f", "m")), "town": Text()})


def test_values_lie_between_bounds_in_the_shape_that_is_asked_for() -> None:
    ages = {shape: stand_in(SCHEMA, 20_000, RECORD, shape)["age"] for shape in Shape}
    assert all(20 <= each.min() <= each.max() <= 80 for each in ages.values())
    np.testing.assert_allclose(ages[Shape.BELL].std(), 10, atol=0.5)
    np.testing.assert_allclose(np.histogram(ages[Shape.EVEN], 6, (20, 80))[0] / 20_000, 1 / 6, atol=0.02)
    np.testing.assert_allclose(np.median(ages[Shape.SKEWED]), 20 + 60 * np.log(2) / 8, atol=0.5)


def test_steps_and_dates_are_kept() -> None:
    schema = schema_of({"children": range(4), "since": (date(2020, 1, 1), date(2020, 1, 31))})
    records = stand_in(schema, 2000, RECORD, Shape.EVEN)
    assert set(records["children"].tolist()) == {0.0, 1.0, 2.0, 3.0}
    assert min(records["since"]) == "2020-01-01"
    assert max(records["since"]) == "2020-01-31"


def test_the_same_records_are_made_every_time() -> None:
    first, again = (stand_in(SCHEMA, 50, RECORD, Shape.BELL) for _ in range(2))
    assert first["town"] == again["town"]
    assert (first["age"] == again["age"]).all()
    assert (stand_in(SCHEMA, 50, RECORD, Shape.BELL, seed=1)["age"] != first["age"]).any()


def test_units_have_as_many_rows_as_may_be_used() -> None:
    for unit, rows in ((Unit("user", "id", rows=4), 4), (Unit("user", "id", pooled=True), 3)):
        found = stand_in(SCHEMA, 25, unit, Shape.EVEN)["id"]
        assert len(found) == 25 * rows
        assert {found.count(one) for one in found} == {rows}
