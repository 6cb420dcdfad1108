"""What all tables without a promise have in common: a waiver, a key, odd data, and refusals before any charge."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import numpy as np
import pytest

import discreet.microdata as microdata
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError, SchemaError
from discreet.core.events import NoPromise
from discreet.microdata.published_table import PublishedTable
from discreet.schema.dates import Date
from discreet.schema.schema import Boolean, Category, Column, Number, Text
from discreet.trust.private_data import PrivateData
from tests.conformance.test_hostile_parameters import ODD, ODDER, fault

COLUMNS: dict[str, Column] = {
    "age": Number(0, 100, step=1),
    "income": Number(0.0, 1e15),
    "town": Category(("a", "b", "c")),
    "ill": Boolean(),
    "born": Date("1900-01-01", "2020-12-31"),
    "name": Text(),
}
FLIP = [[0.9, 0.1], [0.2, 0.8]]
USUAL: dict[str, dict[str, Any]] = {
    "add_noise": {"columns": ["age", "income"], "stddev": {"age": 5.0, "income": 1e13}, "unchanged": ["town"]},
    "add_correlated_noise": {"columns": ["age", "income", "born"], "relative_variance": 0.5, "unchanged": ["ill"]},
    "multiply_noise": {"columns": ["income", "ill"], "relative_stddev": 0.2, "unchanged": ["town"]},
    "project_columns": {"columns": ["age", "income", "ill"], "dimensions": 2, "unchanged": ["town"]},
    "project_rows": {"columns": ["age", "income", "born"], "dimensions": 4},
    "rotate": {"columns": ["age", "income"], "unchanged": ["town"]},
    "swap_ranks": {"columns": ["age", "town"], "window": 0.3, "unchanged": ["ill"]},
    "swap_places": {"place": "town", "columns": ["ill", "age"], "keys": ["ill"], "rare": 2, "rate": 0.5},
    "pram": {"columns": ["ill"], "matrices": FLIP, "unchanged": ["age"]},
    "invariant_pram": {"columns": ["town", "ill"], "keep": 0.7, "unchanged": ["age"]},
    "microaggregate": {"columns": ["age", "born", "town"], "k": 3, "unchanged": ["ill"]},
}
each = pytest.mark.parametrize("name", USUAL)


def function(name: str) -> Callable[..., PublishedTable]:
    found: Callable[..., PublishedTable] = getattr(microdata, name)
    return found


def private(n: int = 40, missing: int = 0) -> PrivateData:
    """Some people; of every `missing`th nothing is known."""
    rng = np.random.default_rng(n)
    people: dict[str, Any] = {
        "age": rng.integers(0, 101, n).astype(object),
        "income": rng.uniform(0, 1e15, n).astype(object),
        "town": rng.choice(["a", "b", "c"], n).astype(object),
        "ill": rng.choice([True, False], n).astype(object),
        "born": (np.datetime64("1950-01-01") + rng.integers(0, 9000, n)).astype(str).astype(object),
        "name": np.full(n, "somebody", dtype=object),
    }
    for own in people.values() if missing else ():
        own[::missing] = None
    return PrivateData.of(people, COLUMNS, Budget(1.0))


@each
def test_without_a_waiver_it_is_refused_and_with_one_it_goes_on_record(name: str) -> None:
    data = private()
    for waiver in (None, "  "):
        with pytest.raises(NotPermitted, match=r"keeps no promise.*discreet\.synthesize"):
            function(name)(data, waiver=waiver, **USUAL[name])
    assert not data.ledger.entries()
    table = function(name)(data, waiver="the board agreed", **USUAL[name])
    assert isinstance(table.receipt.event, NoPromise)
    assert len(data.ledger.entries()) > 0


@each
def test_the_same_key_gives_the_same_table_again_and_another_key_another(name: str) -> None:
    data = private()
    first, second, other = (
        function(name)(data, waiver="the board agreed", key=key, **USUAL[name]) for key in ("1", "1", "2")
    )
    assert first.records.tobytes() == second.records.tobytes()
    assert first.schema == second.schema == other.schema
    assert {str(one) for one in first.notes.values()} == {str(one) for one in second.notes.values()}
    assert first.records.tobytes() != other.records.tobytes()


@each
def test_odd_data_give_tables_inside_their_schema(name: str) -> None:
    for data in (private(0), private(1), private(2), private(40, missing=1), private(40, missing=3), private(300)):
        table = function(name)(data, waiver="the board agreed", **USUAL[name])
        for column, values in zip(table.schema.columns.values(), table.records.T, strict=True):
            there = values[~np.isnan(values)]
            lower, upper = (
                (column.lower, column.upper) if isinstance(column, Number) else (0, len(column.values) - 1)  # type: ignore[union-attr]
            )
            assert ((there >= lower) & (there <= upper)).all()
            if not isinstance(column, Number) or column.step is not None:
                assert (there == np.rint(there)).all()
        assert str(table)
        assert len(table.to_pandas()) == len(table.records)


@each
def test_what_is_unchanged_is_unchanged_and_rows_have_no_order(name: str) -> None:
    data, asked = private(3000), USUAL[name]
    table = function(name)(data, waiver="the board agreed", **asked)
    before = microdata.swap_ranks(data, ["town", "ill", "age"], window=0.0, waiver="to compare with")
    for column in asked.get("unchanged", ()):
        assert sorted(table[column].tolist()) == sorted(before[column].tolist())
    if name != "project_rows":
        assert len(table) == 3000
        ages = np.random.default_rng(3000).integers(0, 101, 3000)
        assert abs(np.corrcoef(table.records[:, 0], ages)[0, 1]) < 5 / np.sqrt(3000)


def refusals() -> Iterator[tuple[str, dict[str, Any]]]:
    """What is asked, and cannot be."""
    for name in USUAL:
        yield name, {"columns": ["nobody"]}
        yield name, {"columns": ["name"]}
        yield name, {"columns": ["age", "age"]}
        if name != "swap_places":
            yield name, {"columns": []}
        if "unchanged" in USUAL[name]:
            yield name, {"unchanged": ["name"]}
            yield name, {"unchanged": [USUAL[name]["columns"][0]]}
    for stddev in (0.0, -1.0, np.nan, np.inf, 1e9, 1e-12, {"age": 1.0}, {"age": 1.0, "town": 1.0}, {}, "a", None):
        yield "add_noise", {"stddev": stddev}
    yield "add_noise", {"columns": ["town"], "stddev": 1.0}
    yield "add_noise", {"law": "cauchy"}
    yield "add_noise", {"columns": ["born"], "stddev": 1e6}
    yield "add_correlated_noise", {"columns": ["born"], "relative_variance": 1e4}
    yield "multiply_noise", {"relative_stddev": 1.5}
    yield "multiply_noise", {"relative_stddev": 0.5, "law": "gaussian"}
    yield "multiply_noise", {"columns": ["born"]}
    yield "add_correlated_noise", {"relative_variance": 0.0}
    for dimensions in (0, 1, 2.5, 10**6, True):
        yield "project_columns", {"dimensions": dimensions}
        yield "project_rows", {"dimensions": dimensions}
    yield "project_columns", {"law": "orthogonal", "dimensions": 4}
    for share in (-0.1, 1.1, np.nan, "a", None):
        yield "swap_ranks", {"window": share}
        yield "swap_places", {"rate": share}
        yield "invariant_pram", {"keep": share}
    yield "swap_places", {"keys": ["town"]}
    yield "swap_places", {"keys": ["income"]}
    yield "swap_places", {"risky": ["income"]}
    yield "swap_places", {"columns": ["town", "ill"]}
    yield "swap_places", {"rare": -1}
    yield "swap_places", {"place": "name"}
    for matrices in ([[1.0]], [[0.5, 0.5], [0.5, 0.5]], [[1.1, -0.1], [0.0, 1.0]], [[0.5, 0.4], [0.0, 1.0]]):
        yield "pram", {"matrices": matrices}
    odd: list[Any] = [{"age": FLIP}, {}, "a", None, [[np.nan, 1.0], [0.0, 1.0]], [[1, 2], [3]], 10**400]
    for none in odd:
        yield "pram", {"matrices": none}
    yield "pram", {"columns": ["age"]}
    yield "invariant_pram", {"columns": ["age"]}
    for k in (0, 1, 2.5, "a", None):
        yield "microaggregate", {"k": k}


def test_what_cannot_be_is_refused_before_anything_goes_on_record() -> None:
    for name, wrong in refusals():
        data = private(5)
        with pytest.raises(ParameterError, match="Nothing was released or spent") as refusal:
            function(name)(data, waiver="the board agreed", **{**USUAL[name], **wrong})
        assert not data.ledger.entries(), (name, wrong)
        assert "somebody" not in str(refusal.value)


@each
def test_parameters_of_any_kind_are_answered_or_refused_before_a_charge(name: str) -> None:
    taken = set(inspect.signature(function(name)).parameters)
    assert taken > set(USUAL[name])
    for parameter in taken - {"data"}:
        for value in [*ODD, *ODDER]:
            data, asked = private(5), {**USUAL[name], "waiver": "the board agreed", parameter: value}
            refused = fault(partial(function(name), data, **asked), data.ledger)
            assert refused is None, f"{parameter} is {value!r:.50}: {refused}"
    with pytest.raises(ParameterError, match="data is"):
        function(name)([[1.0]], waiver="the board agreed", **USUAL[name])


def test_too_many_values_of_categories_are_refused_by_size() -> None:
    many = {"code": Category(map(str, range(600)))}
    data = PrivateData.of({"code": ["1"] * 10}, many, Budget(1.0))
    for name in ("invariant_pram", "microaggregate"):
        with pytest.raises(ParameterError, match=r"60[01]"):
            function(name)(data, "code", waiver="the board agreed")


def test_sums_that_would_have_the_name_of_a_kept_column_are_refused() -> None:
    schema = {"x": Number(0, 1), "y": Number(0, 1), "sum_0": Number(0, 1)}
    data = PrivateData.of({"x": [0.5], "y": [0.5], "sum_0": [0.5]}, schema, Budget(1.0))
    with pytest.raises(SchemaError, match="'sum_0'"):
        microdata.rotate(data, ["x", "y"], unchanged="sum_0", waiver="the board agreed")
    assert not data.ledger.entries()
