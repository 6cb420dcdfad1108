"""Which source reads which kind of records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Schema
from discreet.trust.sources.arrow import ArrowFrame
from discreet.trust.sources.file import File
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.query import query_source
from discreet.trust.sources.relation import Relation
from discreet.trust.sources.shield import shielded
from discreet.trust.sources.source import Source
from discreet.trust.sources.spark import SparkFrame


def source_of(records: Any, schema: Schema, unit: Unit = RECORD) -> Source:
    """The source that reads these records: by what they can do, so that no engine is imported that is not in use."""
    if isinstance(records, Source):
        return records
    source = _opened(records, schema, unit)
    source.reopened = lambda other: shielded("read the records again", lambda: source_of(records, other, unit))
    return source


def _opened(records: Any, schema: Schema, unit: Unit) -> Source:
    match records:
        case str() | Path():
            return File(records, schema, unit)
        case np.ndarray():
            return _matrix(records, schema, unit)
        case Mapping():
            return Frame(records, schema, unit)
        case (connection, str() as query):
            return query_source(connection, query, schema, unit)
    for ability, source in _ABILITIES.items():
        if hasattr(records, ability):
            return source(records, schema, unit)
    raise ParameterError(
        "records", f"a {type(records).__name__} cannot be read", "Give an array, a data frame, a path or a query."
    )


_ABILITIES: dict[str, Any] = {
    "mapInArrow": SparkFrame,
    "to_arrow_reader": Relation,
    "iloc": Frame,
    "__arrow_c_stream__": ArrowFrame,
}


def _matrix(records: Any, schema: Schema, unit: Unit) -> Matrix:
    if unit != RECORD:
        raise ParameterError(
            "matrix", "it has no column that identifies units", "Give a data frame or a file with one."
        )
    return Matrix(records, schema)
