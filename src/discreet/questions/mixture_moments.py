"""Weights, residuals and their products for each part of a Gaussian mixture: a step of expectation-maximisation."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.question import BoundedSum
from discreet.core.recipe import recipe
from discreet.core.schema import Schema
from discreet.questions.clusters import Scaling
from discreet.questions.second_moments import weights_of

COUNT = 0.7  # weight of a record's share, beside its residual and their products, which are at most 1 long
LEAST, MOST = 2.0**-20, 2.0**20  # of a radius, of what a residual is multiplied by, and of a weight


@recipe("mixture_moments")
def mixture_moments_of(
    schema: Schema, columns: tuple[str, ...], weights: Array, means: Array, factors: Array, radii: Array
) -> BoundedSum:
    """Each record writes g (0.7, u, u u') in the block of every part of the mixture, by its share g in it.

    u is the residual from the mean of that part, shrunk to its radius and divided by it. The shares of a record add up
    to one, so that a row is at most sqrt(0.7^2 + 1 + 1) long, however many parts there are.

    Parameters
    ----------
    schema : Schema
        Public. Between whose bounds the records lie.
    columns : tuple of str
        Public. Numeric columns.
    weights : array of shape (n_parts,)
        Public. Of the parts.
    means : array of shape (n_parts, n_features)
        Public. Scaled to [-1, 1].
    factors : array of shape (n_parts, n_features, n_features)
        Public. F with F F' the inverse of a covariance matrix, upper triangular.
    radii : array of shape (n_parts,)
        Public. The length that a residual is shrunk to.
    """
    scale = Scaling(schema, schema.values(columns))
    n, parts = scale.n_features, len(weights) if weights.ndim == 1 else 0
    _check(weights, means, factors, radii, n)
    first, second = np.triu_indices(n)
    cross = weights_of(n)

    def of(records: Array) -> Array:
        scaled = scale.into(records)
        known = np.nan_to_num(scaled)
        shares = np.where(
            np.isnan(scaled).any(axis=1, keepdims=True), 0.0, responsibilities(known, weights, means, factors)
        )
        blocks = []
        for part in range(parts):
            away = known - means[part]
            lengths = np.sqrt(np.square(away).sum(axis=1, keepdims=True))
            unit = away / np.maximum(lengths, radii[part])
            rows = np.column_stack([np.full(len(unit), COUNT), unit, unit[:, first] * unit[:, second] * cross])
            blocks.append(shares[:, part : part + 1] * rows)
        return np.column_stack(blocks)

    return BoundedSum(of, Bound("l2", math.sqrt(COUNT**2 + 2) * (1 + 2.0**-30)), columns)


def log_densities(records: Array, weights: Array, means: Array, factors: Array) -> Array:
    """The logarithm of each part's weight times its density, one column for each part."""
    columns = [
        math.log(weight)
        + float(np.log(np.diag(factor)).sum())
        - 0.5 * np.square((records - mean) @ factor).sum(axis=1)
        - 0.5 * len(mean) * math.log(2 * math.pi)
        for weight, mean, factor in zip(weights, means, factors, strict=True)
    ]
    return np.stack(columns, axis=1)


def responsibilities(records: Array, weights: Array, means: Array, factors: Array) -> Array:
    """The share of each record in each part: they add up to one."""
    logs = log_densities(records, weights, means, factors)
    shares = np.exp(logs - logs.max(axis=1, keepdims=True))
    return np.asarray(shares / shares.sum(axis=1, keepdims=True))


def _check(weights: Array, means: Array, factors: Array, radii: Array, n: int) -> None:
    parts = weights.size
    shaped = (
        parts > 0
        and weights.shape == radii.shape == (parts,)
        and means.shape == (parts, n)
        and factors.shape == (parts, n, n)
    )
    if shaped:
        diagonal = np.concatenate([np.diag(factor) for factor in factors])
        positive = np.concatenate([weights, radii, diagonal])
        inside = np.abs(means).max() <= 1 and np.abs(factors).max() <= MOST
        if inside and positive.min() >= LEAST and positive.max() <= MOST:
            return
    raise ParameterError(
        "mixture moments",
        f"weights, means, factors and radii of shapes {weights.shape}, {means.shape}, {factors.shape} and "
        f"{radii.shape} are not those of a mixture of {n} columns",
        f"Give means from -1 to 1, and weights, radii and diagonals of factors from {LEAST:.2g} to {MOST:.2g}.",
    )
