"""Workloads: what a record counts in each query, and how long that is."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from discreet.questions.tables.workload import workload_of
from discreet.schema.schema import Category, Number, Schema
from tests.questions.trial import Trial

TRIALS = {
    "workload": Trial(
        {
            "columns": ("two", "x"),
            "bins": (0, 3),
            "queries": np.array([[1.0, 0, 0, 2, 0, 1], [0.5, 0, 3, 0, 0, 0]]),
            "norm": "l1",
        },
        "b2d87cfd6eb2",
        forged=[{"queries": np.array([[2.0, 0, 0, 0, 0, 0], [-1.999, 0, 0, 0, 0, 0]])}],
    )
}
SCHEMA = Schema({"age": Number(0, 80), "sex": Category(("f", "m"))})
rng = np.random.default_rng(0)


def test_what_a_record_counts_in_each_query_is_the_column_of_its_cell() -> None:
    records = np.column_stack([rng.uniform(0, 80, 500), rng.integers(0, 2, 500)])
    records[:20, 0], records[10:30, 1] = np.nan, np.nan
    whole = records[30:]
    counts, _, _ = np.histogram2d(whole[:, 0], whole[:, 1], bins=(4, 2), range=((0, 80), (-0.5, 1.5)))
    for weights, norm in product((rng.integers(0, 2, (5, 8)), rng.random((5, 8))), ("l1", "l2")):
        question = workload_of(SCHEMA, ("age", "sex"), (4, 0), weights.astype(float), norm)  # type: ignore[arg-type]
        assert question.total is not None
        sums = question.total(records)
        np.testing.assert_allclose(question.grid.values(sums), weights @ counts.ravel(), atol=1e-4)
        np.testing.assert_array_equal(sums, question.steps(records).sum(axis=0))
        column = np.abs(weights).sum(axis=0) if norm == "l1" else np.sqrt(np.square(weights).sum(axis=0))
        assert question.bound.radius == pytest.approx(column.max())


def test_conditions_as_text_are_the_same_question_as_their_weights() -> None:
    text = workload_of(SCHEMA, ("age", "sex"), (2, 0), '[{"sex": "f"}, {"age": [40, 80]}]', "l2")
    weights = workload_of(SCHEMA, ("age", "sex"), (2, 0), np.array([[1.0, 0, 1, 0], [0, 0, 1, 1]]), "l2")
    records = np.array([[10.0, 0.0], [50.0, 0.0], [80.0, 1.0]])
    np.testing.assert_array_equal(text.of(records), weights.of(records))
    assert text.bound == weights.bound
