"""People found in a table by columns that a second table has too, with names."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.linkage.linked_people import NOBODY, KnownByColumns, LinkedPeople, truth_of
from discreet.attacks.table_columns import TableColumns, row_codes

ASKED = "QuasiIdentifiers"


@dataclass(frozen=True)
class QuasiIdentifiers(KnownByColumns):
    """The row that has all the values that are known of a person, if there is one alone.

    Parameters
    ----------
    known : table
        A row for each person: a data frame, or a mapping of columns.
    truth : sequence of int
        The row of each person in the target, to count what is right; -1 for who is not there.
    columns : sequence of str, optional
        Public. Those by which people are looked for; by default all that both tables have.

    Notes
    -----
    Sweeney 2002: date of birth, sex and ZIP code find most people of a voter list in medical records. A missing value
    agrees with nothing. One wrong value hides a person; `FellegiSunter` does not mind a few. A table of k-anonymous
    classes has at least k rows for everybody, and this attack keeps silent; see `Intersection`.

    Examples
    --------
    >>> released = {"born": [1950, 1960, 1960, 1971], "zip": ["02138", "02139", "02139", "02138"], "ill": [0, 1, 0, 1]}
    >>> voters = {"name": ["Ann", "Bob"], "born": [1971, 1960], "zip": ["02138", "02139"]}
    >>> result = QuasiIdentifiers(voters, [3, 1]).run(released)
    >>> result.right, result.wrong, result.details["rows alone"]
    (1, 0, 0.5)
    """

    known: Any = field(repr=False)
    truth: Sequence[int] = field(repr=False)
    columns: Sequence[str] | None = None
    paper: ClassVar[str] = "Sweeney, k-anonymity: a model for protecting privacy, 2002"
    threat: ClassVar[ThreatModel] = ThreatModel("the released table", "some columns of people, with their names")

    def run(self, target: Any) -> AttackResult:
        """Look for each person in a released table, a data frame or a mapping of columns."""
        start = time.perf_counter()
        released, known = TableColumns.of(ASKED, target), TableColumns.of(ASKED, self.known)
        truth = truth_of(ASKED, self.truth, len(known), len(released))
        rows, people = row_codes(released, known, released.named(self.columns, known))
        order = np.argsort(rows, kind="stable")
        first, last = (np.searchsorted(rows[order], people, side=side) for side in ("left", "right"))
        alone = (last - first == 1) & (people >= 0)
        answers = np.where(alone, order[first.clip(max=len(order) - 1)], NOBODY).astype(np.int64)
        groups = np.bincount(rows[rows >= 0], minlength=1)
        details = {"rows alone": float((groups == 1).sum() / len(rows))}
        linked, seconds = LinkedPeople(answers, alone.astype(np.float64)), time.perf_counter() - start
        return linked.result(ASKED, self.threat, truth, len(released), seconds, details)
