"""Questions as data: the name of a recipe and its public parameters, which can be written, sent and read."""

from __future__ import annotations

import base64
import dataclasses
import functools
import inspect
import json
import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from types import MappingProxyType, NoneType
from typing import Any, Concatenate, ParamSpec, cast

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.held import unheld
from discreet.questions.kinds import fitted, readings_of
from discreet.questions.question import BoundedSum
from discreet.schema.schema import Category, Column, Number, Schema

MOST_NUMBERS = 2**24  # in one answer: whoever asks has a say in how much memory an answer takes
MOST_STEPS = 2.0**52  # of what one record adds, so that float64 holds it without error
TRIED = 2**17  # numbers in the contributions of the records that a fused sum is tried on
P = ParamSpec("P")
Builder = Callable[Concatenate[Schema, P], BoundedSum]
FEW, SMALL = 64, 2**13  # questions that are kept to be asked again, and how many numbers such a one has at most
PLAIN = (str, int, float, bool, NoneType)  # parameters that are told apart by how they are written
KINDS = frozenset(PLAIN)
AROUND = ("transformed", "filtered", "grouped", "weighted", "derived")  # recipes that ask another one
RECIPES: dict[str, Any] = {}
"""The recipes that have been loaded so far, by name."""


@unheld("own turns")
class Recent:
    """Recently built questions, by their public parameters."""

    def __init__(self) -> None:
        self._questions: dict[Any, BoundedSum] = {}
        self._lock = threading.Lock()

    def get(self, key: Any) -> BoundedSum | None:
        """The question, if it was built recently."""
        return self._questions.get(key)

    def kept(self, key: Any, question: BoundedSum) -> BoundedSum:
        """The question, kept for a while if it is small."""
        with self._lock:
            if question.size <= SMALL:
                self._questions[key] = question
            if len(self._questions) > FEW:
                del self._questions[next(iter(self._questions))]
        return question


RECENT = Recent()


def _told(value: Any) -> str | None:
    """Texts, numbers, arrays and tuples of them, so that 1, 1.0, True and "1" differ; None where there is more."""
    if isinstance(value, tuple):
        parts = []
        for part in value:
            told = repr(part) if type(part) in PLAIN else _told(part)
            if told is None:
                return None
            parts.append(told)
        return repr(parts)
    if type(value) is np.ndarray and value.dtype == np.float64 and value.size <= SMALL:
        return f"{value.shape} {value.tobytes().hex()}"
    return repr(value) if type(value) in PLAIN else None


@dataclass(frozen=True)
class Recipe:
    """What everybody can build the same question from, on a schema that all agree on.

    Parameters
    ----------
    name : str
        Public. The recipe's own, for ever; see `recipe`.
    parameters : mapping
        Public. Numbers, texts, truth values, None, arrays of numbers, and lists of these.

    Examples
    --------
    >>> recipe = Recipe("count", {"column": "age"})
    >>> recipe.written()
    '{"name":"count","parameters":{"column":"age"}}'
    >>> Recipe.read(recipe.written()) == recipe
    True
    """

    name: str
    parameters: Mapping[str, Any]

    def __post_init__(self) -> None:
        object.__setattr__(self, "parameters", MappingProxyType(dict(self.parameters)))

    def written(self) -> str:
        """The recipe as JSON, in one way only."""
        return _written(self.name, dict(self.parameters))

    @classmethod
    def read(cls, text: str) -> Recipe:
        """The recipe that was written; anything else is refused."""
        return cls(*_read(text))

    @property
    def names(self) -> tuple[str, ...]:
        """Its name; and, if it asks another recipe about some, or changed, records, the names of that one."""
        inner = self.parameters.get("inner") if self.name in AROUND else None
        return (self.name,) if inner is None else (self.name, *Recipe.read(inner).names)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Recipe) and self.written() == other.written()

    def __hash__(self) -> int:
        return hash(self.written())

    def __reduce__(self) -> tuple[Any, ...]:
        return Recipe, (self.name, dict(self.parameters))


FORMS = "Give finite numbers, texts, truth values, None, arrays of float64, or lists of these."


def _written(name: str, parameters: dict[str, Any]) -> str:
    document = {"name": name, "parameters": parameters}
    try:
        return json.dumps(document, sort_keys=True, separators=(",", ":"), allow_nan=False, default=_plain)
    except (TypeError, ValueError) as why:
        raise ParameterError(f"recipe {name}", f"a parameter cannot be written ({why})", FORMS) from why


def _plain(value: Any) -> Any:
    """What JSON has no form for: arrays, and single numbers of numpy."""
    if isinstance(value, np.ndarray):
        array = np.ascontiguousarray(value, dtype="<f8")
        return {"shape": list(array.shape), "float64": base64.b64encode(array.tobytes()).decode()}
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"it is of the kind {type(value).__name__}")


def _read(text: str) -> tuple[str, dict[str, Any]]:
    try:
        document = json.loads(text, parse_constant=_refused)
        name, parameters = document["name"], document["parameters"]
        if not isinstance(name, str) or not isinstance(parameters, dict) or len(document) != 2:
            raise ValueError("its fields are not a name and parameters")
        return name, dict(zip(parameters, _rich([*parameters.values()]), strict=True))
    except (ValueError, TypeError, KeyError, RecursionError) as why:
        raise ParameterError("read a recipe", f"it is not one ({why})", "Send what `written` gives.") from why


