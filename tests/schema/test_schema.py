"""A schema is public, complete and consistent, or it is refused."""

from __future__ import annotations

import math
import pickle
from typing import Any

import pytest

from discreet.core.errors import SchemaError
from discreet.schema.schema import Category, Number, Schema, Text
from discreet.schema.value import LONGEST

PLAIN = {
    "Boolean": "its values are true and false",
}
"""Why these print no texts of others: see `tests/conformance/test_plain_text.py`."""


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (1.0, 1.0), (0.0, math.inf), (math.nan, 1.0), (-1.7e308, 1.7e308)])
def test_bounds_are_finite_and_in_order(bounds: tuple[float, float]) -> None:
    with pytest.raises(SchemaError):
        Number(*bounds)


def test_categories_are_listed_once_each() -> None:
    repeated: list[Any] = [("a", "a"), ("a", " a"), ("1", "1.0"), (1, "01"), (1e3, "1000"), ("0.1", 0.1)]
    hopeless: list[Any] = [(), ("",), (" ",), ("x" * (LONGEST + 1),), (float("nan"),), ("half \ud800",)]
    for values in (*repeated, *hopeless):
        with pytest.raises(SchemaError):
            Category(values)


def test_a_category_of_numbers_or_booleans_is_kept_as_text() -> None:
    assert Category((True, 2, 3.0, "x ")).values == ("true", "2", "3", "x ")
    assert Category((True, False)).places == {"true": 0, "false": 1, 1.0: 0, 0.0: 1}
    assert Category((0, 1)).places == {0.0: 0, 1.0: 1, "false": 0, "true": 1}
    assert Category(("f", "m")).places == {"false": 0, "m": 1}
    assert Category(("f", "F", "m")).places == {"f": 0, "F": 1, "m": 2}


def test_one_text_is_no_list_of_values() -> None:
    with pytest.raises(SchemaError, match="letter by letter"):
        Category("ab")


def test_a_step_divides_the_distance_of_the_bounds() -> None:
    assert Number(17, 90, step=1) != Number(17, 90)
    assert Number(0, 1, step=0.1).step == 0.1
    for step in (0, -1, 2, 100, math.nan, math.inf, 1e-300):
        with pytest.raises(SchemaError, match="whole number of steps"):
            Number(17, 90, step=step)


def test_a_column_is_asked_for_by_what_it_is() -> None:
    schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m")), "town": Text()})
    assert schema.features == ("age",)
    assert schema.number("age").upper == 120
    for wrong in (
        lambda: schema.number("sex"),
        lambda: schema.category("town"),
        lambda: schema.text("age"),
        lambda: schema.number("height"),
    ):
        with pytest.raises(SchemaError):
            wrong()


def test_a_matrix_has_one_bound_for_all_features_or_one_for_each() -> None:
    assert Schema.numeric(0.0, [1.0, 2.0], 2).number("x1") == Number(0.0, 2.0)
    with pytest.raises(SchemaError):
        Schema.numeric([0.0], 1.0, 2)


def test_a_schema_survives_a_trip_to_another_process() -> None:
    schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    assert pickle.loads(pickle.dumps(schema)) == schema


def test_a_column_with_bounds_that_leave_float64_no_room_is_not_computed_with() -> None:
    for bounds in ((0.0, 1e51), (-1e280, 1e280), (0.0, 5e-324), (1.0, 1 + 2**-40), (1e15, 1e15 + 1)):
        schema = Schema({"x": Number(*bounds)})
        for ask in (schema.number, lambda name, schema=schema: schema.values((name,))):
            with pytest.raises(SchemaError, match="Rescale the column"):
                ask("x")
    for bounds in ((-1e50, 1e50), (0.0, 1e-50), (1.0, 1 + 2**-31), (1.7e18, 1.7e18 + 1e10)):
        assert Schema({"x": Number(*bounds)}).number("x").lower == bounds[0]


def test_bounds_may_be_integers_of_any_size() -> None:
    assert isinstance(Number(0, 2**70).upper, float)
    assert Number(-(2**70), 0) == Number(-(2.0**70), 0.0)


def test_several_columns_are_read_only_if_each_of_them_may_be() -> None:
    schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m")), "town": Text(), "thin": Number(0, 1e-60)})
    assert schema.values(("sex", "age")) == ("sex", "age")
    assert schema.numbers(("age",)) == (Number(0, 120),)
    for names in (("age", "town"), ("age", "thin"), ("age", "age"), ("age", "size"), ("age", 1), ()):
        with pytest.raises(SchemaError):
            schema.values(names)  # type: ignore[arg-type]
    for names in (("age", "sex"), ("age", "thin")):
        with pytest.raises(SchemaError):
            schema.numbers(names)
