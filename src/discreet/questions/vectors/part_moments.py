"""Shares, sums and products of one part of a Gaussian mixture, each a sum of its own: as DP-EM was published."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.grid import Array, Grid
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.acute_bound import AcuteBound
from discreet.questions.vectors.clusters import Scaling, missing
from discreet.questions.vectors.mixture_moments import MixturePart, check_mixture, roots_of_shares
from discreet.schema.schema import Schema


@recipe("part_shares")
def part_shares_of(
    schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array
) -> BoundedSum:
    """Each record adds its share in every part: they add up to one.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    weights, means, factors : arrays
        Public. Of the mixture; see `mixture_moments_of`.
    """
    shares = SharesOf(schema, columns, weights, means, factors)
    return BoundedSum(lambda records: shares(records).shares.T, Bound("l1", 1.0, nonnegative=True), columns, Grid(-30))


@recipe("part_moments")
def part_moments_of(
    schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array, part: int, degree: int
) -> BoundedSum:
    """Each record adds g u or g u u', where g is its share in one part and u is the record, at most 1 long.

    u is the record scaled to [-1, 1], over the square root of n_features. Products are listed once; two such lists
    never form an obtuse angle, since the product of those of u and v is ((u'v)^2 + sum_i u_i^2 v_i^2) / 2.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    weights, means, factors : arrays
        Public. Of the mixture; see `mixture_moments_of`.
    part : int
        Public. Which part.
    degree : int
        Public. 1 for sums, 2 for products.
    """
    shares = SharesOf(schema, columns, weights, means, factors)
    check_whole("part moments", "part", part, least=0, most=len(weights) - 1)
    check_whole("part moments", "degree", degree, most=2)
    first, second = np.triu_indices(len(columns))

    def of(records: Array) -> Array:
        found = shares(records)
        u = found.scaled / math.sqrt(len(columns))
        return np.asarray((found.shares[part] * (u if degree == 1 else u[first] * u[second])).T)

    bound = Bound("l2", 1 + 2.0**-30) if degree == 1 else AcuteBound("l2", 1 + 2.0**-30)
    return BoundedSum(of, bound, columns)


@dataclass(frozen=True)
class SharedRecords:
    """The share of records in each part, and the records scaled: zero where a value is missing; columns are records."""

    shares: Array
    scaled: Array


class SharesOf:
    """What finds the shares of records in the parts of a public mixture."""

    def __init__(self, schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array) -> None:
        self._scale = Scaling(schema, schema.values(columns))
        radii = np.ones(weights.shape)
        check_mixture(weights, means, factors, radii, self._scale.n_features)
        self._parts = [MixturePart.of(*one) for one in zip(weights, means, factors, radii, strict=True)]

    def __call__(self, records: Array) -> SharedRecords:
        """Those of records."""
        scaled = self._scale.into(records)
        nowhere = missing(scaled)
        scaled[:, nowhere] = 0.0
        shares = np.square(roots_of_shares(scaled, self._parts))
        shares[:, nowhere] = 0.0
        return SharedRecords(shares, scaled)
