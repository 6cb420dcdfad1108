"""Who may hold an exact answer: what a trust model is, and what is asked of it before anything is charged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from discreet.core.errors import SchemaError
from discreet.core.events import Event
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors, Unit
from discreet.questions.question import Question
from discreet.schema.schema import Schema

Release = TypeVar("Release")


class Promise(Protocol):
    """Whom a charge protects: the relation, the unit, and whether the noise is from secret bits."""

    @property
    def neighbors(self) -> Neighbors: ...

    @property
    def unit(self) -> Unit: ...

    @property
    def secret(self) -> bool: ...


class TrustModel(Protocol):
    """Who may hold an exact answer, and who adds the noise.

    `reports` is the variance in units of a curator's; `curated` is whether somebody holds all records and hands them to
    a mechanism, `local` whether every person reports by itself. One that has `once` answers one question, and no more.
    """

    local: bool

    neighbors: Neighbors
    unit: Unit
    schema: Schema

    @property
    def curated(self) -> bool: ...

    @property
    def secret(self) -> bool: ...

    @property
    def units(self) -> int | None: ...

    @property
    def reports(self) -> float: ...

    def keeps(self, event: Event) -> bool:
        """Whether the promise of this single event can be kept: asked before anything is charged."""
        ...

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release: ...


def is_trust_model(given: Any) -> bool:
    """Whether this answers questions itself, and says which promises it can keep."""
    return all(callable(getattr(type(given), name, None)) for name in ("ask", "keeps")) and hasattr(given, "reports")


def check_ready(trust: TrustModel) -> None:
    """Refuse, before anything is charged, records that cannot be read now, where the trust model can tell."""
    check: Callable[[], None] = getattr(trust, "check_ready", lambda: None)
    check()


def check_columns(purpose: str, question: Question, schema: Schema | None) -> None:
    """Refuse a question about columns that are not there; what is no table has none."""
    there = {} if schema is None else schema.columns
    if question.columns and not there.keys() >= {*question.columns}:
        unknown = [name for name in question.columns if name not in there]
        known = f"There are {', '.join(there)}." if there else "Ask a question that is made for these records."
        raise SchemaError(purpose, f"there is no column {unknown[0]!r}", known)
