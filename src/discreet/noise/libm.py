"""What the fast paths assume of the floating-point library, tested where it runs.

The written error bounds take exp and log to be right to `ULPS` units in the last place, cos and sin to `ULPS` times
2**-53, and + - * / sqrt to be rounded as IEEE 754 says. No standard promises the former, so each module that computes
with one of them tests it when it is imported: a few hundred points against decimal arithmetic, a few milliseconds for
each function. Where the test fails the import fails: noise of an unknown law is worse than none.
"""

from __future__ import annotations

from decimal import Context, Decimal, localcontext
from functools import cache
from typing import Literal

import numpy as np

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
