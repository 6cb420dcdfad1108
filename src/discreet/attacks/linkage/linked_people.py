"""Which row an adversary says that each person is in, and whether that is so."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

NOBODY = -1  # where the adversary keeps silent, or a person is not in the target
Places = NDArray[np.int64]


@dataclass(frozen=True)
class LinkedPeople:
    """One answer for each person whom the adversary looks for.

    Parameters
    ----------
    answers : array of int
        The row of the target that is named, -1 where the adversary keeps silent.
    strength : array
        How sure the adversary is; the surest of the right answers are worst off.
    """

    answers: Places = field(repr=False)
    strength: Array = field(repr=False)

    def result(
        self, attack: str, threat: ThreatModel, truth: Places, rows: int, seconds: float, details: Mapping[str, Any]
    ) -> AttackResult:
        """What that achieved, where the truth is each person's row, and -1 for who is not in the target."""
        right = (self.answers == truth) & (truth != NOBODY)
        answered = self.answers != NOBODY
        wrong = int((answered & ~right).sum())
        order = np.argsort(-self.strength, kind="stable")
        worst = tuple(truth[order][right[order]][:WORST].tolist())
        figures = {"answered": float(answered.mean()), **details}
        return AttackResult(
            attack,
            threat,
            "people linked to their row",
            int(right.sum()),
            len(truth),
            1 / max(rows, 1),
            seconds,
            0,
            wrong=wrong,
            worst=worst,
            details=figures,
        )


def rows_of_people(asked: str, truth: Any) -> Places:
    """The rows of people, checked: whole numbers, -1 for who is not in the target."""
    found = np.asarray(truth)
    if found.ndim != 1 or not found.size or found.dtype.kind not in "iu" or found.min() < NOBODY:
        raise ParameterError(asked, "truth has no row for each person", "Give whole numbers; -1 for who is not there.")
    return found.astype(np.int64)


def truth_of(asked: str, truth: Sequence[int], people: int, rows: int) -> Places:
    """The row of each person, checked: as many as are known, each in the target or -1."""
    found = rows_of_people(asked, truth)
    if len(found) != people or found.max() >= rows:
        obstacle = f"{people} people are known, {len(found)} have a row, and the target has {rows}"
        raise ParameterError(asked, obstacle, "Give the row of each person, below the number of rows; -1 for nobody.")
    return found


class KnownByColumns:
    """An attack by columns that somebody knows of people, whose rows in the target are numbered."""

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables with a row for each original record, of which others know the quasi-identifiers."""
        if not isinstance(material, TableMaterial):
            return None
        names = tuple(name for name in material.roles.quasi_identifiers if name in material.columns)
        if not names:
            return Unfit('It needs columns that others know: give them the role "quasi-identifier" in the schema.')
        if not material.row_by_row:
            return Unfit("It needs a table with a row for each original record, in their order.")
        known = material.named(material.original)
        truth = range(len(material.original))
        attack: Any = cls({name: known[name] for name in names}, truth, names)  # type: ignore[call-arg]
        return Prepared(attack, material.named(material.released))
