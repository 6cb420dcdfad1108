"""Records as vectors: their lengths, missing values, and their number."""

from __future__ import annotations

import numpy as np

from discreet.core.neighbors import Neighbors
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.vectors.coordinate_records import CoordinateRecords, complete_count_of
from discreet.schema.schema import Schema
from discreet.trust.curator import CuratorsView
from discreet.trust.sources.source_of import source_of
from tests.questions.trial import SCHEMA, Trial, X, summed

TRIALS = {"complete_count": Trial({"columns": ("x", "y")}, "6751341ad495")}


def test_a_record_counts_if_no_value_is_missing() -> None:
    records = np.column_stack([X, X / 200])
    records[:3, 0], records[2:5, 1] = np.nan, np.nan
    question = complete_count_of(SCHEMA, ("x", "y"))
    assert summed(question, records).tolist() == [len(X) - 5]


def test_vectors_are_no_longer_than_is_said_and_zero_where_a_value_is_missing() -> None:
    schema = Schema.numeric(0.0, 10.0, 3)
    rows = np.array([[0.0, 10.0, 10.0], [5.0, 5.0, 5.0], [5.0, 6.0, np.nan], [0.0, 0.0, 0.0]])
    view = CuratorsView(source_of(rows, schema), Neighbors.ADD_REMOVE, DeterministicBits(0))
    for radius in (0.5, 1.0, 9.0):
        question = CoordinateRecords(schema, ("x0", "x1", "x2"), radius)
        found = question.answer(view).values
        lengths = sorted(np.linalg.norm(found, axis=1))
        assert lengths[0] == 0.0
        assert question.longest * (1 - 1e-3) < lengths[-1] <= question.longest
        assert sorted(found[:, 0]) == [0.0, *[question.coordinates.weight] * 3]
