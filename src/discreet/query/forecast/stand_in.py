"""Made-up records that stand in for private ones: from the schema and an assumed number, and from nothing else."""

from __future__ import annotations

from enum import Enum
from typing import Any

import numpy as np
from scipy.special import ndtr

from discreet.core.grid import Array
from discreet.core.neighbors import Unit
from discreet.schema.dates import Temporal
from discreet.schema.schema import Category, Number, Schema, Text

SHARED = 0.6  # correlation of a column with what all columns share
KEYS = 100  # values of a text column
POOLED = 3  # rows of each pooled unit


class Shape(Enum):
    """How the values of a column lie between its bounds."""

    BELL = "bell"
    """Around the middle: normal, a sixth of the range for its standard deviation."""
    EVEN = "even"
    """Everywhere alike."""
    SKEWED = "skewed"
    """Most near the lower bound: exponential, its mean an eighth of the range; first categories are frequent."""
    APART = "apart"
    """Everywhere alike, and no column says anything about another: so conditions and groups leave all else as it is."""

    def placed(self, normal: Array) -> Array:
        """Where normal variables lie, from 0 to 1."""
        match self:
            case Shape.BELL:
                return np.clip(0.5 + normal / 6, 0.0, 1.0)
            case Shape.EVEN | Shape.APART:
                return np.asarray(ndtr(normal))
            case Shape.SKEWED:
                return np.minimum(-np.log(ndtr(-normal)) / 8, 1.0)

    def chances(self, values: int) -> Array:
        """How frequent each of so many values is."""
        weights = 1 / np.arange(1.0, values + 1) if self is Shape.SKEWED else np.ones(values)
        return np.asarray(weights / weights.sum())


CORRELATED = (Shape.BELL, Shape.EVEN, Shape.SKEWED)


def stand_in(schema: Schema, n: int, unit: Unit, shape: Shape, seed: int = 0) -> dict[str, Any]:
    """Records of n units, drawn at random: the same ones every time.

    Columns are correlated, so that there is something to learn, but of one shape. Nothing is missing.

    Parameters
    ----------
    schema : Schema
        Public. The columns.
    n : int
        Public. How many units there are.
    unit : Unit
        Public. What a unit is; each has as many rows as may be used.
    shape : Shape
        Public. How values lie between their bounds.
    seed : int
        Public. Which of many such tables.

    Examples
    --------
    >>> from discreet.core.neighbors import RECORD
    >>> schema = Schema({"age": Number(0, 120), "sex": Category(("f", "m"))})
    >>> records = stand_in(schema, 1000, RECORD, Shape.BELL)
    >>> len(records["age"]), bool(50 < records["age"].mean() < 70), sorted(set(records["sex"]))
    (1000, True, ['f', 'm'])
    """
    rng, rows = np.random.default_rng(seed), n * (POOLED if unit.pooled else unit.rows)
    shared, part = rng.standard_normal(rows), 0.0 if shape is Shape.APART else SHARED
    records: dict[str, Any] = {}
    for name, kind in schema.columns.items():
        normal = part * shared + np.sqrt(1 - part**2) * rng.standard_normal(rows)
        match kind:
            case Temporal():
                records[name] = [kind.shown(value) for value in _numbers(kind, shape.placed(normal)).tolist()]
            case Number():
                records[name] = _numbers(kind, shape.placed(normal))
            case Category(values):
                records[name] = _chosen(values, shape.chances(len(values)), normal)
            case Text():
                records[name] = _chosen(_keys(KEYS), Shape.SKEWED.chances(KEYS), normal)
    if unit.column is not None and unit.column not in records:
        records[unit.column] = np.repeat(np.array(_keys(n)), rows // max(n, 1)).tolist()
    return records


def _numbers(kind: Number, places: Array) -> Array:
    """Numbers at places from 0 to 1 between the bounds; among those that the column can have."""
    width = kind.upper - kind.lower
    if kind.step is None:
        return kind.lower + width * places
    return kind.lower + kind.step * np.rint(width / kind.step * places)


def _keys(count: int) -> tuple[str, ...]:
    return tuple(f"value {place}" for place in range(count))


def _chosen(values: tuple[str, ...], chances: Array, normal: Array) -> list[str]:
    places = np.searchsorted(np.cumsum(chances)[:-1], ndtr(normal))
    return np.array(values, dtype=object)[places].tolist()