def _rich(value: Any) -> Any:
    if isinstance(value, dict):
        numbers = np.frombuffer(base64.b64decode(value["float64"], validate=True), dtype="<f8")
        return numbers.astype(np.float64).reshape(value["shape"])
    if isinstance(value, list):
        if KINDS.issuperset(map(type, value)):
            return tuple(value)
        return tuple([one if type(one) in PLAIN else _rich(one) for one in value])
    return value


def _refused(constant: str) -> Any:
    raise ValueError(f"{constant} is not finite")


def recipe(name: str) -> Callable[[Builder[P]], Builder[P]]:
    """Make a function a recipe: the questions that it builds know how to be built again, by somebody else.

    Parameters
    ----------
    name : str
        The name by which it is found, for ever: ledgers keep it and other parties send it. Plain for the recipes of
        this library, which are in `discreet.questions`; `package:name` for those that importing a package defines.

    Notes
    -----
    The function takes a schema and public parameters, and gives a bounded sum; nothing else may decide the outcome.
    Whoever asks may be hostile. What its annotations say is checked here: parameters are whole numbers, finite numbers,
    texts, truth values, choices (`Literal`), arrays of finite numbers, or tuples of these. Ranges are its own to check.
    The bound must hold, and the sum must not fail, for every record, whatever parameters it accepts.

    All parameters are public. These are the same in every recipe that does not say otherwise: `schema` has the columns,
    the bounds between which values lie, and the classes; `columns` are numeric columns of it, the features of a record;
    `target` is its column of classes; `ends` are the two columns of an edge, whose nodes are known by their places.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> from discreet.questions.columns.total import count_of
    >>> schema = Schema({"age": Number(0, 120)})
    >>> count_of(schema, "age").recipe
    Recipe(name='count', parameters=mappingproxy({'column': 'age'}))
    """

    def named(build: Builder[P]) -> Builder[P]:
        signature, readings = inspect.signature(build), readings_of(build)

        @functools.wraps(build)
        def built(schema: Schema, *given: Any, **named: Any) -> BoundedSum:
            told = _told((name, *given, " ".join(named), *named.values()))
            if told is None:
                return checked(schema, *given, **named)
            key = (tuple(schema.columns.items()), told)
            return RECENT.get(key) or RECENT.kept(key, checked(schema, *given, **named))

        def checked(*given: Any, **named: Any) -> BoundedSum:
            bound = signature.bind(*given, **named)
            bound.apply_defaults()
            schema, *_ = bound.args
            _, given_back = _read(_written(name, dict(list(bound.arguments.items())[1:])))
            written = Recipe(name, fitted(f"recipe {name}", readings, given_back))
            question = dataclasses.replace(build(schema, **written.parameters), recipe=written)  # type: ignore[call-arg]
            check_question(question, schema)
            return question

        if _place(RECIPES.setdefault(name, built)) != _place(build):
            raise ValueError(f"there are two recipes {name!r}: {_place(RECIPES[name])} and {_place(build)}")
        RECIPES[name] = built
        return cast(Builder[P], built)

    return named


def _place(build: Callable[..., Any]) -> str:
    return f"{build.__module__}.{build.__qualname__}"


def check_question(question: BoundedSum, schema: Schema) -> None:
    """Refuse a question whose answer would be too large, or whose fused sum or width is not that of its rows.

    A fused sum is not clipped row by row. So it is tried on records that the schema alone decides: both ends and the
    middle of all columns, and missing values.
    """
    asked = "a question" if question.recipe is None else f"recipe {question.recipe.name}"
    columns, size = schema.values(question.columns) if question.columns else (), question.size
    if not 1 <= size <= MOST_NUMBERS or question.bound.radius > MOST_STEPS * question.grid.step:
        raise ParameterError(
            asked,
            f"its answer has {size} numbers, to which a record adds up to {question.bound.radius:g} on a grid of "
            f"{question.grid.step:g}",
            f"Ask for 1 to {MOST_NUMBERS} numbers, and less than 2**52 steps.",
        )
    if question.total is None and question.width is None:
        return
    records = public_records(schema, columns)[: max(1, TRIED // size)]
    rows = question.steps(records)
    if rows.shape[1] != size:
        raise ParameterError(asked, f"its rows have {rows.shape[1]} numbers, and it says {size}", "Leave `width` out.")
    if question.total is not None and not np.array_equal(question.total(records), rows.sum(axis=0)):
        raise ParameterError(asked, "its fused sum is not that of its rows", "Correct it, or leave it out.")


def public_records(schema: Schema, columns: Iterable[str]) -> Array:
    """Records that are known without the data: upper ends, middles, lower ends, both ends in turn, missing values."""
    return _public_records(tuple(map(schema.columns.__getitem__, columns))).copy()


@functools.lru_cache(maxsize=FEW)
def _public_records(columns: tuple[Column, ...]) -> Array:
    """The same, of these columns: all questions of one fit are tried on them."""
    points = np.array([_points(column) for column in columns]).reshape(-1, 3)
    lower, middle, upper = points.T
    turns = np.arange(len(points)) % 2 == 0
    missing = np.full(len(points), np.nan)
    return np.array([upper, middle, np.where(turns, missing, middle), lower, np.where(turns, upper, lower), missing])


def _points(column: Column) -> tuple[float, float, float]:
    """The lower end of a column, its middle and its upper end."""
    match column:
        case Number(lower, upper):
            return float(lower), 0.5 * lower + 0.5 * upper, float(upper)
        case Category(values):
            return 0.0, float(len(values) // 2), len(values) - 1.0
        case _:
            return 0.0, 0.0, 0.0
