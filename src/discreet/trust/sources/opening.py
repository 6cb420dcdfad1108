"""Which source reads which kind of records."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.neighbors import RECORD, Unit
from discreet.core.schema import Schema
from discreet.trust.sources.file import File
from discreet.trust.sources.frame import Frame
from discreet.trust.sources.matrix import Matrix
from discreet.trust.sources.source import Source


def source_of(records: Any, schema: Schema, unit: Unit = RECORD) -> Source:
    """The source that reads these records."""
    if isinstance(records, str | Path):
        return File(records, schema, unit)
    if isinstance(records, np.ndarray):
        if unit != RECORD:
            raise ParameterError(
                "matrix", "it has no column that tells units apart", "Give a data frame or a file with one."
            )
        return Matrix(records, schema)
    if isinstance(records, Source):
        return records
    return Frame(records, schema, unit)
