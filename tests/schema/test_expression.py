"""Expressions: the same bits in numpy and in an engine, inside bounds that are known before any record is read."""

from __future__ import annotations

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.core.errors import ParameterError
from discreet.schema.condition_text import LONGEST
from discreet.schema.expression import MOST, TINY, Span
from discreet.schema.expression_text import DEEPEST, expression_of
from discreet.schema.schema import Boolean, Category, Number, Schema, Text

PUBLIC = "it names columns of the schema, which its owner wrote, and public numbers; nothing of a record"
PLAIN = dict.fromkeys(("ColumnValue", "Arithmetic", "Applied", "Case"), PUBLIC)
SCHEMA = Schema(
    {
        "a": Number(-3, 100),
        "b": Number(0, 1),
        "end": Number(-1e9, 1e9),
        "ward": Category(("day", "icu")),
        "ill": Boolean(),
        "note": Text(),
    }
)
READ = ("a", "b", "end", "ward", "ill")
ROWS = np.array(
    [
        [2.0, 0.5, 7.0, 0.0, 1.0],
        [-3.0, 0.0, -1e9, 1.0, 0.0],
        [100.0, 1.0, 1e9, 1.0, 1.0],
        [0.1, 5e-324, -0.0, np.nan, np.nan],
        [np.nan, 0.3, 1e-300, 0.0, 1.0],
        [3.3, np.nan, 1 / 3, 1.0, 0.0],
        [0.0, TINY, -TINY / 2, 0.0, np.nan],
    ]
)
LEAVES = st.sampled_from(["a", "b", "`end`", "ill", "2", "0.1", "-7", "1e-3"])


def joined(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from("+-*/"), inner),
        st.builds("{}({})".format, st.sampled_from(["abs", "floor", "ceil"]), inner),
        st.builds("{}({}, {})".format, st.sampled_from(["least", "greatest", "coalesce"]), inner, inner),
        st.builds("sqrt(abs({}))".format, inner),
        st.builds("case when ward == 'icu' or a > 1 then {} when ill then {} end".format, inner, inner),
        st.builds("case when not (b < 0.4 and a is not missing) then {} else {} end".format, inner, inner),
    )


TEXTS = st.recursive(LEAVES, joined, max_leaves=6)


def engines(text: str) -> tuple[np.ndarray, np.ndarray]:
    """What numpy and what DuckDB compute."""
    expression = expression_of(text, SCHEMA)
    with np.errstate(all="ignore"):
        ours = expression.values(dict(zip(READ, ROWS.T, strict=True)))
    columns = {f"c{i}": pa.array([None if np.isnan(v) else v for v in ROWS[:, i]]) for i in range(len(READ))}
    rows = duckdb.connect().from_arrow(pa.table(columns))
    found = rows.project(expression.sql({name: i for i, name in enumerate(READ)}) + " AS found").fetchall()
    return ours, np.array([np.nan if value is None else value for (value,) in found])


@given(TEXTS)
def test_numpy_and_an_engine_compute_the_same_bits_inside_the_span(text: str) -> None:
    try:
        span = expression_of(text, SCHEMA).span
    except ParameterError:
        return
    ours, theirs = engines(text)
    np.testing.assert_array_equal(ours + 0.0, theirs + 0.0)
    known = ours[~np.isnan(ours)]
    assert np.isfinite(known).all()
    assert np.all((known >= span.lower) & (known <= span.upper))
    assert np.all((known == 0) | (np.abs(known) >= span.least))


@given(TEXTS)
def test_what_is_written_out_means_the_same(text: str) -> None:
    try:
        found = expression_of(text, SCHEMA)
    except ParameterError:
        return
    assert expression_of(str(found), SCHEMA) == found


def test_what_cannot_be_computed_is_missing() -> None:
    ours, theirs = engines("1 / b")
    np.testing.assert_array_equal(np.isnan(ours), [False, True, False, True, False, True, False])
    np.testing.assert_array_equal(ours, theirs)
    np.testing.assert_array_equal(np.isnan(engines("coalesce(a, b)")[0]), [False] * 7)
    np.testing.assert_array_equal(np.isnan(engines("least(a, b)")[0]), [0, 0, 0, 0, 1, 1, 0])


def test_a_record_changes_nothing_for_another() -> None:
    expression = expression_of("case when ward == 'icu' then a / b else sqrt(abs(`end`)) end", SCHEMA)
    with np.errstate(all="ignore"):
        together = expression.values(dict(zip(READ, ROWS.T, strict=True)))
        alone = [float(expression.values(dict(zip(READ, row[:, None], strict=True)))[0]) for row in ROWS]
    np.testing.assert_array_equal(together, alone)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("absent + 1", "there is no column 'absent'"),
        ("note + 1", "are not public"),
        ("ward + 1", "ward is no number"),
        ("1 + 1", "reads no column"),
        ("a +", "a column or a value is missing"),
        ("a b", "goes on where it should end"),
        ("a ^ 2", "cannot be read"),
        ("exp(a)", "there is no function 'exp'"),
        ("sqrt(a)", "root of a number that may be negative"),
        ("abs(a, b)", "abs is given 2 numbers"),
        ("a / 0", "divides by zero"),
        ("case when a then 1 end", "a comparison is missing"),
        ("case when a > 1 then 1", "'end' is missing"),
        ("'x'", "is no number"),
        ("(" * (DEEPEST + 1) + "a" + ")" * (DEEPEST + 1), "inside one another"),
        ("a + " * LONGEST + "a", "no text of up to"),
        ("*".join(["`end`"] * 40), "too large, or too near to zero"),
        ("least(" * 10 + "a" + ", b)" * 10, "its SQL has over"),
        ("greatest(a, " * 10 + "b" + ")" * 10, "its SQL has over"),
        ("case " + "when a>1 then b " * 250 + "end", "written out it has"),
        ("+".join(["a"] * 1500), "inside one another"),
    ],
)
def test_what_is_wrong_is_refused_with_its_place(text: str, says: str) -> None:
    with pytest.raises(ParameterError, match=says) as refused:
        expression_of(text, SCHEMA)
    assert "Nothing was released or spent" in str(refused.value)


def test_many_columns_are_added_up() -> None:
    assert expression_of("+".join(["a"] * 30), SCHEMA).span.upper == 30 * expression_of("a", SCHEMA).span.upper


def test_spans_hold_what_rounding_makes_of_their_ends() -> None:
    across = Span(-1.0, 2.0) * Span(-3.0, 1.0)
    assert (across.lower, across.upper) == (-6.0, 3.0)
    third = Span(1 / 3, 1 / 3)
    assert (third * Span(3.0, 3.0)).has(1 / 3 * 3.0)
    assert (Span(-1.0, 2.0) / Span(0.0, 4.0)).upper == pytest.approx(2 / TINY)
    with pytest.raises(ParameterError, match="too large"):
        _ = Span(0.0, MOST) * Span(0.0, 2.0)
    assert math.isfinite((Span(0, 1e300**0.5) * Span(0, 1e100)).upper)
