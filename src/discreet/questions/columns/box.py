"""The box that numeric columns lie in: where a density lives."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.tables.domain import Domain
from discreet.schema.schema import Schema

GUESS = 10_000  # records, where their number is secret and nothing is said of it


@dataclass(frozen=True)
class Box:
    """Numeric columns between their bounds. All of it public.

    Parameters
    ----------
    columns : tuple of str
        Public. The columns.
    lower, width : arrays
        Public. Where each begins, and how far it reaches.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> box = Box.of(Schema({"age": Number(0, 90), "size": Number(100, 200)}), ("age", "size"))
    >>> box.scaled([[45.0, 125.0]])
    array([[0.5 , 0.25]])
    """

    columns: tuple[str, ...]
    lower: Array
    width: Array

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...]) -> Box:
        numbers = [schema.number(name) for name in columns]
        lower, upper = (np.array([float(getattr(one, end)) for one in numbers]) for end in ("lower", "upper"))
        box = cls(columns, lower, upper - lower)
        if not 1e-300 < box.volume < 1e300:
            raise ParameterError("box", f"its volume is {box.volume:g}", "Rescale the columns, or ask about fewer.")
        return box

    @classmethod
    def around(cls, domain: Domain) -> Box:
        """The box of the cells of numbers."""
        ends = [(float(edges[0]), float(edges[-1])) for edges in domain.edges if edges is not None]
        lower, upper = np.array(ends).T
        return cls(domain.columns, lower, upper - lower)

    @property
    def size(self) -> int:
        return len(self.columns)

    @property
    def volume(self) -> float:
        return float(np.prod(self.width))

    def scaled(self, points: ArrayLike) -> Array:
        """Points, one in each row, where the box reaches from 0 to 1 in every column.

        Of a single column they are numbers, in an array of any shape.
        """
        given = np.asarray(points, dtype=np.float64)
        rows = given.reshape(-1, 1) if self.size == 1 else given.reshape(-1, given.shape[-1] if given.ndim else 1)
        if rows.shape[1] != self.size:
            raise ParameterError(
                "points",
                f"each has {rows.shape[1]} coordinates",
                f"Give an array whose last axis is {', '.join(self.columns)}.",
                "The release is as it was.",
            )
        return (rows - self.lower) / self.width

    def unscaled(self, places: Array) -> Array:
        """Points of the box, from places between 0 and 1."""
        return self.lower + places * self.width
