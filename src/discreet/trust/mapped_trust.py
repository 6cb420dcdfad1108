"""A trust model whose records are what an untrusted function makes of those of another one."""

from __future__ import annotations

import dataclasses
import threading
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.held import Secret, unheld
from discreet.core.identity import identity
from discreet.core.neighbors import Neighbors
from discreet.questions.fixed_rows import FixedRows
from discreet.questions.mapped import OfMapped, RecordMap
from discreet.questions.question import BoundedSum, Question, View
from discreet.schema.dates import Temporal
from discreet.schema.plain_schema import PlainSchema, schema_of
from discreet.schema.schema import Schema, Text
from discreet.trust.curator import CuratorsView
from discreet.trust.exact_sum import check_made_up
from discreet.trust.isolation.isolated import Form, check_isolation, processors
from discreet.trust.isolation.rehearsed import check_time
from discreet.trust.permit import KEPT
from discreet.trust.sources.matrix import Matrix
from discreet.trust.trust_model import TrustModel
from discreet.trust.wrapped_trust import WrappedTrust

ASKED = "map records"
LEAST, MOST = 0.01, 1e4  # seconds of processor time for one record: a process must start in it
TRIED = 0.2  # seconds for a made-up record: an error takes some to be written
MOST_PLACES, MOST_ROWS = 10**7, 1000


@unheld("cache")
class MappedTrust(WrappedTrust, Secret):
    """Asks another trust model about the rows that a function makes of its records, each record by itself.

    The function runs once, when the first question is asked, and its rows are kept in memory.

    Parameters
    ----------
    trust : TrustModel
        Who holds the records.
    by : RecordMap
        Public. What becomes of a record.
    among : str
        Public. Of which records.

    Guarantee
    ---------
    Where one record comes or goes, at most `rows_out` rows come or go with it, and where there are more records than
    places, as many of another record in exchange: a sum moves by at most that many bounds. Airavat of Roy, Setty,
    Kilzer, Shmatikov and Witchel 2010: mappers that nobody trusts, with declared ranges, and reducers that are.
    """

    def __init__(self, trust: TrustModel, by: RecordMap, among: str = "") -> None:
        super().__init__(trust, by.after)
        self.by, self._among = by, among
        self._mapping = threading.Lock()
        self._view: View | None = None
        differ = by.rows_out * (2 if trust.neighbors is Neighbors.ADD_REMOVE else 1)
        self.unit = dataclasses.replace(trust.unit, rows=trust.unit.rows * differ)

    @property
    def units(self) -> int | None:
        """The number of rows, where that of records is public and each is one."""
        return self.trust.units if self.by.rows_out == 1 else None

    @property
    def curated(self) -> bool:
        return False

    @property
    def named(self) -> str:
        """What the rows are, with what identifies the function."""
        function = identity((self.by.function, self.by.reads, self.by.rows_out))[:12]
        return f"of rows that function {function} made of records{self._among}"

    def check_ready(self) -> None:
        check_isolation(ASKED, self.by.function, self.by.form)
        super().check_ready()

    @property
    def answers_together(self) -> bool:
        """Never: what a function makes of the records is in memory, and read by every question for itself."""
        return False

    def inner(self, question: Question) -> Question:
        if not isinstance(question, BoundedSum):
            raise NotPermitted(ASKED, "what an untrusted function made is asked for sums alone", "Ask sums.", KEPT)
        if question.recipe is None:
            check_made_up(question, self.schema)
        return OfMapped(question, self.by, self._mapped)

    def _mapped(self, view: View) -> View:
        """The rows, which are made once: a function may give others each time, and takes long."""
        with self._mapping:
            found = self._view
            if found is None:
                rows = Matrix(view.mapped(self.by), self.schema)
                rows.unit = self.unit
                found = self._view = CuratorsView(rows, view.neighbors, view.bits)
            return found


def record_map(
    trust: TrustModel,
    function: Callable[[Array], Any],
    bounds: PlainSchema,
    rows_out: int,
    columns: Sequence[str] | None,
    keep: Sequence[str],
    most: int | None,
    seconds: float,
    isolation: Form,
) -> RecordMap:
    """What `PrivateData.map_untrusted` is given, checked before anything is charged; see there."""
    if not getattr(trust, "maps", trust.curated):
        raise NotPermitted(ASKED, "it takes a curator who holds all records, and a limit of rows", "Do not pool units.")
    before, new = trust.schema, schema_of(bounds)
    numbers = [name for name, kind in before.columns.items() if not isinstance(kind, Text)]
    names = before.values(numbers if columns is None else columns)
    kept = before.values(keep) if keep else ()
    _check_new(new, kept)
    check_whole(ASKED, "rows_out", rows_out, most=MOST_ROWS)
    if not LEAST <= seconds <= MOST:
        raise ParameterError(ASKED, f"a record has {seconds:g} seconds", f"Give between {LEAST:g} and {MOST:g}.")
    places = _places(trust, most)
    check_isolation(ASKED, function, isolation)
    fixed, row = FixedRows(function, rows_out, len(new.columns)), _middle(before, names)
    check_time(ASKED, fixed, row, seconds=max(seconds, TRIED), form=isolation)
    after = Schema({**{name: before.columns[name] for name in kept}, **new.columns})
    return RecordMap(function, names, kept, after, rows_out, places, float(seconds), isolation, processors())


def _places(trust: TrustModel, most: int | None) -> int:
    """How many records are looked at: all, where their number is public, else as many as is said."""
    if most is None:
        if trust.units is None or trust.neighbors is not Neighbors.REPLACE or not trust.unit.is_row:
            obstacle = "the number of records is secret, and the time would show it"
            raise ParameterError(ASKED, obstacle, "Give most=, a public number: so many records are looked at.")
        return trust.units
    if trust.neighbors is Neighbors.REPLACE and trust.unit.is_row and trust.units not in (None, most):
        obstacle = f"there are {trust.units} records, in public, and most is {most}"
        raise ParameterError(ASKED, obstacle, "Leave it out.")
    check_whole(ASKED, "most", most, most=MOST_PLACES)
    return most


def _check_new(new: Schema, kept: tuple[str, ...]) -> None:
    for name, kind in new.columns.items():
        if isinstance(kind, Temporal | Text):
            raise ParameterError(ASKED, f"column {name!r} is to hold {type(kind).__name__}", "Give numbers or a list.")
        if name in kept:
            raise ParameterError(ASKED, f"column {name!r} is kept and made", "Give the new one another name.")


def _middle(schema: Schema, names: Sequence[str]) -> Array:
    """A made-up record."""
    ends: Mapping[str, Any] = schema.columns
    return np.array(
        [[0.5 * getattr(ends[name], "lower", 0.0) + 0.5 * getattr(ends[name], "upper", 0.0) for name in names]]
    )
