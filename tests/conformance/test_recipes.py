"""Whoever asks may be hostile: no parameters that a recipe accepts break its bound, or make its sum fail for some rows.

The recipes are found by walking the package. Each is built with parameters that are right, nearly right or wrong. What
it accepts is tried on records at the ends of everything, one by one and together; what it refuses, it refuses in words.
"""

from __future__ import annotations

import importlib
import math
import random
from collections.abc import Callable, Iterator
from functools import cache
from hashlib import sha256
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pytest

from discreet.core.errors import DiscreetError, NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.questions.named import load_all, question_of
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import MOST_NUMBERS, RECIPES, Recipe
from discreet.schema.schema import Category, Number
from discreet.trust.call import VERSION
from discreet.trust.sources.cell_sums import tallied
from discreet.trust.sources.columns.decoding import bounded
from tests.conformance.walk import for_each
from tests.questions.trial import SCHEMA, Trial

COLUMNS = tuple(SCHEMA.columns)
WHOLE = (-(10**9), -2, -1, 0, 1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 30, 100, 4097, 2**20, 2**31, 2**40, 10**12, 10**400)
REAL = (-1e300, -3.5, -1.0, -0.0, 5e-324, 1e-300, 1e-9, 0.1, 0.5, 1.0, 2.5, 99.5, 110.0, 1e9, 1e48, 1e300)
ODD = (True, False, None, "x", "", float("nan"), float("inf"), (), ((),), ("x",), (1, 2), "[]", "{}", np.empty((0, 0)))
TEXTS = (*COLUMNS, "absent", "l1", "l2", "linf", "[{}]", '[{"two": "f"}, {"x": [-10, 30]}]', "[" * 10**5, "[1]", "null")
TEXTS += ("x > 3 and two == 'f'", "kind is missing", Recipe("count", {"column": "x"}).written())


def found() -> list[str]:
    """Every recipe of the package."""
    load_all()
    return sorted(name for name in RECIPES if ":" not in name)


def trials() -> dict[str, Trial]:
    """What the test files of the questions bring: each knows which parameters are right for its recipes."""
    tests = Path(__file__).parents[1]
    paths = [path.relative_to(tests).with_suffix("") for path in sorted((tests / "questions").rglob("test_*.py"))]
    modules = [importlib.import_module(".".join(("tests", *path.parts))) for path in paths]
    return {name: trial for module in modules for name, trial in getattr(module, "TRIALS", {}).items()}


TRIALS = trials()
Builder = Callable[..., BoundedSum]
NAMES: dict[Builder, str] = {RECIPES[name]: name for name in found()}
each = pytest.mark.parametrize("built", NAMES, ids=list(NAMES.values()))  # by what builds it, which knows its room


def every(claim: Callable[[str], None]) -> Callable[[], None]:
    """Make one test of a claim about each name."""

    def of(built: Builder) -> None:
        claim(NAMES[built])

    of.__name__, of.__qualname__, of.__doc__ = claim.__name__, claim.__qualname__, claim.__doc__
    return for_each(NAMES)(of)


def arrays(source: random.Random) -> Array:
    shape = [source.choice((0, 1, 2, 3, 6)) for _ in range(source.choice((0, 1, 2, 2, 2, 3)))]
    pool = source.choice(((0, 1), (-1, 0, 1), (0.25, -0.5, 1.0), REAL, (np.nan, 0.0), (np.inf, 1.0), (2.0**-21, 1.0)))
    return np.array([source.choice(pool) for _ in range(math.prod(shape))], dtype=np.float64).reshape(shape)


def changed(value: Any, source: random.Random) -> Any:
    """A value much like this one, or nothing like it."""
    if source.random() < 0.1:
        return source.choice(ODD)
    match value:
        case bool():
            return source.choice((True, False, 0, 1))
        case int():
            return source.choice((*WHOLE, -value, value + 1, value - 1, 2 * value))
        case float():
            return source.choice((*REAL, *WHOLE[:8], -value, value / 3))
        case str():
            return source.choice(TEXTS)
        case tuple():
            some = [changed(one, source) if source.random() < 0.4 else one for one in value]
            more = [source.choice(value)] if value and source.random() < 0.2 else []
            return tuple(some[: source.choice((len(some), len(some), len(some), 1, 0))] + more)
        case np.ndarray() if source.random() < 0.6:
            other = value.copy()
            other.flat[source.randrange(other.size)] = source.choice((*REAL, np.nan, np.inf, -1.0, 0.0, 1.0, 2.0))
            return source.choice((other, other[::-1], -value, value[:1], value[..., :1], 2 * value, value / 3))
        case np.ndarray():
            return source.choice((arrays(source), source.choice(TEXTS)))
    return value


