"""Unit vectors of the Bingham law: directions in which a quadratic form is large."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.noise.bernoulli import bernoulli
from discreet.noise.gaussian import rounded_gaussian
from discreet.noise.request import checked_shape

STEPS = 2.0**40  # of a standard deviation of the Gaussian numbers that a direction is made of
COMPANY = 256  # directions are proposed at least: one of them is nearly always kept, whatever the form


def bingham(bits: Bits, count: int, form: Array) -> Array:
    """Draw unit vectors y with density in proportion to exp(y'By) on the sphere.

    Rejection, after Kent, Ganeiber and Mardia 2018. With L = l_max I - B, a proposal is a Gaussian vector of covariance
    inverse to I + 2 L / b, divided by its length: its density is in proportion to (1 + 2 s / b)^(-p/2), s = y'Ly.
    It is kept with probability exp(-s) (1 + 2 s / b)^(p/2) exp((p - b) / 2) (b / p)^(p/2). That is at most 1 for every
    b from 0 to p, with equality at s = (p - b) / 2: so b decides only how many are kept, and the one where the
    1 / (b + 2 l_i) of all eigenvalues l_i of L add up to 1 makes them many.

    Gaussian numbers are exact on a grid of 2**-40 deviations, and so are the coins. Eigenvalues, eigenvectors,
    lengths and probabilities are those of float64: a density is off by a relative error of about 2**-45 times the
    greatest exponent s that is kept, and vectors closer together than 2**-40 are not told apart.

    Parameters
    ----------
    count : int
        Public. How many vectors.
    form : array of shape (p, p)
        B, symmetric.

    Returns
    -------
    array of shape (count, p)

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> np.abs(bingham(DeterministicBits(1), 3, np.diag([5000.0, 0.0]))).round(1)
    array([[1., 0.],
           [1., 0.],
           [1., 0.]])
    """
    if form.ndim != 2 or form.shape[0] != form.shape[1] or not form.size or not np.isfinite(form).all():
        raise ParameterError("Bingham law", f"a form of shape {form.shape} is none", "Give a finite, square matrix.")
    (count,), p = checked_shape("Bingham law", count), len(form)
    values, vectors = np.linalg.eigh(form)
    gaps = values[-1] - values
    b = envelope(gaps)
    widths = 1 / np.sqrt(1 + 2 * gaps / b)
    out, filled = np.empty((count, p)), 0
    while filled < count:
        tried = max(2 * (count - filled), COMPANY)
        draws = rounded_gaussian(bits, (tried, p), STEPS) * widths
        draws /= np.maximum(np.sqrt(np.square(draws).sum(axis=1, keepdims=True)), np.finfo(float).tiny)
        s = np.square(draws) @ gaps
        logs = 0.5 * (p - b) - s + 0.5 * p * np.log((b + 2 * s) / p)
        kept = draws[bernoulli(bits, tried, np.exp(np.minimum(logs, 0.0)))][: count - filled]
        out[filled : filled + len(kept)] = kept @ vectors.T
        filled += len(kept)
    return out


def envelope(gaps: Array) -> float:
    """The b for which the sum of 1 / (b + 2 gap) is 1; from 1 to the number of gaps, one of which is 0.

    Examples
    --------
    >>> round(envelope(np.zeros(3)), 6)
    3.0
    """
    low, high = 1.0, float(len(gaps))
    for _ in range(60):
        middle = 0.5 * (low + high)
        if float((1 / (middle + 2 * gaps)).sum()) > 1:
            low = middle
        else:
            high = middle
    return high
