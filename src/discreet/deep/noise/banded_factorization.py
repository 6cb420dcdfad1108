"""The factor of correlated noise: noise of later steps takes back part of that of earlier ones."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError

ASKED = "correlate the noise of steps"
Array = NDArray[np.float64]
MOST = 256


@dataclass(frozen=True)
class BandedFactorization:
    """A lower triangular Toeplitz matrix C with few bands: step t gets the noise sum over k of (C^-1)[t, k] z[k].

    What is released is C g + z, with g the sums of the steps and z independent noise, which anybody can multiply by
    C^-1. A record is in steps that are at least `count` apart, so that the columns of C that it touches do not overlap:
    it moves C g in each as if that were the only one, by the length of a column, at most 1.

    Parameters
    ----------
    coefficients : tuple of float
        Public. The first column of C, from the diagonal on: of length at most 1, the first one positive.

    Guarantee
    ---------
    With records dealt to `count` groups by secret coins, and step t on a Poisson sample of group t modulo `count`, so
    many steps cost as ceil(steps / count) steps with independent noise on samples of that rate (Choquette-Choo et al.
    2023, "(Amplified) Banded Matrix Factorization"; proof in `bands.md`).

    Examples
    --------
    >>> bands = BandedFactorization.of(4, steps=100)
    >>> [round(one, 2) for one in bands.coefficients]
    [0.68, 0.48, 0.41, 0.36]
    >>> round(bands.error(100) / BandedFactorization.of(1, steps=100).error(100), 2)
    0.55
    """

    coefficients: tuple[float, ...]

    def __post_init__(self) -> None:
        found = np.array(self.coefficients)
        check_whole(ASKED, "number of bands", len(found), most=MOST)
        if not (np.isfinite(found).all() and found[0] > 0 and float(found @ found) <= 1):
            obstacle = f"a column of length {float(found @ found) ** 0.5:.6g} that starts with {found[0]:.6g}"
            raise ParameterError(ASKED, obstacle, "Give one of length at most 1 with a positive start.")

    @property
    def count(self) -> int:
        """How many bands there are."""
        return len(self.coefficients)

    @classmethod
    def of(cls, count: int, steps: int, momentum: float = 0.0) -> BandedFactorization:
        """The bands with the least error of the weights, on average over steps of a constant rate.

        Parameters
        ----------
        count : int
            Public. How many bands; 1 is independent noise.
        steps : int
            Public. For how many steps.
        momentum : float
            Public. That of the optimizer, in [0, 1).
        """
        check_whole(ASKED, "number of bands", count, most=MOST)
        check_whole(ASKED, "steps", steps)
        check_positive(ASKED, "momentum", momentum, least=0.0, most=1 - 2.0**-20)
        return cls(_best(int(count), int(steps), float(momentum)))

    def error(self, steps: int, momentum: float = 0.0) -> float:
        """The root mean square, over steps, of the noise in the weights, for noise and learning rate of one."""
        squares = _errors(np.array(self.coefficients), steps, momentum)
        return float(np.sqrt((np.arange(steps, 0, -1) @ squares**2) / steps))


def _errors(column: Array, steps: int, momentum: float) -> Array:
    """The first column of A C^-1, A being what an optimizer with momentum adds up: Toeplitz matrices are series."""
    from scipy.signal import lfilter  # loading it takes a second, and few plans need it

    start = np.zeros(steps)
    start[0] = 1.0
    found: Array = lfilter([1.0], np.convolve(column, np.convolve([1.0, -1.0], [1.0, -momentum])), start)
    return found


@lru_cache(maxsize=64)
def _best(count: int, steps: int, momentum: float) -> tuple[float, ...]:
    """Minimise |c|^2 times the sum over t of (steps - t) m[t]^2, m = A C^-1: by its logarithm, and gradients.

    The derivative of m by c[k] is minus the series m / C, k places later.
    """
    from scipy.optimize import minimize
    from scipy.signal import lfilter

    weights = np.arange(steps, 0, -1, dtype=np.float64)

    def value(column: Array) -> tuple[float, Array]:
        errors = _errors(column, steps, momentum)
        later = lfilter([1.0], column, errors)
        total, pulled = float(weights @ errors**2), weights * errors
        slopes = np.array([-2 * float(pulled[k:] @ later[: steps - k]) if k < steps else 0.0 for k in range(count)])
        square = float(column @ column)
        return np.log(total) + np.log(square), slopes / total + 2 * column / square

    k = np.arange(1, count)
    start = np.concatenate([[1.0], np.cumprod((2 * k - 1) / (2 * k))])  # of (1 - x)^(-1/2), the best without a limit
    bounds = [(0.05, None)] + [(None, None)] * (count - 1)
    found = minimize(value, start, jac=True, method="L-BFGS-B", bounds=bounds, options={"maxiter": 300}).x
    return tuple(float(one) for one in found / np.linalg.norm(found) * (1 - 2.0**-40))
