"""Products of linear combinations of columns: second moments after public centring, scaling or whitening."""

from __future__ import annotations

from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates
from discreet.questions.vectors.second_moments import products_of
from discreet.schema.schema import Schema


@recipe("mapped_moments")
def mapped_moments_of(schema: Schema, columns: tuple[str, ...], matrix: Array) -> BoundedSum:
    """The sum of all products of two coordinates of (w, M (1, x)); see `second_moments`, whose `unfolded` reads it.

    No two records add vectors with an obtuse angle: see `central_moments`.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the values lie.
    columns : tuple of str
        Public. Numeric columns, scaled from their bounds to [-1, 1].
    matrix : array of shape (k, 1 + n)
        Public. M, on the grid of `MappedCoordinates`. A record is shrunk to length 1 after it.
    """
    return products_of(MappedCoordinates.of(schema, columns, matrix), columns)
