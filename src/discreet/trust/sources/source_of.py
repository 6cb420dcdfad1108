"""Which source reads which kind of records."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Unit
from discreet.schema.dates import Temporal
from discreet.schema.schema import Number, Schema
from discreet.trust.sources.columns.decoding import unmasked
from discreet.trust.sources.columns.raw_values import array_of
from discreet.trust.sources.file import File
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.query import query_source
from discreet.trust.sources.relation import Relation
from discreet.trust.sources.shielded import shielded
from discreet.trust.sources.source import Source
from discreet.trust.sources.spark import SparkFrame
from discreet.trust.sources.stream import ArrowFrame

_ABILITIES: dict[str, Any] = {
    "mapInArrow": SparkFrame,
    "to_arrow_reader": Relation,
    "iloc": Frame,
    "__arrow_c_stream__": ArrowFrame,
}


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
            return _array(records, schema, unit)
        case list():
            return _array(array_of(records, len(schema.columns)), schema, unit)
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


def _array(records: NDArray[Any], schema: Schema, unit: Unit) -> Source:
    """A matrix of numbers; or its columns one by one, where they are to be found in lists or read as times."""
    if unit != RECORD:
        raise ParameterError(
            "matrix", "it has no column that identifies units", "Give a data frame or a file with one."
        )
    plain = [isinstance(kind, Number) and not isinstance(kind, Temporal) for kind in schema.columns.values()]
    if all(plain) or records.ndim != 2 or records.shape[1] != len(schema.columns):
        return Matrix(records, schema)
    return Frame(dict(zip(schema.columns, unmasked(records).T, strict=True)), schema)