def tried(name: str, times: int) -> Iterator[BoundedSum]:
    """The questions that a recipe accepts; every refusal says what was wrong."""
    source = random.Random(f"1 {name}")
    start = TRIALS[name].start
    yield question_of(Recipe(name, start), SCHEMA)
    for _ in range(times):
        some = source.sample(sorted(start), source.choice((1, 1, 2, len(start))) if len(start) > 1 else 1)
        asked = Recipe(name, {**start, **{key: changed(start[key], source) for key in some}})
        try:
            yield question_of(Recipe.read(asked.written()), SCHEMA)
        except NotPermitted as why:
            if not isinstance(why.__cause__, DiscreetError):
                raise
        except ParameterError:
            pass  # cannot even be written


@cache
def inside(columns: tuple[str, ...]) -> Array:
    """Records at the ends, beside them and anywhere between, with and without missing values."""
    rng = np.random.default_rng(0)
    pools = [pool_of(SCHEMA.columns[name]) for name in columns]
    rows = [[pool[k % len(pool)] for pool in pools] for k in range(12)]
    rows += [[rng.choice(pool) for pool in pools] for _ in range(28)]
    return _fixed(np.array(rows, dtype=np.float64).reshape(40, len(columns)))


def _fixed(rows: Array) -> Array:
    rows.flags.writeable = False  # they are kept for other questions
    return rows


def pool_of(column: Any) -> list[float]:
    if isinstance(column, Category):
        return [len(column.values) - 1.0, 0.0, np.nan, *map(float, range(len(column.values)))]
    low, high = float(column.lower), float(column.upper)
    near = [math.nextafter(low, high), math.nextafter(high, low), math.nextafter(0.5 * low + 0.5 * high, high), 0.0]
    cells = [low + share * (high - low) for share in (1 / 3, 0.25, 0.5, 0.75, 0.4999999)]
    return [high, low, np.nan, *near, *cells]


@cache
def outside(columns: tuple[str, ...]) -> Array:
    """Records that no source should hand over, in all columns that are numbers."""
    rows = inside(columns).copy()
    numbers = [i for i, name in enumerate(columns) if isinstance(SCHEMA.columns[name], Number)]
    wrong = np.resize(np.array([np.inf, -np.inf, 1e200, -1e200, 1e300, np.nan]), (len(rows), 1))
    rows[::2, numbers] = wrong[::2]
    return _fixed(rows)


def lengths(rows: Array, norm: str) -> Array:
    """Each row's length, without rounding to speak of."""
    sizes = np.abs(rows).astype(np.longdouble)
    if norm == "linf":
        return np.asarray(sizes.max(axis=1), dtype=np.float64)
    found = sizes.sum(axis=1) if norm == "l1" else np.sqrt((sizes * sizes).sum(axis=1))
    return np.asarray(found, dtype=np.float64)


def replaced_holds(question: BoundedSum, rows: Array) -> None:
    """No two rows are farther apart than a replaced one may move the sum, whatever the bound knows of their angles."""
    for norm in ("l1", "l2", "linf"):
        most = question.bound.sensitivity(norm, question.size, Neighbors.REPLACE)
        assert max(lengths(rows - row, norm).max() for row in rows) <= most, norm


