"""What is known of a statistic before it is asked: its options, what it gives, and what it refuses."""

from __future__ import annotations

import inspect
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Union

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.parameters import check_parameters
from discreet.questions.tables.cells import Edges
from discreet.releases.ask import OneSum, asked
from discreet.releases.groups import By
from discreet.releases.option_docs import described
from discreet.releases.records_of import RecordsOf
from discreet.releases.release import LEAST, MOST, check_confidence, check_population
from discreet.trust.as_private import Bounds
from discreet.trust.private_data import PrivateData
from discreet.trust.telling import telling
from discreet.trust.trust_model import is_trust_model

EMPTY = inspect.Parameter.empty
SHARED = {
    "data": "Any",
    "column": "str | None",
    "columns": "Sequence[str] | None",
    "bounds": "Bounds | None",
    "where": "str | None",
    "by": "By | None",
    "edges": "Edges | None",
    "population": "bool",
    "epsilon": "float",
    "delta": "float",
    "key": "str | None",
}
KINDS = {"Any": Any, "Bounds": Bounds, "By": By, "Edges": Edges, "Sequence": Sequence}
FIRST, LAST = ("bounds", "where", "by", "edges"), ("confidence", "population", "epsilon", "delta", "key")


@dataclass(frozen=True)
class Refusal:
    """What is refused before anything is spent, and what would work."""

    obstacle: str
    remedy: str


@dataclass(frozen=True)
class Option:
    """One option of a statistic.

    Parameters
    ----------
    name : str
        As it is given.
    kind : type
        What it is, as an annotation says it.
    default : object
        Where it is not given; `Option.REQUIRED` where it must be.
    words : str
        The kind, for readers.
    meaning : str
        What it does.
    """

    name: str
    kind: Any
    default: Any
    words: str
    meaning: str

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is EMPTY


