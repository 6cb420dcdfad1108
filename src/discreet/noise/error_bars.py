"""Floats with error bars, for fast paths that fall back to multi-precision where float64 cannot decide."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from functools import cache
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import DiscreetError
from discreet.core.grid import Array
from discreet.noise.interval import Interval, pi

ULPS = 4
POINTS = 120
Function = Literal["exp", "log", "cos", "sin"]


@cache
def assure(function: Function, points: int = POINTS) -> None:
    """Refuse to go on unless numpy's function is as accurate as the error bounds need.

    Examples
    --------
    >>> assure("exp")
    """
    arguments = _arguments(function, points)
    values: Array = getattr(np, function)(arguments)
    units = np.spacing(np.abs(values)) if function in ("exp", "log") else np.full_like(values, 2.0**-53)
    with localcontext(Context(prec=30)):
        worst = max(
            abs(Decimal(value) - _exact(function, Decimal(argument))) / Decimal(unit)
            for argument, value, unit in zip(arguments.tolist(), values.tolist(), units.tolist(), strict=True)
        )
    if worst > ULPS:
        obstacle = f"numpy's {function} is off by {worst:.1f} units in the last place; exact noise allows {ULPS}"
        raise DiscreetError("noise", obstacle, "Use another build of numpy, or another machine.", worst=worst)


def _arguments(function: Function, points: int) -> Array:
    """Where the fast paths call the function, spread by the golden ratio; for log both ends of (0, 1) closely."""
    spread: Array = (np.arange(1, points + 1, dtype=np.float64) * 0.6180339887498949) % 1.0
    match function:
        case "exp":
            return -50.0 * spread**2
        case "log":
            return np.concatenate([spread, np.exp2(-64 * spread), 1 - np.exp2(-1 - 50 * spread)])
        case _:
            return 2 * np.pi * spread


def _exact(function: Function, argument: Decimal) -> Decimal:
    match function:
        case "exp":
            return argument.exp()
        case "log":
            return argument.ln()
        case "cos":
            return _cosine(argument)
        case "sin":
            return _cosine(argument - pi(30) / 2)


def _cosine(angle: Decimal) -> Decimal:
    turns = angle / (2 * pi(30))
    return Interval(turns, turns).cosine().lo


assure("log")


@dataclass(frozen=True)
class ErrorBars:
    """Values in float64, each off by at most its error; nan and inf errors mean that nothing is known."""

    value: Array
    error: Array


def exponentials(words: NDArray[np.uint64]) -> ErrorBars:
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
        return ErrorBars(value, 2.0**-52 + 2.0**-49 * value + 2 / leading)
