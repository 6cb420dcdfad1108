"""A statistic, declared once: its options, what it gives, and what it refuses before anything is spent.

`@statistic` makes the function that people call out of one that only computes. That one takes what is asked about (a
`ColumnOf`, a `ColumnsOf`, or a `RecordsOf` that it opens itself) and its own options; the records, the price and all
else that statistics share come with the declaration, with their checks and their part of the docstring. Functions,
plans and the command line read the same declaration.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Sequence
from typing import Any, Concatenate, ParamSpec, Protocol, TypedDict, TypeVar, Unpack, overload

from discreet.questions.tables.cells import Edges
from discreet.releases.ask import ColumnOf, ColumnsOf, OneSum
from discreet.releases.declaration import SHARED, Declaration, Refusal
from discreet.releases.option_docs import documented
from discreet.releases.records_of import RecordsOf
from discreet.trust.as_private import Bounds

Own = ParamSpec("Own")
Given = TypeVar("Given", covariant=True)


class SharedOptions(TypedDict, total=False):
    """What every statistic takes by name."""

    bounds: Bounds | None
    where: str | None
    epsilon: float
    delta: float
    key: str | None


class OfTheseData(SharedOptions, total=False):
    """What a statistic takes by name whose intervals are for these data alone: those for a population are refused."""

    population: bool


class HypothesisOptions(SharedOptions, total=False):
    """What a test of a hypothesis takes by name, beside its own options and `by`."""

    edges: Edges | None
    confidence: float


class Options(HypothesisOptions, total=False):
    """What a statistic that can be asked of groups takes by name, beside its own options and `by`."""

    population: bool


class OfColumn(Protocol[Own, Given]):
    """A statistic of one column, as people call it."""

    def __call__(self, data: Any, column: str | None = None, *given: Own.args, **named: Own.kwargs) -> Given: ...


class OfColumns(Protocol[Own, Given]):
    """A statistic of several columns, as people call it."""

    def __call__(
        self, data: Any, columns: Sequence[str] | None = None, *given: Own.args, **named: Own.kwargs
    ) -> Given: ...


class OfRecords(Protocol[Own, Given]):
    """A statistic that opens its records itself, as people call it."""

    def __call__(self, data: Any, *given: Own.args, **named: Own.kwargs) -> Given: ...


class Declaring(Protocol):
    """Makes a statistic that is not asked of groups."""

    @overload
    def __call__(self, compute: Callable[Concatenate[ColumnOf, Own], OneSum[Given]], /) -> OfColumn[Own, Given]: ...
    @overload
    def __call__(self, compute: Callable[Concatenate[ColumnsOf, Own], OneSum[Given]], /) -> OfColumns[Own, Given]: ...
    @overload
    def __call__(self, compute: Callable[Concatenate[RecordsOf, Own], OneSum[Given]], /) -> OfRecords[Own, Given]: ...
    @overload
    def __call__(self, compute: Callable[Concatenate[ColumnOf, Own], Given], /) -> OfColumn[Own, Given]: ...
    @overload
    def __call__(self, compute: Callable[Concatenate[ColumnsOf, Own], Given], /) -> OfColumns[Own, Given]: ...
    @overload
    def __call__(self, compute: Callable[Concatenate[RecordsOf, Own], Given], /) -> OfRecords[Own, Given]: ...


class Facts(TypedDict, total=False):
    """What is declared of a statistic, beside its options; see `Declaration`."""

    epsilon: float
    delta: float
    bounds: Bounds | None
    no_population: Refusal | None
    needs_delta: Refusal | None
    curator: str | None
    like: Any


@overload
def statistic(*, no_by: str, **facts: Unpack[Facts]) -> Declaring: ...
@overload
def statistic(*, no_by: None = None, **facts: Unpack[Facts]) -> Callable[[Callable[..., Any]], Callable[..., Any]]: ...
def statistic(
    *,
    epsilon: float = 1.0,
    delta: float = 0.0,
    bounds: Bounds | None = None,
    no_by: str | None = None,
    no_population: Refusal | None = None,
    needs_delta: Refusal | None = None,
    curator: str | None = None,
    like: Any = None,
) -> Any:
    """Declare a statistic, and make the function that people call; see `Declaration` for the parameters.

    One that is asked of groups has two kinds of result, so overloads above it say what callers see.

    Examples
    --------
    >>> from discreet.releases.declaration import declaration_of
    >>> @statistic(no_by="it is an example")
    ... def rows(of: RecordsOf, *, twice: bool = False, **_: Unpack[SharedOptions]) -> int:
    ...     '''Show how many columns there are.'''
    ...     return len(of.opened().data.schema.columns) * (1 + twice)
    >>> rows([3.0], twice=True, bounds=(0, 10)), declaration_of(rows).options["where"].words
    (2, 'str, optional')
    """

    def declared(compute: Callable[..., Any]) -> Callable[..., Any]:
        own = Declaration(compute, epsilon, delta, bounds, no_by, no_population, needs_delta, curator, like)
        return _function(own)

    return declared


def _function(declaration: Declaration) -> Callable[..., Any]:
    """The function that people call: it belongs to the module that the statistic is written in."""
    ask = declaration.ask

    def called(*given: Any, **named: Any) -> Any:
        return ask(given, named)

    compute: Any = declaration.compute
    code: Any = called
    code = code.__code__.replace(co_name=compute.__name__, co_qualname=compute.__qualname__)
    made: Any = types.FunctionType(code, compute.__globals__, compute.__name__, None, called.__closure__)
    functools.update_wrapper(made, compute)
    del made.__wrapped__
    made.__signature__, made.declaration = declaration.signature, declaration
    taken = declaration.signature.parameters.items()
    made.__annotations__ = {name: one.annotation for name, one in taken if name not in SHARED}
    made.__annotations__["return"] = declaration.signature.return_annotation
    made.__doc__ = documented(
        declaration._sources, declaration.subject, list(declaration.signature.parameters), declaration._said
    )
    return made
