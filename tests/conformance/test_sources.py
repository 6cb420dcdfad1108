"""Every source of records, found by walking, reads what is in them: exactly, and each record by itself."""

from __future__ import annotations

import contextlib
import copy
import inspect
import pickle
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted, SchemaError
from discreet.core.grid import Array, Grid
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.edge_list import Edges
from discreet.trust.sources.source import Source
from tests.conformance.walk import concrete, for_each, public_classes, rooms, trial

SCHEMA = Schema({"x": Number(-10, 20), "kind": Category(("a", "b"))})
ROWS: dict[str, list[Any]] = {
    "x": [1.5, None, -300.0, 1e300, -0.0, 20.0, 7.25, 5e-324, 3.0],
    "kind": ["a", "b", "a", "no", None, "b", "b", "", "a"],
}
ODD: list[tuple[Any, Any]] = [(None, None), (float("inf"), "no"), (float("-inf"), "\ud7ff"), (1e308, "a" * 10_000)]
ODDER: list[tuple[Any, Any]] = [("x", 3), ("", True), ("1e", []), ({}, {"a": 1}), ([1.0], 0.5), ("\x00", "\x00")]
THREADS = 8


def found() -> list[type[Source]]:
    """Every source of tables that can be opened; what others have behind them is told who `asked`."""
    every = [kind for room in rooms() for kind in public_classes(room) if issubclass(kind, Source) and concrete(kind)]
    return [one for one in every if not issubclass(one, Edges) and "asked" not in inspect.signature(one).parameters]


def questions() -> list[BoundedSum]:
    """Of numbers, of categories, of both, and of nothing but the number of rows."""

    def ones(records: Array) -> Array:
        return np.ones((len(records), 1))

    def all_of_it(records: Array) -> Array:
        return np.nan_to_num(records, nan=-1.0)

    return [
        moments_of(SCHEMA, "x", 2, False),
        contingency_of(SCHEMA, ("kind",), (0,)),
        contingency_of(SCHEMA, ("kind", "x"), (0, 4)),
        BoundedSum(ones, Bound("l1", 1.0), (), Grid(0)),
        BoundedSum(all_of_it, Bound("linf", 30.0), ("kind", "x")),
    ]


def by_hand(table: dict[str, list[Any]], columns: tuple[str, ...]) -> Array:
    """The records as numbers: moved inside bounds, categories by place, nan for what is missing or not listed."""
    read = {"x": list(map(_number, table["x"])), "kind": list(map(_place, table["kind"]))}
    return np.array([read[name] for name in columns]).reshape(len(columns), len(table["x"])).T


def _number(value: Any) -> float:
    given = value if isinstance(value, float) else np.nan
    return float(np.clip(given, -10.0, 20.0)) if np.isfinite(given) else np.nan


def _place(value: Any) -> float:
    return {"a": 0.0, "b": 1.0}.get(value if isinstance(value, str) else "none", np.nan)


@contextlib.contextmanager
def opened(kind: type[Source], table: dict[str, list[Any]]) -> Iterator[Any]:
    """The source with these records; None where it is tried elsewhere."""
    one = trial(kind)
    with TemporaryDirectory() as folder:
        yield None if one.elsewhere else one.opened(table, SCHEMA, Path(folder))


def sums(source: Source) -> list[list[int]]:
    return [source.sum(question).tolist() for question in questions()]


def counted_kinds(source: Source) -> Any:
    """Rows per value of a column, where it counts them."""
    try:
        return sorted((key, count) for batch in source.keys("kind") for key, count in batch.items())
    except (NotPermitted, SchemaError):
        return None


def handed_over(source: Any) -> Any:
    """The rows themselves, where it hands them over."""
    return [repr(batch.tolist()) for batch in source.batches(("x", "kind"))] if hasattr(source, "batches") else None


def expected(table: dict[str, list[Any]]) -> list[list[int]]:
    return [question.steps(by_hand(table, question.columns)).sum(axis=0).tolist() for question in questions()]


every = for_each(found())


@every
def test_its_sums_are_those_of_python_and_every_record_is_a_row(kind: type[Source]) -> None:
    """Of nothing at all too."""
    for table in (ROWS, {name: values[:1] for name, values in ROWS.items()}):
        with opened(kind, table) as source:
            if source is not None:
                source.check_ready()
                assert sums(source) == expected(table)
                assert source.units() == len(table["x"])


@every
def test_one_record_more_is_one_row_more_whatever_it_holds(kind: type[Source]) -> None:
    """Nobody else is read otherwise, and nothing fails."""
    for x, kinds in [*ODD, *(ODDER if trial(kind).mixed else ())]:
        table = {"x": [*ROWS["x"], x], "kind": [*ROWS["kind"], kinds]}
        with opened(kind, table) as source:
            if source is not None:
                assert sums(source) == expected(table), (x, kinds)
                assert source.units() == len(table["x"])


@every
def test_threads_get_what_one_gets(kind: type[Source]) -> None:
    """Whatever they ask at the same time."""
    with opened(kind, ROWS) as source, ThreadPoolExecutor(THREADS) as pool:
        if source is not None:
            reads = [sums, lambda one: one.units(), counted_kinds, handed_over]
            alone = [read(source) for read in reads]
            assert alone[0] == expected(ROWS)
            together = pool.map(lambda place: reads[place % len(reads)](source), range(THREADS * len(reads)))
            assert list(together) == alone * THREADS


@every
def test_it_is_neither_copied_nor_printed(kind: type[Source]) -> None:
    with opened(kind, ROWS | {"kind": ["Xanadu"] * len(ROWS["x"])}) as source:
        if source is not None:
            assert "Xanadu" not in f"{source!r}{source}"
            for duplicate in (pickle.dumps, copy.deepcopy):
                with pytest.raises(TypeError, match="pickle"):
                    duplicate(source)


@every
def test_records_outside_this_process_are_looked_at_before_a_charge(kind: type[Source]) -> None:
    assert trial(kind).in_memory or kind.check_ready is not Source.check_ready, "define check_ready"


@every
def test_its_docstring_says_what_is_public(kind: type[Source]) -> None:
    parameters = inspect.cleandoc(kind.__doc__ or "").partition("Parameters\n----------")[2].partition("\n\n")[0]
    for name in inspect.signature(kind).parameters:
        assert name in parameters, name
    assert "Public." in parameters
