"""Weights, residuals and their products for each part of a Gaussian mixture: a step of expectation-maximisation.

For a part of which a record has the share g, let v = sqrt(g) (w, u), where u is its residual from the mean, at most 1
long. Then v v' holds w^2 g, w g u and g u u', and the sum of all of them is one bounded sum: as in `second_moments`
each product is taken once, 11/8 times where its factors differ, and is then at most g (w^2 + 1) long. The shares of a
record add up to one, so all blocks together are at most w^2 + 1 long, however many parts there are; and no two records
add vectors that form an obtuse angle.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound
from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid
from discreet.questions.gradients.gradients import WHOLE, exponential
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.vectors.clusters import Scaling, check_centers, missing
from discreet.questions.vectors.coordinates import CELLS
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.row_steps import by_slices
from discreet.questions.vectors.second_moments import CROSS, EIGHTHS, weights_of
from discreet.schema.schema import Schema

CONSTANT = round(math.ldexp(math.sqrt(0.5), CELLS))  # w in steps: products get 2/3 of the bound
COUNT = math.ldexp(CONSTANT, -CELLS) ** 2  # what a whole record adds to the count of a part
RESIDUAL = CROSS * math.ldexp(CONSTANT, -CELLS)  # and, times its residual, to the residuals
LEAST, MOST = 2.0**-20, 2.0**20  # of a radius, of what a residual is multiplied by, and of a weight
FINENESS = 20  # bits of a factor: products with coordinates on the fine grid are exact
LOGS = Grid(-24)  # of logarithms of densities
FARTHEST = 2.0**9  # standard deviations beyond which a record counts as so far away
MOST_COLUMNS = 2**10  # so that sums of squares are exact


@recipe("mixture_moments")
def mixture_moments_of(
    schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array, radii: Array
) -> BoundedSum:
    """Each record adds v v' in the block of every part, with its share in that part under the mixture.

    A record with a missing value adds nothing.

    Parameters
    ----------
    weights : array of shape (n_parts,)
        Public. Of the parts.
    means : array of shape (n_parts, n_features)
        Public. Scaled to [-1, 1], on the fine grid.
    factors : array of shape (n_parts, n_features, n_features)
        Public. F with F F' the inverse of a covariance matrix, upper triangular; rounded to 20 bits.
    radii : array of shape (n_parts,)
        Public. The length that a residual is shrunk to, and divided by.
    """
    scale = Scaling(schema, schema.values(columns))
    n = scale.n_features
    check_mixture(weights, means, factors, radii, n)
    parts = [MixturePart.of(*one) for one in zip(weights, means, factors, radii, strict=True)]
    first, second = np.triu_indices(n + 1)
    eighths = math.ldexp(1.0, EIGHTHS) * weights_of(n + 1)
    grid = Grid(-2 * CELLS - EIGHTHS)

    def vectors(records: Array) -> list[Array]:
        scaled = scale.into(records)
        nowhere = missing(scaled)
        scaled[:, nowhere] = 0.0
        roots = roots_of_shares(scaled, parts)
        roots[:, nowhere] = 0.0
        return [part.steps(scaled, root) for part, root in zip(parts, roots, strict=True)]

    def of(records: Array) -> Array:
        return np.vstack([grid.values(v[first] * v[second] * eighths[:, None]) for v in vectors(records)]).T

    def total(records: Array) -> Array:
        return np.concatenate([(v @ v.T)[first, second] * eighths for v in vectors(records)])

    bound = AcuteBound("l2", (1 + COUNT) * (1 + 2.0**-30))
    return BoundedSum(of, bound, columns, grid, by_slices(total, n + 1, len(parts) * len(first)))


@dataclass(frozen=True)
class MixturePart:
    """One part of a mixture; all of it public.

    Parameters
    ----------
    level : float
        The logarithm of its weight and of the factor of its density, without powers of 2 pi.
    mean : array of shape (n, 1)
        Its mean.
    inverse : array of shape (n, n)
        What makes a residual one of variance 1 in every direction.
    radius : float
        The length that a residual is shrunk to.
    """

    level: float
    mean: Array
    inverse: Array
    radius: float

    @classmethod
    def of(cls, weight: float, mean: Array, factor: Array, radius: float) -> MixturePart:
        """With numbers that make exact products."""
        level = math.log(weight) + float(np.log(np.diag(factor)).sum())
        unit = math.ldexp(1.0, math.frexp(np.abs(factor).max())[1] - FINENESS)
        return cls(
            float(LOGS.values(np.rint(level / LOGS.step))), mean[:, None], np.rint(factor.T / unit) * unit, radius
        )

    def logarithms(self, scaled: Array) -> Array:
        """Of weight times density, up to a constant: the same to the last bit in any batch and on every machine."""
        z = self.inverse @ (scaled - self.mean)
        z *= math.sqrt(1 / LOGS.step)
        np.clip(np.rint(z, out=z), -FARTHEST / math.sqrt(LOGS.step), FARTHEST / math.sqrt(LOGS.step), out=z)
        return self.level - (0.5 * LOGS.step) * np.einsum("ij,ij->j", z, z)

    def steps(self, scaled: Array, root: Array) -> Array:
        """The vector v of each record, by the root of its share: whole steps, cut, so that none is longer."""
        v = np.empty((1 + len(scaled), scaled.shape[1]))
        away = np.subtract(scaled, self.mean, out=v[1:])
        lengths = np.sqrt(np.einsum("ij,ij->j", away, away))
        v[0] = CONSTANT * root
        away *= root * (math.ldexp(1.0, CELLS) / np.maximum(lengths, self.radius))
        return np.trunc(v, out=v)


def roots_of_shares(scaled: Array, parts: list[MixturePart]) -> Array:
    """The square root of the share of each record in each part: a record in each column."""
    logs = np.stack([part.logarithms(scaled) for part in parts])
    weights = np.rint(WHOLE * exponential(logs - logs.max(axis=0)))
    return np.sqrt(weights / weights.sum(axis=0))


def check_mixture(weights: Array, means: Array, factors: Array, radii: Array, n: int) -> None:
    """Refuse what is no mixture of n columns whose products are exact."""
    parts = weights.size
    shaped = (
        parts > 0
        and n <= MOST_COLUMNS
        and weights.shape == radii.shape == (parts,)
        and means.shape == (parts, n)
        and factors.shape == (parts, n, n)
    )
    if shaped:
        check_centers(means, n)
        positive = np.concatenate([weights, radii, *(np.diag(factor) for factor in factors)])
        if positive.min() >= LEAST and positive.max() <= MOST and np.abs(factors).max() <= MOST:
            return
    raise ParameterError(
        "mixture moments",
        f"weights, means, factors and radii of shapes {weights.shape}, {means.shape}, {factors.shape} and "
        f"{radii.shape} are not those of a mixture of {n} columns",
        f"Give 1 to {MOST_COLUMNS} columns, means from -1 to 1, and weights, radii and diagonals of factors from "
        f"{LEAST:.2g} to {MOST:.2g}.",
    )


@recipe("part_shares")
def part_shares_of(
    schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array
) -> BoundedSum:
    """Each record adds its share in every part: they add up to one.

    Parameters
    ----------
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
        scaled = self._scale.into(records)
        nowhere = missing(scaled)
        scaled[:, nowhere] = 0.0
        shares = np.square(roots_of_shares(scaled, self._parts))
        shares[:, nowhere] = 0.0
        return SharedRecords(shares, scaled)
