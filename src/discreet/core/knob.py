"""Checks of public parameters, with errors that say what is allowed."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Integral, Real

from discreet.core.errors import ParameterError


def check_knob(asked: str, name: str, value: float, least: float = 2.0**-40, most: float = 2.0**40) -> None:
    """Refuse a multiplier or an epsilon that is not a number in a range where noise can be drawn."""
    if not (isinstance(value, Real) and math.isfinite(value) and least <= value <= most):
        raise ParameterError(
            asked, f"{name} is {value}", f"Give a number between {least:.3g} and {most:.3g}.", knob=name, value=value
        )


def check_whole(asked: str, name: str, value: float, least: int = 1, most: int | None = None) -> None:
    """Refuse what is not a whole number in this range; 3.0 is one.

    Examples
    --------
    >>> check_whole("histogram", "bins", 10.0)
    >>> check_whole("histogram", "bins", 2.5)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: histogram: bins is 2.5. ... Give a whole number, at least 1.
    """
    whole = isinstance(value, Integral) or (isinstance(value, Real) and float(value).is_integer())
    if not whole or value < least or (most is not None and value > most):
        span = f", at least {least}" if most is None else f" from {least} to {most}"
        raise ParameterError(asked, f"{name} is {value}", f"Give a whole number{span}.", knob=name, value=value)


def check_seed(asked: str, value: object) -> None:
    """Refuse what cannot seed public choices, before anything is charged; none is fine.

    Examples
    --------
    >>> check_seed("trees", 7)
    >>> check_seed("trees", -1)  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: trees: random_state is -1. ... Give a whole number from 0 to 4294967295.
    """
    if value is not None and not (isinstance(value, Integral) and 0 <= int(value) < 2**32):
        remedy = "Give a whole number from 0 to 4294967295."
        raise ParameterError(asked, f"random_state is {value}", remedy, knob="random_state", value=value)


def check_size(asked: str, numbers: int, most: int) -> None:
    """Refuse an answer of no numbers, or of more than this: whoever asks has a say in how much memory it takes."""
    if not 1 <= numbers <= most:
        raise ParameterError(asked, f"it would be {numbers} numbers", f"Ask for 1 to {most}.", size=numbers, most=most)


def check_one_of(asked: str, name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse what is not one of these."""
    if value not in choices:
        listed = " or ".join(map(str, choices))
        raise ParameterError(asked, f"{name} is {value}", f"Give {listed}.", knob=name, value=value)
