"""The kinds of parameters that a recipe takes, by its annotations; values of other kinds are refused."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Callable, Mapping
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import numpy as np
from numpy.typing import NDArray

from discreet.core.errors import ParameterError

Reading = Callable[[Any], Any]
"""A value in, the same value as its kind out; `TypeError` if it is of another."""


def readings_of(build: Callable[..., Any]) -> dict[str, Reading]:
    """How to read each parameter of a recipe after the schema; an annotation of no known kind is an error."""
    _, *names = inspect.signature(build).parameters
    hints = get_type_hints(build)
    return {name: _reading(hints.get(name)) for name in names}


def fitted(asked: str, readings: Mapping[str, Reading], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters as their kinds; a number of the wrong kind, or one that is not finite, is refused."""
    found = {}
    for name, value in parameters.items():
        try:
            found[name] = readings[name](value)
        except TypeError as why:
            raise ParameterError(
                asked, f"{name} is not {why}", "Give what its signature says.", parameter=name
            ) from why
    return found


def _reading(kind: Any) -> Reading:
    """How values of a kind are read.

    Examples
    --------
    >>> _reading(tuple[int, ...])([1, 2.0])
    (1, 2)
    >>> _reading(tuple[int, ...])([1, True])
    Traceback (most recent call last):
    TypeError: a whole number
    """
    origin, inner = get_origin(kind), get_args(kind)
    if kind in _SINGLE:
        return _SINGLE[kind]
    if origin in (np.ndarray, NDArray):  # the second since numpy 2.5
        return _array
    if origin is Literal:
        return lambda value: _one_of(value, inner)
    if origin is tuple and inner[1:] == (...,):
        each = _reading(inner[0])
        return lambda value: _tuple(value, each)
    if origin in (Union, UnionType):
        readings = [_reading(one) for one in inner]
        return lambda value: _first(value, readings)
    raise TypeError(f"a recipe's parameter cannot be of the kind {kind!r}")


def _whole(value: Any) -> int:
    whole = isinstance(value, int) or (isinstance(value, float) and value.is_integer())
    if isinstance(value, bool) or not whole:
        raise TypeError("a whole number")
    return int(value)


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) <= sys.float_info.max:
        raise TypeError("a finite number")
    return float(value)


def _flag(value: Any) -> bool:
    if not isinstance(value, bool):
        raise TypeError("true or false")
    return value


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise TypeError("a text")
    return value


def _nothing(value: Any) -> None:
    if value is not None:
        raise TypeError("nothing")


STRINGS = frozenset({str})
_SINGLE: dict[Any, Reading] = {int: _whole, float: _number, bool: _flag, str: _text, NoneType: _nothing}


def _array(value: Any) -> np.ndarray:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fiu" or not np.isfinite(value).all():
        raise TypeError("an array of finite numbers")
    return value.astype(np.float64, copy=False)


def _one_of(value: Any, choices: tuple[Any, ...]) -> Any:
    if not isinstance(value, str) or value not in choices:
        raise TypeError(f"one of {', '.join(choices)}")
    return value


def _tuple(value: Any, each: Reading) -> tuple[Any, ...]:
    if not isinstance(value, list | tuple):
        raise TypeError("a list")
    if each is _text and STRINGS.issuperset(map(type, value)):
        return tuple(value)
    return tuple([each(one) for one in value])


def _first(value: Any, readings: list[Reading]) -> Any:
    said = []
    for reading in readings:
        try:
            return reading(value)
        except TypeError as why:
            said.append(str(why))
    raise TypeError(" or ".join(said))
