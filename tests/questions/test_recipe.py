"""A recipe says all about a question that anybody needs to ask it, and nothing that could run as code."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.columns.moments import moments_of
from discreet.questions.columns.total import total_of
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import Recipe, recipe
from discreet.questions.vectors.clusters import clusters_of
from discreet.schema.schema import Number, Schema

SCHEMA = Schema({"x": Number(-1, 1), "y": Number(0, 10)})
CENTERS = np.array([[0.25, -0.5], [-0.125, 0.75]])


@recipe("tests.questions.test_recipe:scaled")
def scaled(schema: Schema, factor: float, places: tuple[int, ...] = (0,)) -> BoundedSum:
    def of(records: Array) -> Array:
        return factor * records[:, list(places)]

    return BoundedSum(of, Bound("l2", 1.0), ("x", "y"))


def test_a_question_is_built_again_from_what_was_written() -> None:
    asked = clusters_of(SCHEMA, SCHEMA.features, CENTERS, "l2")
    assert asked.recipe is not None
    again = question_of(Recipe.read(asked.recipe.written()), SCHEMA)
    records = np.random.default_rng(0).uniform(-1, 10, (500, 2))
    np.testing.assert_array_equal(asked.steps(records), again.steps(records))
    assert (again.bound, again.grid, again.columns, again.recipe) == (
        asked.bound,
        asked.grid,
        asked.columns,
        asked.recipe,
    )


@pytest.mark.parametrize("value", [0.1, -0.0, 2**70, "Zoë", None, True, (1, "a", None), np.float64(0.3), np.int64(3)])
def test_parameters_keep_every_bit(value: Any) -> None:
    read = Recipe.read(Recipe("a:b", {"value": value}).written()).parameters["value"]
    assert read == value
    assert repr(read) == repr(value.item() if isinstance(value, np.generic) else value)


def test_arrays_keep_every_bit_and_their_shape() -> None:
    array = np.array([[0.1, -0.0, np.inf], [5e-324, np.nan, 1e308]])
    read = Recipe.read(Recipe("a:b", {"array": array}).written()).parameters["array"]
    assert read.shape == array.shape
    assert read.tobytes() == array.tobytes()


def test_equal_recipes_are_written_alike_and_pickled_whole() -> None:
    first, second = Recipe("a:b", {"x": 1, "y": CENTERS}), Recipe("a:b", {"y": CENTERS.copy(), "x": 1})
    assert first == second
    assert len({first, second, pickle.loads(pickle.dumps(first))}) == 1
    assert first != Recipe("a:b", {"x": 2, "y": CENTERS})


@pytest.mark.parametrize("value", [float("nan"), float("inf"), object(), {"a": 1}.keys(), b"bytes"])
def test_what_cannot_be_written_is_refused(value: Any) -> None:
    with pytest.raises(ParameterError, match="cannot be written"):
        Recipe("a:b", {"value": value}).written()


@pytest.mark.parametrize(
    "text",
    [
        "",
        "[]",
        "1",
        '{"name":"a:b"}',
        '{"name":1,"parameters":{}}',
        '{"name":"a:b","parameters":[]}',
        '{"name":"a:b","parameters":{},"more":1}',
        '{"name":"a:b","parameters":{"x":NaN}}',
        '{"name":"a:b","parameters":{"x":{"float64":"!","shape":[1]}}}',
        '{"name":"a:b","parameters":{"x":{"float64":"AAAA","shape":[1]}}}',
        '{"name":"a:b","parameters":{"x":' + "[" * 100_000 + "]" * 100_000 + "}}",
    ],
)
def test_what_is_no_recipe_is_refused(text: str) -> None:
    with pytest.raises(ParameterError, match="read a recipe"):
        Recipe.read(text)


@pytest.mark.parametrize(
    "name",
    [
        "os:system",
        "discreet.__main__:main",
        "moments_size",
        "nowhere",
        "count:count",
        "discreet..statistics:count_of",
        "discreet",
        "",
    ],
)
def test_nothing_but_a_recipe_of_a_trusted_package_is_run(name: str) -> None:
    with pytest.raises(NotPermitted, match="Nothing was released"):
        question_of(Recipe(name, {}), SCHEMA)


@pytest.mark.parametrize("parameters", [{}, {"column": "z"}, {"column": "x", "more": 1}, {"column": [1]}])
def test_parameters_that_do_not_fit_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(NotPermitted, match="do not fit"):
        question_of(Recipe("moments", parameters), SCHEMA)


def test_a_package_of_ones_own_is_trusted_by_name() -> None:
    asked = scaled(SCHEMA, 2.0, (1,))
    assert asked.recipe is not None
    assert asked.recipe.parameters == {"factor": 2.0, "places": (1,)}
    package = asked.recipe.name.partition(".")[0]
    again = question_of(asked.recipe, SCHEMA, ["discreet", package])
    np.testing.assert_array_equal(again.of(np.ones((1, 2))), [[2.0]])
    with pytest.raises(NotPermitted, match="trusted"):
        question_of(asked.recipe, SCHEMA)


def test_parameters_are_of_the_kinds_that_the_signature_says() -> None:
    assert scaled(SCHEMA, 2, (1.0,)).recipe == scaled(SCHEMA, 2.0, (1,)).recipe  # type: ignore[arg-type]
    for factor in (True, "2", None, (2.0,), 10**400, np.ones(1)):
        with pytest.raises(ParameterError, match="factor is not a finite number"):
            scaled(SCHEMA, factor)  # type: ignore[arg-type]
    for places in (1, (1.5,), ("1",), (True,), ((1,),), None):
        with pytest.raises(ParameterError, match="places is not a"):
            scaled(SCHEMA, 1.0, places)  # type: ignore[arg-type]
    for centers in (np.array([[np.nan, 0.0]]), np.array([[np.inf, 0.0]]), ((0.0, 0.0),), "l2"):
        with pytest.raises(ParameterError, match="centers is not an array of finite numbers"):
            clusters_of(SCHEMA, SCHEMA.features, centers, "l2")  # type: ignore[arg-type]
    for columns in (("x", 1), ("x", None), ("x", ("y",)), "xy", 1):
        with pytest.raises(ParameterError, match="columns is not a"):
            clusters_of(SCHEMA, columns, CENTERS, "l2")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="norm is not one of l1, l2, linf"):
        clusters_of(SCHEMA, SCHEMA.features, CENTERS, "l3")  # type: ignore[arg-type]


def test_a_recipe_says_of_what_kind_each_parameter_is() -> None:
    def anything(schema: Schema, value: Any) -> BoundedSum:
        return BoundedSum(lambda records: records, Bound("l2", 1.0), ("x0",))

    with pytest.raises(TypeError, match="cannot be of the kind"):
        recipe("tests:anything")(anything)


def test_a_name_stands_for_one_function() -> None:
    def scaled(schema: Schema) -> BoundedSum:
        return BoundedSum(lambda records: records, Bound("l2", 1.0), ("x0",))

    with pytest.raises(ValueError, match="two recipes"):
        recipe("tests.questions.test_recipe:scaled")(scaled)


@recipe("tests.questions.test_recipe:fused")
def fused(schema: Schema, factor: float, size: int) -> BoundedSum:
    def of(records: Array) -> Array:
        return np.tile(records[:, :1], size)

    grid = Grid(-10)
    return BoundedSum(of, Bound("l1", 1.0), ("x",), grid, lambda rows: factor * grid.cut(of(rows)).sum(axis=0))


def test_a_fused_sum_that_is_not_that_of_its_clipped_rows_is_refused() -> None:
    """Here it is not clipped, which shows at the ends of the column's bounds: missing values, and two marks of one."""
    for factor, size in ((1.0, 1), (2.0, 1), (1.0, 2)):
        with pytest.raises(ParameterError, match="not that of its rows"):
            fused(SCHEMA, factor, size)


