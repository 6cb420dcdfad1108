"""Arrays as sources: columns by their place, values inside their bounds."""

from __future__ import annotations

import numpy as np

from discreet.schema.schema import Category, Number, Schema
from discreet.trust.sources.matrix import Matrix
from tests.trust.sources.tables import Table
from tests.trust.sources.trial import SourceTrial


def placed(table: Table, schema: Schema) -> Matrix:
    """Numbers, and categories by their place."""
    columns = []
    for name, kind in schema.columns.items():
        listed = kind.values if isinstance(kind, Category) else ()
        places = {value: float(place) for place, value in enumerate(listed)}
        columns.append([places.get(one, np.nan) if listed else np.nan if one is None else one for one in table[name]])
    return Matrix(np.array(columns, dtype=np.float64).T.reshape(-1, len(columns)), schema)


TRIAL = SourceTrial(lambda table, schema, folder: placed(table, schema), in_memory=True)


def test_values_are_moved_inside_their_bounds_and_columns_are_those_that_are_asked_for() -> None:
    source = Matrix(np.array([[5.0, -1.0], [np.nan, 0.5]]), Schema({"x": Number(0, 1), "y": Number(0, 1)}))
    np.testing.assert_array_equal(source.everything(("y", "x")), [[0.0, 1.0], [0.5, np.nan]])
    assert source.units() == 2
