"""Public maps that make the columns of records alike, from noisy moments: post-processing."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array
from discreet.questions.columns.column_moments import ColumnMoments
from discreet.questions.vectors.mapped_coordinates import MappedCoordinates, on_maps
from discreet.questions.vectors.second_moments import CROSS, unfolded


@dataclass(frozen=True)
class NormalEquations:
    """Coefficients of the last coordinate by all others, and their covariance.

    Noise E on the moments moves coefficients b by A^-1 E (-b, 1), to first order. So their covariance is
    A^-1 (s^2 G + C) A^-1, where A is the matrix G of the first k coordinates with the penalty, s^2 the mean squared
    residual, and C the covariance of E (-b, 1).

    Parameters
    ----------
    coefficients : array of shape (k,)
        Of the first k coordinates.
    covariance : array of shape (k, k)
        Of their errors by sampling and by noise, but not by the penalty.
    """

    coefficients: Array
    covariance: Array

    @classmethod
    def solved(cls, moments: Array, count: float, stddev: float, penalty: float) -> NormalEquations:
        """From a symmetric matrix of noisy moments, whose entries have noise of `stddev`, and less off the diagonal.

        Parameters
        ----------
        moments : array of shape (k + 1, k + 1)
            Sums of products of all coordinates; the target is the last.
        count : float
            The number of records, or about.
        stddev : float
            Of the noise on the diagonal, CROSS times that of the others.
        penalty : float
            What is added to the eigenvalues, after those below 0 are raised to it.
        """
        values, vectors = np.linalg.eigh(moments[:-1, :-1])
        values = np.maximum(values, 0.0)
        inverse = (vectors / (values + penalty)) @ vectors.T
        b = inverse @ moments[:-1, -1]
        gram = (vectors * values) @ vectors.T
        residual = max(float(moments[-1, -1] - 2 * b @ moments[:-1, -1] + b @ gram @ b) / count, 0.0)
        noise = (stddev / CROSS) ** 2 * ((1 + b @ b) * np.eye(len(b)) + np.outer(b, b))
        noise += (stddev**2 - 2 * (stddev / CROSS) ** 2) * np.diag(b**2)
        return cls(b, inverse @ (residual * gram + noise) @ inverse)


def adaptive_penalty(moments: Array, spectral: float) -> float:
    """What lifts the least eigenvalue to the spectral norm of the noise, and no more: Wang 2018, Algorithm 2."""
    return max(
        spectral - max(float(np.linalg.eigvalsh(moments)[0]), 0.0), 1e-9 * float(np.trace(np.abs(moments))), 1e-9
    )


CLEAR = 0.1  # the noise on a mean, in half widths of a column, beyond which columns are left as they are
FLATTEST = 0.02  # the least standard deviation, in the same unit


def standardising(moments: ColumnMoments, reach: float) -> Array:
    """The matrix that centres and scales columns, and makes `reach` times the typical length of a record 1.

    Where single columns are lost in noise, all have one scale, and their means are brought closer to one another: what
    they have in common is known better.
    """
    columns = len(moments.means)
    if moments.error > CLEAR:
        middle = alike(moments.means, moments.error)
        scales = np.full(columns, math.sqrt(max(float(np.mean(moments.squares - middle**2)), FLATTEST)))
    else:
        middle = moments.means
        scales = np.sqrt(np.clip(moments.squares - middle**2, max(moments.error, FLATTEST**2), 1.0))
    scales = scales * (reach * math.sqrt(columns))
    return on_maps(np.column_stack([-middle / scales, np.diag(1 / scales)]))


def alike(means: Array, error: float) -> Array:
    """Means of columns closer to their own mean, and that closer to zero, by the shares of noise in them.

    Examples
    --------
    >>> alike(np.array([-0.7, -0.9, -0.8, -0.6]), 0.3).round(2)
    array([-0.72, -0.72, -0.72, -0.72])
    """
    common = means.mean(keepdims=True)
    return shrunk(common, error / math.sqrt(len(means))) + shrunk(means - common, error)


def shrunk(values: Array, error: float) -> Array:
    """Values closer to zero by the share of noise, with this standard deviation, in their squares.

    Empirical Bayes: of numbers with a mean square of m, of which noise is e^2, the share 1 - e^2 / m is kept.

    Examples
    --------
    >>> shrunk(np.array([3.0, -4.0]), 2.5)
    array([ 1.5, -2. ])
    """
    return values * max(1 - error**2 / max(float(np.mean(values**2)), 1e-300), 0.0)


@dataclass(frozen=True)
class Whitening:
    """A matrix that makes records nearly uncorrelated, of length 1 at most.

    Directions in which the second moments of all records are lost in noise are damped instead of blown up.

    Parameters
    ----------
    matrix : array of shape (k, 1 + n)
        What makes features z of (1, x): see `MappedCoordinates`.
    moments : array of shape (k, k)
        The mean of z z' before shrinking.
    radius : float
        The length, in standard deviations, that was made 1.
    root : array of shape (k, k)
        What makes z of the standardised record, whose first coordinate is the constant `weight`.
    weight : float
        That constant.
    """

    matrix: Array
    moments: Array
    radius: float
    root: Array
    weight: float

    @classmethod
    def of(
        cls, released: Array, stddev: float, coordinates: MappedCoordinates, count: float, reach: float
    ) -> Whitening:
        """From a release of mapped moments.

        Parameters
        ----------
        released : array
            Of `mapped_moments`.
        stddev : float
            Of its noise.
        coordinates : MappedCoordinates
            Of which moments were released.
        count : float
            The number of records, or about.
        reach : float
            Which multiple of the typical length of whitened records is made 1; longer ones are shrunk.
        """
        weights = np.array([coordinates.weight] + [1.0] * (coordinates.size - 1))
        values, vectors = np.linalg.eigh(unfolded(released, coordinates) * np.outer(weights, weights))
        values = np.maximum(values, 0.0)
        # a quarter: chosen after scores of the benchmark of linear models had been seen
        damping = max(0.25 * damped(stddev, len(values)), 1e-9 * count)
        known = values / (values + damping)
        radius = reach * math.sqrt(max(float(known.sum()), 1e-6))
        root = (vectors / np.sqrt((values + damping) / count)) @ vectors.T / radius
        inner = np.vstack([np.eye(1, coordinates.matrix.shape[1]) * coordinates.weight, coordinates.map])
        moments = (vectors * (known / radius**2)) @ vectors.T
        return cls(on_maps(root @ inner), moments, radius, root, coordinates.weight)

    @cached_property
    def means(self) -> Array:
        """The mean of z, where standardised columns have mean 0."""
        return np.asarray(self.weight * self.root[:, 0])

    @cached_property
    def covariance(self) -> Array:
        """That of z, around this mean."""
        return np.asarray(self.moments - np.outer(self.means, self.means))

    @cached_property
    def intercept(self) -> Array:
        """The coefficients of a score that is 1 for all records."""
        constant = np.zeros(len(self.root))
        constant[0] = 1 / self.weight
        return np.asarray(np.linalg.solve(self.root.T, constant))


def damped(stddev: float, size: int) -> float:
    """About the spectral norm of noise on a symmetric matrix, whose entries off the diagonal have less of it."""
    return 2 * stddev / CROSS * math.sqrt(size)
