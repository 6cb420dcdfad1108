"""Kernels that smooth masses at knots into a curve, and how wide they had best be: post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import reduce

import numpy as np

from discreet.core.grid import Array
from discreet.questions.columns.knots import Knots, cosines

GAUSSIAN, FLAT = 2, 4
CANDIDATES = 40  # bandwidths that are tried in each column
NARROWEST, WIDEST = 0.4, 0.6  # of them, in cells and in widths of the box
CAUTION = 1.5  # what noise counts in the choice: the risk is itself noisy, and too little smoothing costs most


def multipliers(bandwidths: Array, frequencies: int, order: int) -> Array:
    """What kernels of these bandwidths leave of each cosine, one kernel in each row.

    The Fourier transform of a kernel is exp(-(bandwidth frequency)^order / 2). Of order 2 it is the Gaussian density.
    Of order 4 it is flat for low frequencies, which biases a smooth density less; it is a little negative far out.
    """
    return np.exp(-0.5 * (math.pi * np.outer(bandwidths, np.arange(frequencies))) ** order)


@dataclass(frozen=True)
class Smoother:
    """How the masses at the knots of a column are read at any place, scaled to [0, 1]. All of it public.

    Parameters
    ----------
    knots : Knots
        Where the masses are.
    bandwidth : float
        Of the kernel, if the box is from 0 to 1.
    order : int
        Of the kernel; see `multipliers`.
    looks : int
        The number of places at which the curve is evaluated, to draw it or to find its extremes.

    Examples
    --------
    >>> one_record = np.eye(40)[19]  # close to the middle
    >>> smoother = Smoother(Knots.spline(40, 0), 0.05, GAUSSIAN, 100)
    >>> (smoother.weights(np.array([0.4, 0.4875, 0.6])) @ one_record).round(2)  # 0.4 / 0.05 at the top
    array([1.69, 8.06, 0.61])
    """

    knots: Knots
    bandwidth: float
    order: int
    looks: int

    stepped = False

    @property
    def size(self) -> int:
        """The number of masses."""
        return self.knots.size

    @property
    def places(self) -> Array:
        """Where the curve is looked at: the middles of equal cells."""
        return (np.arange(self.looks) + 0.5) / self.looks

    def weights(self, places: Array) -> Array:
        """What each mass counts at each place: one row for each place.

        The kernel is mirrored at the bounds, so that it stays inside and has no bias there but that of a slope.
        """
        waves = self.knots.waves
        kernel = multipliers(np.array([self.bandwidth]), len(waves), self.order)[0]
        return np.asarray((cosines(len(waves), places).T * kernel) @ waves)


def across(masses: Array, matrices: Sequence[Array]) -> Array:
    """Masses, multiplied by a matrix along each of their last axes."""
    first = masses.ndim - len(matrices)
    for matrix in matrices:
        masses = np.tensordot(masses, matrix, axes=(first, 1))
    return masses


def best_bandwidths(masses: Array, knots: Sequence[Knots], stddev: float, count: float, order: int) -> Array:
    """The bandwidth in each column that minimises an estimate of the squared error from the noisy masses alone.

    Parameters
    ----------
    masses : array
        The noisy masses, one axis for each column.
    knots : sequence of Knots
        Public. Of each column; splines.
    stddev : float
        Public. Of the noise on each mass.
    count : float
        About how many records there are.
    order : int
        Public. Of the kernel.
    """
    tried = [np.geomspace(NARROWEST / one.size, WIDEST, CANDIDATES) for one in knots]
    kernels = [multipliers(widths, one.size, order) for widths, one in zip(tried, knots, strict=True)]
    found = risks(masses, knots, stddev, count, kernels)
    best = np.unravel_index(int(found.argmin()), found.shape)
    return np.array([widths[place] for widths, place in zip(tried, best, strict=True)])


def risks(
    masses: Array,
    knots: Sequence[Knots],
    stddev: float,
    count: float,
    kernels: Sequence[Array],
    caution: float = CAUTION,
) -> Array:
    """The integrated squared error that kernels leave, except for a constant: for each combination of kernels.

    With c_k the coefficients of the noisy density and v_k their variances, of noise and of sampling, a kernel with
    multipliers s_k is off the population's density by sum_k s_k^2 v_k + (1 - s_k)^2 (c_k^2 - v_k), estimated without
    bias (Stein 1981, for linear estimates; Rudemo 1982, for densities). The variance of a coefficient due to a sample
    of n is near 1 / n. Nothing but what was released is looked at.

    Parameters
    ----------
    masses, knots, stddev, count
        See `best_bandwidths`.
    kernels : sequence of arrays
        Public. For each column, the multipliers of some kernels, one in each row.
    caution : float
        Public. How often the first sum counts.
    """
    coefficients = across(masses, [one.waves for one in knots]) / count
    response = reduce(np.multiply.outer, [one.response for one in knots])
    variances = np.square(stddev / count / response) * masses.size + 1 / count
    variances[(0,) * masses.ndim] = 0.0
    squares = np.square(coefficients) - variances
    kept = across(caution * variances + squares, [np.square(kernel) for kernel in kernels])
    return kept - 2 * across(squares, kernels)
