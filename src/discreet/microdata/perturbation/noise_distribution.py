"""The distribution of a column before noise was added to it, from the values with noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from scipy.special import ndtr

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.parameters import checked
from discreet.mechanisms.microdata.unit_noise import REACH, NoiseLaw
from discreet.schema.schema import Number

NAME = "reconstructed distribution"
MOST_BINS, MOST_CELLS = 1000, 4096
CLOSE = 1e-7  # change of all probabilities together at which nothing more is gained


@dataclass(frozen=True)
class ReconstructedDistribution:
    """How the values of a column are distributed, as far as noise lets it be seen.

    Parameters
    ----------
    edges : array of shape (bins + 1,)
        The ends of the cells.
    probabilities : array of shape (bins,)
        The part of all values in each cell.
    iterations : int
        Of the algorithm.

    Examples
    --------
    >>> found = ReconstructedDistribution(np.array([0.0, 1.0, 2.0]), np.array([0.25, 0.75]), 1)
    >>> found.mean, round(found.variance, 3)
    (1.25, 0.271)
    """

    edges: Array = field(repr=False)
    probabilities: Array = field(repr=False)
    iterations: int

    @property
    def mean(self) -> float:
        return float(self.probabilities @ (self.edges[1:] + self.edges[:-1])) / 2

    @property
    def variance(self) -> float:
        """Of values that are uniform in their cells."""
        lower, upper = self.edges[:-1], self.edges[1:]
        squares = (lower**2 + lower * upper + upper**2) / 3
        return float(self.probabilities @ squares) - self.mean**2


@checked
def reconstruct_distribution(
    values: Array,
    column: Number,
    stddev: float,
    *,
    law: NoiseLaw = "gaussian",
    bins: int = 32,
    max_iter: int = 500,
) -> ReconstructedDistribution:
    """Find the distribution of values from the same values with noise: the distribution approach.

    The most likely probabilities of equally wide cells are found by expectation maximisation (Agrawal and Aggarwal
    2001; Agrawal and Srikant 2000 has the idea). It needs nothing but what was given away. Many narrow cells need many
    values, since noise hides what is finer than itself.

    Parameters
    ----------
    values : array
        With noise; missing ones are left out.
    column : Number
        The column as it was before: its bounds.
    stddev : float
        Of the noise.
    law : {"gaussian", "uniform"}
        Of the noise.
    bins : int
        How many cells there are, at most 1000.
    max_iter : int
        The most iterations.

    Returns
    -------
    ReconstructedDistribution
        The cells and their probabilities.

    Examples
    --------
    >>> rng = np.random.default_rng(1)
    >>> exact = rng.choice([15.0, 85.0], 20_000)
    >>> noisy = exact + rng.normal(0, 20.0, exact.size)
    >>> found = reconstruct_distribution(noisy, Number(0, 100), 20.0, bins=10)
    >>> round(float(noisy.var()), -2), round(found.variance, -2)
    (1600.0, 1200.0)
    """
    check_positive(NAME, "stddev", stddev, 2.0**-100, 2.0**200)
    check_whole(NAME, "bins", bins, most=MOST_BINS)
    check_whole(NAME, "max_iter", max_iter, most=10**6)
    seen = _there(values)
    half = 0.0 if column.step is None else column.step / 2
    edges = np.linspace(column.lower - half, column.upper + half, int(bins) + 1)
    cells = _cells(seen, edges, stddev, half)
    counts = np.histogram(seen, cells)[0]
    chances = noise_chances(cells, edges, stddev, law)
    return _most_likely(counts / counts.sum(), chances, edges, int(max_iter))


def _there(values: Array) -> Array:
    """The values that are not missing, all of them finite."""
    try:
        seen = np.asarray(values, dtype=np.float64).ravel()
    except (TypeError, ValueError, OverflowError):
        seen = np.empty(0)
    seen = seen[~np.isnan(seen)]
    if not seen.size or not np.isfinite(seen).all():
        raise ParameterError(NAME, "there are no values, or infinite ones", "Give the column as it was given away.")
    return seen


def noise_chances(cells: Array, edges: Array, stddev: float, law: NoiseLaw) -> Array:
    """The probability that a value from a cell between edges is seen in each cell: a row for each cell that is seen.

    A value is uniform in its cell. With G an antiderivative of the distribution function of the noise, the probability
    of ending between a and b is (G(b - l) - G(b - u) - G(a - l) + G(a - u)) / (u - l).
    """
    near = _antiderivative(cells[:, None] - edges[:-1], stddev, law)
    far = _antiderivative(cells[:, None] - edges[1:], stddev, law)
    chances: Array = np.diff(near - far, axis=0) / np.diff(edges)
    return np.maximum(chances, 0.0)


def _antiderivative(at: Array, stddev: float, law: NoiseLaw) -> Array:
    """Of the distribution function of the noise."""
    share = at / stddev
    if law == "gaussian":
        return stddev * (share * ndtr(share) + np.exp(-(share**2) / 2) / math.sqrt(2 * math.pi))
    inside = np.clip(share, -REACH[law], REACH[law])
    return stddev * ((inside + REACH[law]) ** 2 / (4 * REACH[law]) + np.maximum(share - REACH[law], 0.0))


def _cells(seen: Array, edges: Array, stddev: float, half: float) -> Array:
    """Cells of what is seen: half a deviation or a cell wide, and around the values where there are steps."""
    low, high = min(seen.min() - half, edges[0]), max(seen.max() + half, edges[-1])
    width = min(edges[1] - edges[0], stddev) / 2
    count = int(np.clip(math.ceil((high - low) / width), 1, MOST_CELLS))
    if half > 0:
        steps = (high - low) / (2 * half)
        count = max(1, round(steps / math.ceil(steps / count)))
    return np.linspace(low, high, count + 1)


def _most_likely(shares: Array, chances: Array, edges: Array, max_iter: int) -> ReconstructedDistribution:
    """Expectation maximisation from equal probabilities."""
    found = np.full(len(edges) - 1, 1.0 / (len(edges) - 1))
    used = shares > 0
    shares, chances = shares[used], np.maximum(chances[used], 1e-300)
    iteration, moved = 0, math.inf
    while moved >= CLOSE and iteration < max_iter:
        after = found * (chances.T @ (shares / (chances @ found)))
        after /= after.sum()
        moved, found, iteration = float(np.abs(after - found).sum()), after, iteration + 1
    return ReconstructedDistribution(edges, found, iteration)
