"""Two tables of the same people, each of which hides everybody among k, and what both say together."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.attacks.answers.covered_values import covered
from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.table_columns import TableColumns, Values, read_column, shared_codes
from discreet.core.checks import names_of
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

ASKED = "Intersection"
CELLS = 2**22  # people times rows that are held at a time


@dataclass(frozen=True)
class Intersection:
    """The sensitive value that all tables together make most probable for a person.

    In each table the rows that may be a person's are those whose coarse values stand for what is known. A value has the
    share of these rows that have it, and of several tables the product of its shares; a value that one table does not
    have is ruled out.

    Parameters
    ----------
    known : table
        A row for each person, with the values of `columns` as they are.
    truth : sequence
        The sensitive value of each person, to count what is right.
    sensitive : str
        Public. The column that is looked for.
    columns : sequence of str, optional
        Public. The quasi-identifiers; by default all columns of `known` that a table has too.

    Notes
    -----
    Ganta, Kasiviswanathan and Smith 2008; not checked against the paper. Whether a table has a person at all is taken
    for known: where no row fits, that table says nothing. Chance is the most frequent value among these people. The
    details say how many each table gives away by itself, and of how many one value alone is left.

    Examples
    --------
    >>> first = {"age": ["[20, 40)"] * 2 + ["[40, 60)"] * 2, "ill": ["flu", "cold", "flu", "gout"]}
    >>> second = {"age": ["[20, 30)"] * 2 + ["[30, 60)"] * 2, "ill": ["cold", "gout", "flu", "cold"]}
    >>> result = Intersection({"age": [25]}, ["cold"], "ill").run([first, second])
    >>> result.right, result.details["known for sure"]
    (1, 1.0)
    """

    known: Any = field(repr=False)
    truth: ArrayLike = field(repr=False)
    sensitive: str
    columns: Sequence[str] | None = None
    paper: ClassVar[str] = "Ganta, Kasiviswanathan and Smith, Composition attacks and auxiliary information, 2008"
    threat: ClassVar[ThreatModel] = ThreatModel(
        "two or more released tables of the same people", "quasi-identifiers of people, and that they are in the tables"
    )

    def run(self, target: Any) -> AttackResult:
        """Compare tables: a sequence of released tables, data frames or mappings of columns."""
        start, known = time.perf_counter(), TableColumns.of(ASKED, self.known)
        tables = [TableColumns.of(ASKED, table) for table in target] if isinstance(target, Sequence) else []
        if not tables:
            raise ParameterError(ASKED, "there is no table to compare", "Give a list of tables of the same people.")
        domain, truth = self._coded(tables, len(known))
        shares = [self._shares(table, known, codes, domain) for table, codes in self._codes(tables, domain)]
        both = np.multiply.reduce(shares)
        right = both.argmax(axis=1) == truth
        single = [own.argmax(axis=1) == truth for own in shares]
        sure = ((both > 0).sum(axis=1) == 1) & right
        return AttackResult(
            ASKED,
            self.threat,
            "people whose sensitive value was found",
            int(right.sum()),
            len(truth),
            float(np.bincount(truth).max() / len(truth)),
            time.perf_counter() - start,
            0,
            worst=tuple(np.flatnonzero(sure)[:WORST].tolist()),
            details={f"found in table {place} alone": float(own.mean()) for place, own in enumerate(single, 1)}
            | {"known for sure": float(sure.mean()), "values left": float((both > 0).sum(axis=1).mean())},
        )

    def _coded(self, tables: list[TableColumns], people: int) -> tuple[Values, NDArray[np.int64]]:
        """All sensitive values there are, as texts, and the place of each person's."""
        truth = _texts(read_column(self.truth))
        if len(truth) != people:
            raise ParameterError(ASKED, f"{people} people are known, and {len(truth)} values", "Give one for each.")
        every = np.concatenate([truth, *(_texts(table[self.sensitive]) for table in tables)])
        domain = np.array(sorted(set(every)), dtype=object)
        return domain, shared_codes(domain, truth)[1]

    def _codes(self, tables: list[TableColumns], domain: Values) -> list[tuple[TableColumns, NDArray[np.int64]]]:
        return [(table, shared_codes(domain, _texts(table[self.sensitive]))[1]) for table in tables]

    def _shares(self, table: TableColumns, known: TableColumns, codes: NDArray[np.int64], domain: Values) -> Array:
        """The share of each value among the rows that fit a person; the same for all, where no row does."""
        names = [name for name in known.columns if name in table.columns and name != self.sensitive]
        names = names if self.columns is None else [*names_of(self.columns)]
        found = np.zeros((len(known), len(domain)))
        step = max(1, CELLS // len(table))
        for begin in range(0, len(known), step):
            people = known.rows(slice(begin, begin + step))
            fits = np.ones((len(table), len(people)), dtype=np.bool_)
            for name in names:
                fits &= covered(table[name], people[name])
            rows, who = np.nonzero(fits)
            np.add.at(found, (begin + who, codes[rows]), 1.0)
        found[~found.any(axis=1)] = 1.0
        return found / found.sum(axis=1, keepdims=True)


def _texts(values: Values) -> Values:
    """Values as texts; a missing one is a value of its own."""
    return np.array([str(value) for value in values], dtype=object)
