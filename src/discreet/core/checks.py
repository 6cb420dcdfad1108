"""Checks of public parameters, with errors that say what is allowed."""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Mapping, Sequence
from datetime import date, timedelta
from enum import Enum
from numbers import Integral, Number, Real
from typing import TypeGuard

from discreet.core.errors import ParameterError

EXACT = 2**53  # whole numbers up to here are floats
LISTED = 12  # names that an error lists


def is_number(value: object) -> TypeGuard[float]:
    """Whether it is a real number that 64 bits can hold; a truth value is none.

    Examples
    --------
    >>> is_number(3), is_number(math.nan), is_number(True), is_number(10**400), is_number("3")
    (True, True, False, False, False)
    """
    try:
        return isinstance(value, Real) and not isinstance(value, bool) and isinstance(float(value), float)
    except OverflowError:
        return False


def is_single(value: object) -> bool:
    """Whether it is one text, number, date or class, and no container, in which records could be.

    Examples
    --------
    >>> is_single(3), is_single("a"), is_single(None), is_single([3]), is_single({"age": 31})
    (True, True, True, False, False)
    """
    scalar = type(value).__module__ == "numpy" and not hasattr(value, "__len__")
    return value is None or scalar or isinstance(value, str | bytes | Number | date | timedelta | Enum | type)


def shown(value: object) -> str:
    """A value in an error: some of its letters; of what may hold records, or cannot be written, its kind alone.

    Examples
    --------
    >>> shown(3.5), shown({"age": [31, 40]})
    ('3.5', 'a dict')
    """
    try:
        return f"{value}"[:80] if is_single(value) else f"a {type(value).__name__}"
    except Exception:
        return f"a {type(value).__name__}"


def quoted(value: object) -> str:
    """The same, with a text in quotes."""
    return repr(value[:80]) if isinstance(value, str) else shown(value)


def check_text(asked: str, name: str, value: object) -> None:
    """Refuse what is neither a text nor nothing.

    Examples
    --------
    >>> check_text("table", "key", "monday")
    >>> check_text("table", "key", [1])
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: table: key is a list. Nothing was released or spent. Give a text.
    """
    if not (value is None or isinstance(value, str)):
        raise ParameterError(asked, f"{name} is {shown(value)}", "Give a text.", parameter=name)


def check_by_name(asked: str, name: str, value: object) -> None:
    """Refuse what is no mapping of texts to whatever is said of each.

    Examples
    --------
    >>> check_by_name("table", "bounds", {"age": (0, 120)})
    >>> check_by_name("table", "bounds", [0, 120])
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: table: bounds is a list. Nothing was released or spent. Give it by name: \
{"...": ...}.
    """
    if not isinstance(value, Mapping) or not all(isinstance(one, str) for one in value):
        raise ParameterError(asked, f"{name} is {quoted(value)}", 'Give it by name: {"...": ...}.', parameter=name)


def names_of(columns: str | Iterable[str]) -> tuple[str, ...]:
    """Names of columns; a single one may stand alone.

    Examples
    --------
    >>> names_of("age"), names_of(["age", "sex"])
    (('age',), ('age', 'sex'))
    """
    return (columns,) if isinstance(columns, str) else tuple(columns)


def check_positive(asked: str, name: str, value: float, least: float = 2.0**-40, most: float = 2.0**40) -> None:
    """Refuse a multiplier or an epsilon that is not a number in a range where noise can be drawn."""
    if not ((value.__class__ is float or is_number(value)) and least <= float(value) <= most and value < math.inf):
        raise ParameterError(
            asked,
            f"{name} is {shown(value)}",
            f"Give a number between {least:.3g} and {most:.3g}.",
            parameter=name,
            value=value,
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
    whole = (value.__class__ is int and -EXACT <= value <= EXACT) or (is_number(value) and float(value).is_integer())
    if not whole or value < least or (most is not None and value > most):
        span = f", at least {least}" if most is None else f" from {least} to {most}"
        raise ParameterError(
            asked, f"{name} is {shown(value)}", f"Give a whole number{span}.", parameter=name, value=value
        )


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
    whole = isinstance(value, Integral) and not isinstance(value, bool)
    if value is not None and not (whole and 0 <= int(value) < 2**32):  # type: ignore[call-overload]
        remedy = "Give a whole number from 0 to 4294967295."
        raise ParameterError(asked, f"random_state is {shown(value)}", remedy, parameter="random_state", value=value)


def check_size(asked: str, numbers: int, most: int) -> None:
    """Refuse an answer of no numbers, or of more than this: whoever asks has a say in how much memory it takes."""
    if not 1 <= numbers <= most:
        raise ParameterError(asked, f"it would be {numbers} numbers", f"Ask for 1 to {most}.", size=numbers, most=most)


def check_one_of(asked: str, name: str, value: object, choices: Sequence[object]) -> None:
    """Refuse what is not one of these, and name the one that is spelled most nearly alike.

    Examples
    --------
    >>> check_one_of("table", "method", "latice", ("mondrian", "lattice"))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: table: method is latice. ... Did you mean 'lattice'? Give mondrian or lattice.
    """
    if not any(type(value) is type(one) and value == one for one in choices):
        texts = [one for one in choices if isinstance(one, str)]
        near = near_name(value[:80], texts) if isinstance(value, str) else None
        remedy = f"{'' if near is None else f'Did you mean {near!r}? '}Give {' or '.join(map(str, choices))}."
        raise ParameterError(asked, f"{name} is {shown(value)}", remedy, parameter=name, value=value)


def near_name(name: str, names: Iterable[str]) -> str | None:
    """The name that is spelled most nearly alike, whatever its case; None where none is.

    Examples
    --------
    >>> near_name("Aeg", ["age", "sex"]), near_name("height", ["age", "sex"])
    ('age', None)
    """
    spelled = {each.casefold(): each for each in reversed(list(names))}
    close = difflib.get_close_matches(name.casefold(), spelled, n=1)
    return spelled[close[0]] if close else None


def instead_of(name: str, names: Iterable[str]) -> str:
    """What a remedy says of a name that is none of these: the near one, or the first of them.

    Examples
    --------
    >>> instead_of("Age", ["age", "sex"]), instead_of("height", ["age", "sex"])
    ("Did you mean 'age'?", 'There are age, sex.')
    """
    there = list(names)
    near = near_name(name, there)
    if near is not None:
        return f"Did you mean {near!r}?"
    more = f" and {len(there) - LISTED} more" if len(there) > LISTED else ""
    return f"There are {', '.join(there[:LISTED])}{more}."
