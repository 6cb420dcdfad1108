"""Records that are changed and given away without a promise, by their owner's waiver."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ParamSpec, Protocol, TypeVar

from discreet.core.bits import Bits
from discreet.core.checks import check_text
from discreet.core.errors import NotPermitted
from discreet.core.events import NoPromise
from discreet.core.parameters import checked
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.microdata.published_table import PublishedTable
from discreet.questions.question import AllRecords
from discreet.releases.option_docs import describing
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData

PRIVATELY = "discreet.synthesize"
Given = ParamSpec("Given")
Result = TypeVar("Result")


def gives_away(function: Callable[Given, Result]) -> Callable[Given, Result]:
    """The same function, checked, and with what all tables without a promise have in common in its docstring.

    Examples
    --------
    >>> @gives_away
    ... def copied(data: PrivateData, *, times: int, waiver: str | None = None) -> None:
    ...     '''Give copies away.
    ...
    ...     Parameters
    ...     ----------
    ...     times : int
    ...         Public. How many.
    ...     '''
    >>> [line.strip() for line in copied.__doc__.splitlines() if " : " in line]
    ['data : PrivateData', 'times : int', 'waiver : str']
    """
    return checked(describing("given away")(function))


class RowMechanism(Protocol):
    """Changes all records, and promises nothing."""

    @property
    def event(self) -> NoPromise: ...

    def release(self, answer: Any, bits: Bits) -> ChangedRows: ...


def check_waiver(asked: str, waiver: str | None, event: NoPromise, privately: str) -> None:
    """Refuse, before anything goes on record, what keeps no promise and has no reason; names what keeps one."""
    check_text(asked, "waiver", waiver)
    if waiver is None or not waiver.strip():
        remedy = f"Use {privately}, which keeps a promise; or give waiver= the owner's reason, which goes on record."
        raise NotPermitted(asked, f"it keeps no promise ({event.reason})", remedy)


def waived_table(
    data: PrivateData,
    name: str,
    columns: tuple[str, ...],
    mechanism: RowMechanism,
    schema: Callable[[ChangedRows], Schema],
    *,
    waiver: str | None,
    key: str | None = None,
) -> PublishedTable:
    """The records of some columns as a mechanism changes them; what it needs is refused before it goes on record.

    Parameters
    ----------
    data : PrivateData
        The records, with a curator.
    name : str
        Public. What is made, in the ledger's words.
    columns : tuple of str
        Public. What the mechanism sees.
    mechanism : RowMechanism
        Public. What changes the records.
    schema : callable
        What the columns of the result are, from what was released.
    waiver : str
        Public. The owner's reason for a release without a promise.
    key : str, optional
        Public. Makes a retry safe: the same table is given again.
    """
    data.check_curated(name)
    data.schema.values(columns)
    check_waiver(name, waiver, mechanism.event, PRIVATELY)
    plan: Any = mechanism
    with data.permit(mechanism.event, name, key=key, waiver=waiver) as permit:

        def made() -> dict[str, Any]:
            found: ChangedRows = permit.ask(AllRecords(columns), plan)
            return {"records": found.values, "notes": dict(found.notes)}

        kept = permit.artefact(made, (name, columns, mechanism))
    found = ChangedRows(kept["records"], kept["notes"])
    return PublishedTable(
        name=name,
        receipt=permit.receipt,
        confidence=None,
        schema=schema(found),
        records=found.values,
        notes=found.notes,
    )