def hold(question: BoundedSum) -> None:
    """The bound, and the equality of all ways to the sum."""
    columns = SCHEMA.features if question.columns is None else question.columns
    size = question.size
    assert 1 <= size <= MOST_NUMBERS
    few = max(2, min(40, 2**21 // size))
    for records in (inside(columns)[:few], outside(columns)[:few]):
        rows, steps = question.of(records), question.steps(records)
        assert rows.shape == steps.shape == (len(records), size)
        most = question.bound.radius * question.bound.rounding(size)
        assert lengths(question.grid.values(steps), question.bound.norm).max() <= most
        assert not question.bound.nonnegative or steps.min() >= 0
        if size <= 2**10:
            replaced_holds(question, question.grid.values(steps))
        if question.total is not None:
            np.testing.assert_array_equal(question.total(records), steps.sum(axis=0))
            for k in range(0, len(records), 1 + len(records) // 8):
                np.testing.assert_array_equal(question.total(records[k : k + 1]), steps[k])
    if question.raw:
        assert question.total is not None
        moved = bounded(outside(columns)[:few], columns, SCHEMA)
        np.testing.assert_array_equal(question.total(outside(columns)[:few]), question.total(moved))
    records = inside(columns)[:few]
    assert lengths(question.of(records), question.bound.norm).max() <= question.bound.radius * (1 + 1e-12)
    if question.total is not None:
        np.testing.assert_array_equal(question.total(records[:0]), np.zeros(size))


def tally_holds(question: BoundedSum, connection: duckdb.DuckDBPyConnection) -> None:
    if question.tally is None or question.tally.cells > 2**12:
        return
    assert question.columns is not None
    records = inside(question.columns)
    places = ", ".join(
        f"CASE WHEN c{i} IS NULL OR isnan(c{i}) THEN NULL ELSE CAST(c{i} AS {'DOUBLE' if number else 'INTEGER'}) END"
        f" AS c{i}"
        for i, name in enumerate(question.columns)
        for number in [isinstance(SCHEMA.columns[name], Number)]
    )
    values = {f"c{i}": records[:, i] for i in range(records.shape[1])}
    rows = connection.from_arrow(pa_table(values or {"c0": np.zeros(len(records))})).project(places or "c0")
    expected = question.steps(records).sum(axis=0)
    for floats in (True, False):
        np.testing.assert_array_equal(tallied(rows, question, floats=floats), expected)


def pa_table(values: dict[str, Array]) -> Any:
    return pytest.importorskip("pyarrow").table(values)


def put_through(name: str, times: int) -> int:
    count = 0
    with duckdb.connect() as connection:
        for question in tried(name, times):
            assert question.recipe is not None
            try:
                hold(question)
                if count < 20:
                    tally_holds(question, connection)
            except Exception as why:
                raise AssertionError(f"{question.recipe} {question.bound} {question.grid}: {why}") from why
            count += 1
    return count


@every
def test_it_has_a_trial(name: str) -> None:
    """A new recipe is tried once its test file says which parameters are right for it."""
    assert name in TRIALS, f"no test file of a question has TRIALS = {{{name!r}: Trial(...)}}"


def test_there_is_no_trial_of_nothing() -> None:
    assert found() == sorted(TRIALS)


@each
def test_no_accepted_parameter_breaks_a_bound_or_fails_for_some_rows(built: Builder) -> None:
    assert put_through(NAMES[built], 40) > 1


def digest(name: str) -> str:
    """Of a recipe's name, and of what it builds and adds up."""
    question = question_of(Recipe(name, TRIALS[name].start), SCHEMA)
    records = inside(SCHEMA.features if question.columns is None else question.columns)
    written = sha256(f"{name} {question.bound} {question.grid} {question.columns}".encode())
    if TRIALS[name].portable:
        written.update(question.steps(records).astype("<i8").tobytes())
    return written.hexdigest()[:12]


@every
def test_a_name_stands_for_one_question_for_ever(name: str) -> None:
    """If this fails, keep the old recipe, or raise `VERSION`: ledgers and other parties know the question by its name.

    A new recipe brings its pin; an old pin never changes.
    """
    assert TRIALS[name].pin == digest(name), f"{name} has pin {digest(name)!r}"
    assert VERSION == 3


def test_a_bound_cannot_be_forged() -> None:
    """By weights that cancel, or by parameters with which the sum fails for some values and so shows them.

    What is wrong is told by a check of its own. That its sum fails, or is not that of its rows, shows on some records
    only, of which the few that a question is tried on need not be.
    """
    forged = [(name, changes) for name, trial in TRIALS.items() for changes in trial.forged]
    assert len(forged) >= 12
    for name, changes in forged:
        with pytest.raises(NotPermitted) as refused:
            question_of(Recipe(name, {**TRIALS[name].start, **changes}), SCHEMA)
        assert isinstance(refused.value.__cause__, DiscreetError), (name, changes)
        assert "fused sum" not in str(refused.value), (name, changes)


@pytest.mark.slow
@each
def test_nor_does_any_of_many_more(built: Builder) -> None:
    assert put_through(NAMES[built], 3000) > 10
