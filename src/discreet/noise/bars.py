"""Floats with error bars, for fast paths that fall back to multi-precision where float64 cannot decide."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array
from discreet.noise.libm import assure

assure("log")


@dataclass(frozen=True)
class Bars:
    """Values in float64, each off by at most its error; nan and inf errors mean that nothing is known."""

    value: Array
    error: Array


def exponentials(words: NDArray[np.uint64]) -> Bars:
    """The standard exponential reals -ln U, for U uniform in [0, 1) with these first 64 bits.

    U as a float is off by 2**-53 of itself, log by 4 units in the last place or 2**-50 of its value, and the bits
    that were not drawn yet, at most 1 in the last place of the word w, move ln U by at most 1 / w. The error bar is
    twice the sum.

    Examples
    --------
    >>> exponentials(np.array([2**63], dtype=np.uint64)).value
    array([0.69314718])
    """
    leading = words.astype(np.float64)
    with np.errstate(divide="ignore"):
        value = np.abs(np.log(leading * 2.0**-64))  # not -0.0 where U is rounded to 1
        return Bars(value, 2.0**-52 + 2.0**-49 * value + 2 / leading)
