"""A column as a list of texts and numbers: the same however it was written, so that hashes of it agree."""

from __future__ import annotations

from discreet.schema.dates import Temporal
from discreet.schema.schema import Boolean, Category, Column, Number


def plain_column(kind: Column) -> list[str | float]:
    """What is public about a column.

    Examples
    --------
    >>> plain_column(Number(0, 120)) == plain_column(Number(0.0, 120.0)) == ["number", 0.0, 120.0]
    True
    """
    match kind:
        case Temporal(lower, upper):
            return [type(kind).__name__.lower(), lower, upper]
        case Number(lower, upper, step):
            return ["number", float(lower), float(upper), *([] if step is None else [float(step)])]
        case Boolean():
            return ["boolean"]
        case Category(values):
            return ["category", *values]
        case _:
            return ["text"]
