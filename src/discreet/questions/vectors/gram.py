"""The sum of products z z' of records around a center, for mechanisms that choose directions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.core.answer import GramAnswer
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum, View
from discreet.questions.vectors.coordinates import Coordinates
from discreet.questions.vectors.second_moments import EIGHTHS, central_moments_of, weights_of
from discreet.schema.schema import Schema


@dataclass(frozen=True)
class Gram:
    """The exact sum of z z', where z is a record around a public center, shrunk to a radius.

    Only a curator can ask it, since what is released is not this sum with noise.

    Parameters
    ----------
    products : BoundedSum
        Public. The sum of all products of two coordinates, of which the constant is one.
    longest : int
        Public. The most that the squared length of z is, in squared steps.
    """

    products: BoundedSum
    longest: int

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...], center: Array, radius: float) -> Gram:
        """Of these columns, scaled to [-1, 1]; see `central_moments_of`."""
        longest = Coordinates.of(schema, columns, radius, center).longest
        return cls(central_moments_of(schema, columns, center, radius), longest)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return self.products.columns

    @property
    def size(self) -> int:
        """How many numbers the sum has."""
        return len(self.columns) ** 2

    def answer(self, view: View) -> GramAnswer:
        """The exact sum, and how long one row's vector can be."""
        n = 1 + len(self.columns)
        upper = np.zeros((n, n), dtype=np.int64)
        upper[np.triu_indices(n)] = view.sum(self.products) // (2**EIGHTHS * weights_of(n)).astype(np.int64)
        return GramAnswer((upper + np.triu(upper, 1).T)[1:, 1:], self.longest, view.unit.rows, view.neighbors)