@recipe("tests.questions.test_recipe:declared")
def declared(schema: Schema, width: int) -> BoundedSum:
    return BoundedSum(lambda records: records[:, [0, 0]], Bound("l1", 1.0), ("x",), width=width)


def test_a_question_that_says_wrongly_how_many_numbers_it_has_is_refused() -> None:
    assert declared(SCHEMA, 2).size == 2
    for width in (1, 3):
        with pytest.raises(ParameterError, match="2 numbers"):
            declared(SCHEMA, width)


def test_an_answer_has_no_more_numbers_than_anybody_can_hold() -> None:
    for size in (0, 2**24 + 1):
        with pytest.raises(ParameterError, match="numbers"):
            fused(SCHEMA, 1.0, size)


@recipe("tests.questions.test_recipe:between")
def between(schema: Schema, low: float, high: float) -> BoundedSum:
    def of(records: Array) -> Array:
        return np.clip(records[:, :1], low, high)

    return BoundedSum(of, Bound("l2", 1.0), ("x",))


def test_questions_that_are_kept_are_told_apart_by_the_names_of_their_parameters() -> None:
    one, other = between(SCHEMA, low=-1.0, high=0.5), between(SCHEMA, high=-1.0, low=0.5)
    assert one.recipe != other.recipe


def test_what_is_refused_is_refused_whatever_was_asked_before() -> None:
    """Questions are kept for a while; 1, 1.0 and True are told apart, and so are the two zeros."""
    moments_of(SCHEMA, "x", 2, True)
    for degree, counted in ((2, 1), (2, 1.0), (True, True), ("2", True)):
        with pytest.raises(ParameterError):
            moments_of(SCHEMA, "x", degree, counted)  # type: ignore[arg-type]
    written = [total_of(SCHEMA, "y", origin).recipe for origin in (0.0, -0.0)]
    assert written[0] != written[1]
    again = Schema({"y": Number(0, 10), "x": Number(-1, 1)})
    assert scaled(again, 2.0).columns == scaled(SCHEMA, 2.0).columns
    assert moments_of(SCHEMA, "x", 2, True) is moments_of(SCHEMA, "x", 2, True)
    first, second, other = (clusters_of(SCHEMA, SCHEMA.features, one, "l2") for one in (CENTERS, +CENTERS, -CENTERS))
    assert first is second
    assert first is not other