@dataclass(frozen=True, eq=False)
class Declaration:
    """All that is known of a statistic before it is asked.

    Parameters
    ----------
    compute : callable
        What it computes, from what it is asked of and its own options.
    epsilon, delta : float
        The price where none is given.
    bounds : (float, float), optional
        Of an array or data frame, where none are given; without it they must be.
    no_by : str, optional
        Why it is not asked of groups. None where it is.
    no_population : Refusal, optional
        Why it has no intervals for a population.
    needs_delta : Refusal, optional
        Why it costs a delta always.
    curator : str, optional
        Why it can be asked of a curator alone.
    like : callable, optional
        A statistic whose options of the same names mean the same.
    """

    compute: Callable[..., Any]
    epsilon: float
    delta: float
    bounds: Bounds | None
    no_by: str | None
    no_population: Refusal | None
    needs_delta: Refusal | None
    curator: str | None
    like: Any

    @property
    def name(self) -> str:
        return self.compute.__name__

    @cached_property
    def title(self) -> str:
        """The name in words."""
        return self.name.replace("_", " ")

    @property
    def summary(self) -> str:
        """What it does, in a line."""
        return (inspect.getdoc(self.compute) or "").partition("\n")[0]

    @cached_property
    def own(self) -> dict[str, inspect.Parameter]:
        _, *others = inspect.signature(self.compute).parameters.values()
        return {one.name: one for one in others if one.kind is not one.VAR_KEYWORD}

    @cached_property
    def subject(self) -> str:
        """What it is asked of: "column", "columns", or "" where it opens the records itself."""
        kind = next(iter(inspect.signature(self.compute).parameters.values())).annotation
        return {"ColumnOf": "column", "ColumnsOf": "columns"}.get(getattr(kind, "__name__", kind), "")

    @cached_property
    def gives(self) -> Any:
        """The kind of its result; with groups, that of each."""
        hint = typing.get_type_hints(self.compute)["return"]
        hints = typing.get_args(hint) if typing.get_origin(hint) in (Union, types.UnionType) else (hint,)
        kinds = [typing.get_args(one)[0] if typing.get_origin(one) is OneSum else one for one in hints]
        return Union[tuple(kinds)]  # noqa: UP007 - of as many as there are

    @cached_property
    def signature(self) -> inspect.Signature:
        """As people call it."""
        before = [_parameter("data", EMPTY, named=False)]
        if self.subject:
            before.append(_parameter(self.subject, None, named=False))
        own = {name: one for name, one in self.own.items() if one.kind is one.KEYWORD_ONLY}
        before += [one for name, one in self.own.items() if name not in own]
        shared = {name: _parameter(name, self._default(name)) for name in self._shared}
        named = {name: one for name, one in shared.items() if name in FIRST and name not in own}
        named |= {name: one for name, one in own.items() if name not in LAST}
        named |= {name: {**shared, **own}[name] for name in LAST if name in shared or name in own}
        return inspect.Signature([*before, *named.values()], return_annotation=self._returned)

    @property
    def _returned(self) -> str:
        """What callers get, as it is written."""
        hints = str(inspect.signature(self.compute).return_annotation).split(" | ")
        one = dict.fromkeys(hint.removeprefix("OneSum[").removesuffix("]") for hint in hints)
        if self.no_by is None:
            one["Table" if "Estimate" in one else f"GroupedResults[{next(iter(one))}]"] = None
        return " | ".join(one)

    @property
    def _shared(self) -> list[str]:
        """The shared options that it takes."""
        groups = ("by", "edges") if self.no_by is None else ()
        population = ("population",) if self.no_population is not None else ()
        taken = ("bounds", "where", *groups, *population, "epsilon", "delta", "key")
        return [name for name in taken if name not in self.own]

    def _default(self, name: str) -> Any:
        return {"population": False, "epsilon": self.epsilon, "delta": self.delta}.get(name)

    @cached_property
    def options(self) -> dict[str, Option]:
        """Everything that it takes beside the data, by name."""
        names = [name for name in self.signature.parameters if name != "data"]
        entries = described(self._sources, self.subject, names, self._said)
        taken = self.checked.__signature__.parameters
        return {name: Option(name, taken[name].annotation, taken[name].default, *entries[name]) for name in names}

    @cached_property
    def checked(self) -> Any:
        """A function with the same parameters, whose annotations are kinds and not words."""
        names = {**self.compute.__globals__, **KINDS}
        taken = [one.replace(annotation=eval(str(one.annotation), names)) for one in self.signature.parameters.values()]
        made: Any = types.FunctionType(self.compute.__code__, self.compute.__globals__)
        made.__signature__ = inspect.Signature(taken)
        return made

    @property
    def _sources(self) -> tuple[Callable[..., Any], ...]:
        """Whose docstrings say what its options mean: its own first."""
        return (self.compute, *(() if self.like is None else declaration_of(self.like)._sources))

    @property
    def _said(self) -> dict[str, str]:
        """What the declaration itself says of options."""
        said = {}
        if self.no_population is not None:
            said["population"] = f"Public. An interval for a population is refused: {self.no_population.obstacle}."
        return said

    @cached_property
    def _places(self) -> tuple[str, ...]:
        """The parameters that may be given without a name."""
        return tuple(n for n, one in self.signature.parameters.items() if one.kind is one.POSITIONAL_OR_KEYWORD)

    @cached_property
    def _defaults(self) -> dict[str, Any]:
        return {name: one.default for name, one in self.signature.parameters.items()}

    def bound(self, given: Sequence[Any], named: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters by name, the defaults of those that are not given too; what it does not take is refused."""
        places, values = self._places, {**self._defaults, **named}
        if len(given) > len(places):
            raise TypeError(f"{self.name}() takes {len(places)} positional arguments but {len(given)} were given")
        for name, value in zip(places, given, strict=False):
            if name in named:
                raise TypeError(f"{self.name}() got multiple values for argument {name!r}")
            values[name] = value
        if len(values) > len(self._defaults):
            unknown = next(name for name in named if name not in self._defaults)
            if unknown == "by" and self.no_by is not None:
                raise ParameterError(f"{self.title} by groups", self.no_by, "Leave out `by`.")
            raise TypeError(f"{self.name}() got an unexpected keyword argument {unknown!r}")
        for name, value in values.items():
            if value is EMPTY:
                raise TypeError(f"{self.name}() missing 1 required argument: {name!r}")
        return values

    def ask(self, given: Sequence[Any], named: Mapping[str, Any]) -> Any:
        """Check what was given, open the records, compute, and pay for what is computed from one sum."""
        values = self.bound(given, named)
        check_parameters(self.title, self.checked, values)
        if self.particular or values["confidence"].__class__ is not float or not LEAST <= values["confidence"] <= MOST:
            self._refuse(values)
        budget, by, edges = Budget(values["epsilon"], values["delta"]), values.get("by"), values.get("edges")
        if self.no_by is not None:
            by = edges = None
        bounds = self.bounds if values["bounds"] is None else values["bounds"]
        if bounds is self.bounds and (isinstance(values["data"], PrivateData) or is_trust_model(values["data"])):
            bounds = values["bounds"]
        records = RecordsOf(values["data"], self, bounds, values["where"], by, edges, budget, values["key"])
        with self._telling(values, budget) if getattr(values["data"], "elsewhere", False) else nullcontext():
            own = dict(zip(self.own, map(values.__getitem__, self.own), strict=True))
            if self.subject == "column":
                found = self.compute(records.column(values["column"]), **own)
            elif self.subject == "columns":
                found = self.compute(records.columns(values["columns"]), **own)
            else:
                found = self.compute(records, **own)
            if found.__class__ is not OneSum:
                return found
            of = found.of
            if of.groups is not None:
                return of.groups.released(found)
            return found.read(asked(of.data, found.question, of.budget, found.name, of.key, found.noise))

    def _telling(self, values: Mapping[str, Any], budget: Budget) -> AbstractContextManager[None]:
        """What tells an account that is elsewhere what is asked."""
        return telling(values["data"], {"statistic": self.name, "options": self._plain(values)}, budget)

    def _plain(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """What was said of it by name, beside data and price."""
        apart = ("data", "epsilon", "delta", "key")
        return {
            name: value
            for name, value in values.items()
            if name not in apart and not (value is None or _same(value, self._defaults[name]))
        }

    @cached_property
    def particular(self) -> bool:
        """Whether it refuses more than a confidence that no interval has."""
        return "confidence" not in self.own or self.no_population is not None or self.needs_delta is not None

    def _refuse(self, values: Mapping[str, Any]) -> None:
        """Refuse what is refused without a look at the schema."""
        if values.get("confidence") is not None:
            check_confidence(self.title, values["confidence"])
        if self.no_population is not None:
            check_population(self.title, values["population"], self.no_population.obstacle, self.no_population.remedy)
        if self.needs_delta is not None and values["delta"] == 0:
            raise ParameterError(self.title, self.needs_delta.obstacle, self.needs_delta.remedy)


def _same(value: Any, default: Any) -> bool:
    """Whether a value is the default, where one can tell."""
    return type(value) is type(default) and isinstance(value, bool | int | float | str) and value == default


def _parameter(name: str, default: Any, *, named: bool = True) -> inspect.Parameter:
    """A parameter that statistics share."""
    place = inspect.Parameter.KEYWORD_ONLY if named else inspect.Parameter.POSITIONAL_OR_KEYWORD
    return inspect.Parameter(name, place, default=default, annotation=SHARED[name])


def declaration_of(function: Any) -> Declaration:
    """The declaration of a statistic."""
    found: Declaration = function.declaration
    return found


def is_statistic(function: Any) -> bool:
    """Whether it was declared."""
    return isinstance(getattr(function, "declaration", None), Declaration)
