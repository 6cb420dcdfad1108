"""Public parameters are what their annotations say, or refused by name, before anything is read or charged."""

from __future__ import annotations

import functools
import inspect
import sys
import types
import typing
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, ParamSpec, Self, TypeVar, Union

import numpy as np

from discreet.core.checks import is_number, is_single, quoted
from discreet.core.errors import ParameterError

Given = ParamSpec("Given")
Result = TypeVar("Result")
WORDS = {bool: "True or False", int: "a whole number", float: "a number", str: "a text", type(None): "nothing"}
SEVERAL = (list, tuple, Sequence)
SURELY: dict[type, type] = {bool: bool, float: float, str: str, types.NoneType: types.NoneType}


def checked(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function, which first refuses parameters that are not what their annotations say.

    Examples
    --------
    >>> @checked
    ... def halves(bins: int, *, key: str | None = None) -> float:
    ...     return bins / 2
    >>> halves(3)
    1.5
    >>> halves(True)
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: halves: bins is True. Nothing was released or spent. Give a whole number.
    """
    names, asked = tuple(inspect.signature(function).parameters), function.__name__.replace("_", " ")
    check, kinds = _check, _kinds  # no global names below: they are those of another module

    def called(*given: Given.args, **named: Given.kwargs) -> Result:
        check(asked, kinds(function), {**dict(zip(names, given)), **named})  # noqa: B905 - one too many is Python's to refuse
        return function(*given, **named)

    own: Any = function  # so that it belongs to the module that it is written in
    code: Any = called
    made = types.FunctionType(code.__code__, own.__globals__, own.__name__, None, code.__closure__)
    return functools.wraps(function)(made)


class CheckedParameters:
    """Refuses, before it is made, parameters that are not what the annotations of its constructor say.

    The base of mechanisms, reports and streams: what their own checks compare with a range is a number by then.

    Examples
    --------
    >>> @dataclass(frozen=True)
    ... class Halves(CheckedParameters):
    ...     bins: int = 2
    >>> Halves(3)
    Halves(bins=3)
    >>> Halves("3")
    Traceback (most recent call last):
    ...
    discreet.core.errors.ParameterError: Halves: bins is '3'. Nothing was released or spent. Give a whole number.
    """

    def __new__(cls, *given: Any, **named: Any) -> Self:
        """Check, and make it; what is copied was checked before."""
        check_constructor(cls, given, named)
        return super().__new__(cls)


def check_constructor(kind: Any, given: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Refuse what is not of the kind that the annotations of a constructor, or of the fields of a dataclass, say."""
    made = _constructor(kind)
    values = {**dict(zip(made.names, given)), **named}  # noqa: B905 - one too many is Python's to refuse
    _check(getattr(kind, "purpose", kind.__name__), made.kinds, values)


def check_parameters(asked: str, function: Callable[..., Any], values: Mapping[str, object]) -> None:
    """Refuse what is not of the kind that the annotations of a function say.

    Numbers are real, finite in 64 bits and no truth values; whole numbers may be written 3.0. What has another kind of
    annotation is left to whoever knows it.
    """
    _check(asked, _kinds(function), values)


def _check(asked: str, kinds: Mapping[str, _Kind], values: Mapping[str, object]) -> None:
    for name, value in values.items():
        if name in kinds and value.__class__ not in kinds[name].surely and not fits(value, kinds[name].kind):
            remedy = f"Give {in_words(kinds[name].kind)}."
            known: dict[str, Any] = {"value": value} if is_single(value) else {}
            raise ParameterError(asked, f"{name} is {quoted(value)}", remedy, parameter=name, **known)


def fits(value: Any, kind: Any) -> bool:
    """Whether a value is of the kind that an annotation says.

    Examples
    --------
    >>> fits(3.0, int), fits(True, int), fits((0, 1.5), tuple[float, float]), fits([1, None], Sequence[float])
    (True, False, True, False)
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return any(fits(value, one) for one in inner)
    if origin is Literal:
        return any(type(value) is type(one) and value == one for one in inner)
    if origin in SEVERAL and inner:
        return _all_fit(value, origin, inner)
    match kind:
        case None | types.NoneType:
            return value is None
        case builtin if builtin is bool:
            return isinstance(value, bool | np.bool_)
        case builtin if builtin is int:
            return is_number(value) and float(value).is_integer()
        case builtin if builtin is float:
            return is_number(value)
        case builtin if builtin is str:
            return isinstance(value, str)
        case protocol if getattr(protocol, "_is_protocol", False):
            return all(_has(value, name) for name in _members(protocol))
        case own if _own(own):
            return isinstance(value, own)
        case _:
            return True


def in_words(kind: Any) -> str:
    """What a parameter of a kind is.

    Examples
    --------
    >>> in_words(int | None), in_words(Literal["a", "b"]), in_words(tuple[float, float])
    ('a whole number or nothing', "'a' or 'b'", '2 values, each a number')
    """
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin in (Union, types.UnionType):
        return " or ".join(map(in_words, inner))
    if origin is Literal:
        return " or ".join(map(repr, inner))
    if origin in SEVERAL and inner:
        number = f"{len(inner)} values" if origin is tuple and Ellipsis not in inner else "several values"
        return f"{number}, each {in_words(inner[0])}"
    made = f" that {kind.made_by} makes" if _own(kind) and hasattr(kind, "made_by") else ""
    return WORDS.get(types.NoneType if kind is None else kind, f"a {getattr(kind, '__name__', kind)}{made}")


def _own(kind: Any) -> bool:
    """Whether it is a class of this library, which nothing else takes the place of."""
    return isinstance(kind, type) and kind.__module__.partition(".")[0] == __name__.partition(".")[0]


def _members(protocol: Any) -> set[str]:
    """The names that a protocol asks for."""
    bases = [one for one in protocol.__mro__ if getattr(one, "_is_protocol", False)]
    names = {name for one in bases for name in (*vars(one), *vars(one).get("__annotations__", ()))}
    return {name for name in names if not name.startswith("_")}


def _has(value: Any, name: str) -> bool:
    """Whether it has an attribute of this name, without asking it for that."""
    nothing = object()
    return inspect.getattr_static(value, name, nothing) is not nothing


def _all_fit(value: Any, origin: Any, inner: tuple[Any, ...]) -> bool:
    if isinstance(value, str):
        return origin is not tuple and inner == (str,)  # a single name, which is read as one
    if isinstance(value, bytes | Mapping) or not isinstance(value, Iterable) or not hasattr(value, "__len__"):
        return False
    if isinstance(value, np.ndarray) and value.ndim == 0:
        return False
    each = list(value)
    if origin is tuple and Ellipsis not in inner:
        return len(each) == len(inner) and all(map(fits, each, inner))
    return all(fits(one, inner[0]) for one in each)


@dataclass(frozen=True)
class _Kind:
    """An annotation, and the classes of which every value fits."""

    kind: Any
    surely: frozenset[type]

    @classmethod
    def of(cls, kind: Any) -> _Kind:
        inner = typing.get_args(kind) if typing.get_origin(kind) in (Union, types.UnionType) else (kind,)
        return cls(kind, frozenset({SURELY[one] for one in inner if isinstance(one, type) and one in SURELY}))


@dataclass(frozen=True)
class _Constructor:
    """The names of the parameters of a constructor, in order, and their annotations."""

    names: tuple[str, ...]
    kinds: Mapping[str, _Kind]


@functools.cache
def _constructor(kind: Any) -> _Constructor:
    """What a constructor takes; a dataclass says it by its fields, each in the module of its own class."""
    names = tuple(inspect.signature(kind.__init__).parameters)[1:]
    kinds = dict(_kinds(kind.__init__))
    if "__dataclass_fields__" in vars(kind):
        for base in reversed(kind.__mro__):
            fields = {name: one for name, one in vars(base).get("__annotations__", {}).items() if name in names}
            kinds |= _evaluated(fields, vars(sys.modules[base.__module__]))
    return _Constructor(names, kinds)


@functools.cache
def _kinds(function: Callable[..., Any]) -> dict[str, _Kind]:
    """The annotations of a function, but for those that say nothing."""
    taken = inspect.signature(function).parameters.items()
    named = {name: one.annotation for name, one in taken if one.kind in (one.POSITIONAL_OR_KEYWORD, one.KEYWORD_ONLY)}
    return _evaluated(named, function.__globals__)


def _evaluated(annotations: Mapping[str, Any], names: dict[str, Any]) -> dict[str, _Kind]:
    """Annotations by these names of a module; what cannot be evaluated there says nothing."""
    found: dict[str, _Kind] = {}
    for name, one in annotations.items():
        try:
            kind = eval(one, names) if isinstance(one, str) else one
        except (NameError, TypeError):
            kind = Any
        if kind is not Any and _known(kind):
            found[name] = _Kind.of(kind)
    return found


def _known(kind: Any) -> bool:
    """Whether all parts of an annotation are kinds that can be checked here."""
    origin, inner = typing.get_origin(kind), typing.get_args(kind)
    if origin is Literal or kind in (None, Any):
        return True
    if origin in (Union, types.UnionType, *SEVERAL):
        return all(_known(one) for one in inner if one is not Ellipsis)
    return isinstance(kind, type) and (kind in WORDS or _own(kind))
