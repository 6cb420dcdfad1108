"""Fused sums of the statistics are the sums of their clipped rows, to the last step."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.question import BoundedSum
from discreet.core.schema import Category, Number, Schema
from discreet.questions.count import count_of
from discreet.questions.histogram import histogram_of
from discreet.questions.moments import moments_of
from discreet.questions.total import total_of

rng = np.random.default_rng(0)
RECORDS = np.concatenate(
    [rng.normal(40, 30, 500), rng.uniform(-1e-9, 1e-9, 50), [np.nan, -10.0, 110.0, 0.0, -0.0, 5e-324, 100.0, 99.999999]]
)[:, None]
INSIDE = np.clip(RECORDS, -10, 110)
SCHEMA = Schema({"x": Number(-10, 110), "kind": Category(("a", "b", "c"))})
QUESTIONS = {
    "count": count_of(SCHEMA, "x"),
    "cells": histogram_of(SCHEMA, "x", 7),
    "sum": total_of(SCHEMA, "x", 0.0),
    "sum from below": total_of(SCHEMA, "x", -10.0),
    **{
        f"moments {degree} {counted}": moments_of(SCHEMA, "x", degree, counted)
        for degree in (1, 2)
        for counted in (False, True)
    },
}


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_a_fused_sum_is_the_sum_of_its_clipped_rows(question: BoundedSum) -> None:
    assert question.total is not None
    np.testing.assert_array_equal(question.total(INSIDE), question.steps(INSIDE).sum(axis=0))


def test_a_category_is_counted_at_its_place() -> None:
    question = histogram_of(SCHEMA, "kind", 1)
    codes = np.array([0.0, 2.0, 2.0, np.nan])[:, None]
    assert question.total is not None
    np.testing.assert_array_equal(question.total(codes), [1, 0, 2])
    np.testing.assert_array_equal(question.steps(codes).sum(axis=0), [1, 0, 2])


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_clipping_never_acts_on_what_is_inside_its_bounds(question: BoundedSum) -> None:
    rows = question.of(INSIDE)
    np.testing.assert_array_equal(question.bound.clip(rows), rows)


@pytest.mark.parametrize("question", QUESTIONS.values(), ids=QUESTIONS)
def test_values_that_a_source_left_outside_add_no_more_than_their_bounds(question: BoundedSum) -> None:
    outside = np.concatenate([RECORDS, 1e6 * RECORDS, [[np.inf], [-np.inf]]])
    assert question.total is not None
    np.testing.assert_array_equal(question.total(outside), question.total(np.clip(outside, -10, 110)))
