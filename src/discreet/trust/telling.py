"""What is being asked, as it was declared: for an account that is elsewhere, where the question is answered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from discreet.core.budget import Budget
from discreet.core.held import unheld

if TYPE_CHECKING:
    from discreet.trust.private_data import PrivateData


@unheld("one call")
@dataclass
class DeclaredQuestion:
    """A question as it was declared, and what was paid for it so far.

    Parameters
    ----------
    plain : dict
        Public. The question by name and plain values, with the condition and the computed columns of its data.
    budget : Budget
        Public. What it may cost.
    paid : list
        What the account gave for it, and was not taken yet.
    kept : dict
        What it gave beside that, under its digests.
    """

    plain: dict[str, Any]
    budget: Budget
    paid: list[Any] | None = field(default=None)
    kept: dict[str, bytes] = field(default_factory=dict)


_TOLD: ContextVar[DeclaredQuestion | None] = ContextVar("told", default=None)


def told() -> DeclaredQuestion | None:
    """The question that this thread is asking; None where it is not told."""
    return _TOLD.get()


@contextmanager
def telling(data: Any, plain: Mapping[str, Any], budget: Budget) -> Iterator[None]:
    """Tell what is asked of data whose account is elsewhere; what asks it within the block is a part of it.

    Examples
    --------
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.trust.private_data import PrivateData
    >>> data = PrivateData.of({"age": [40.0]}, {"age": (0, 120)}, Budget(1.0)).where("age >= 18")
    >>> with telling(data, {"statistic": "count"}, Budget(0.5)):
    ...     told().plain
    {'statistic': 'count', 'where': 'age >= 18'}
    """
    if _TOLD.get() is not None:
        yield
        return
    token = _TOLD.set(DeclaredQuestion({**plain, **_chosen(data)}, budget))
    try:
        yield
    finally:
        _TOLD.reset(token)


def _chosen(data: PrivateData) -> dict[str, Any]:
    """The condition and the computed columns of data, as texts."""
    derived = data.derived
    columns = {name: str(one.expression) for name, one in derived.items()}
    bounds = {name: [one.number.lower, one.number.upper] for name, one in derived.items()}
    derive = {"derive": {"columns": columns, "bounds": bounds}} if columns else {}
    return derive if data.condition is None else {**derive, "where": str(data.condition)}
