"""Two halves of a person's record joined through a synthetic table that lies near both."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import WORST, AttackResult
from discreet.attacks.control_rate import control_rate
from discreet.attacks.linkage.singling_out import evenly_spaced
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.attacks.table_columns import TableColumns, coded_numbers
from discreet.core.checks import check_seed, check_whole
from discreet.core.grid import Array

ASKED = "Linkability"
CELLS = 2**22  # distances that are held at a time
LITTLE = 1e-9  # what decides between rows at the same distance


@dataclass(frozen=True)
class Linkability:
    """Two halves of a record, held by two adversaries, that have one of their nearest synthetic records in common.

    Parameters
    ----------
    original : table
        The true records; the adversaries know the two halves of each.
    control : table
        Records like them that the target has not seen.
    first, second : sequence of str
        Public. The columns of each half.
    neighbors : int
        Public. How many of the nearest synthetic records are looked at.
    attacks : int
        Public. How many records are attacked at most, evenly spaced.
    random_state : int
        Public. Of the choice among synthetic records that are equally near.

    Notes
    -----
    Giomi, Boenisch, Wehmeyer and Tasnadi 2023; not checked against the paper. The distance is Gower's: numbers by the
    range of the synthetic column, texts and missing values 0 or 1. Chance is the upper end of the interval of the rate
    on the control.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> original, control = ({name: rng.normal(size=300) for name in "abcd"} for _ in range(2))
    >>> Linkability(original, control, first=["a", "b"], second=["c", "d"]).run(original).success
    1.0
    """

    original: Any = field(repr=False)
    control: Any = field(repr=False)
    first: Sequence[str]
    second: Sequence[str]
    neighbors: int = 1
    attacks: int = 1000
    random_state: int = 0
    paper: ClassVar[str] = "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, 2023"
    threat: ClassVar[ThreatModel] = ThreatModel("the synthetic table", "two halves of each record, apart")

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables of two columns and more: quasi-identifiers and the rest, or one half of columns and the other."""
        if not isinstance(material, TableMaterial):
            return None
        if material.others is None or len(material.columns) < 2:
            return Unfit("It needs two columns, and records of people who are not in the table: give --others.")
        known = [name for name in material.columns if name in material.roles.quasi_identifiers]
        first = known if 0 < len(known) < len(material.columns) else material.columns[: len(material.columns) // 2]
        rest = [name for name in material.columns if name not in first]
        attack = cls(material.named(material.original), material.named(material.others), first, rest)
        return Prepared(attack, material.named(material.released))

    def __post_init__(self) -> None:
        for name in ("neighbors", "attacks"):
            check_whole(ASKED, name, getattr(self, name))
        check_seed(ASKED, self.random_state)

    def run(self, target: Any) -> AttackResult:
        """Link through a released table, a data frame or a mapping of columns."""
        start = time.perf_counter()
        synthetic, original, control = (TableColumns.of(ASKED, one) for one in (target, self.original, self.control))
        halves = [synthetic.named(half, original, control) for half in (self.first, self.second)]
        size = min(int(self.attacks), len(original), len(control))
        places = np.arange(size) * len(original) // size
        chosen, other = evenly_spaced(ASKED, original.rows(places), control)
        linked, elsewhere = (self._linked(synthetic, table, halves) for table in (chosen, other))
        right = int(linked.sum())
        return AttackResult(
            ASKED,
            self.threat,
            "records of which both halves were joined",
            right,
            len(linked),
            control_rate(int(elsewhere.sum()), len(elsewhere)),
            time.perf_counter() - start,
            0,
            worst=tuple(places[linked][:WORST].tolist()),
            details={"rate on the control": float(elsewhere.mean())},
        )

    def _linked(self, synthetic: TableColumns, table: TableColumns, halves: list[tuple[str, ...]]) -> NDArray[np.bool_]:
        """Which rows have a synthetic record that is near both of their halves."""
        rng, number = np.random.default_rng(self.random_state), min(int(self.neighbors), len(synthetic))
        sides = [[coded_numbers(synthetic, table, name) for name in half] for half in halves]
        numbers = [[synthetic.is_number(name) for name in half] for half in halves]
        step, found = max(1, CELLS // len(synthetic)), list[bool]()
        for begin in range(0, len(table), step):
            near = [
                _nearest(own, kinds, slice(begin, begin + step), number, rng)
                for own, kinds in zip(sides, numbers, strict=True)
            ]
            found += [bool(set(one) & set(other)) for one, other in zip(*near, strict=True)]
        return np.array(found)


def _nearest(
    sides: list[tuple[Array, Array]], numbers: list[bool], rows: slice, number: int, rng: np.random.Generator
) -> list[list[int]]:
    """The nearest synthetic records of each row, in no order."""
    total = LITTLE * rng.random((len(sides[0][1][rows]), len(sides[0][0])))
    for (synthetic, known), is_number in zip(sides, numbers, strict=True):
        own = known[rows, None]
        if is_number:
            there = synthetic[np.isfinite(synthetic)]
            with np.errstate(invalid="ignore", over="ignore"):  # what is infinitely far is as far as can be
                width = float(np.ptp(there)) if len(there) else 0.0
                apart = np.abs(own - synthetic) / (width or 1.0)
        else:
            apart = (own != synthetic) * np.where(np.isnan(own + synthetic), np.nan, 1.0)
        total += np.where(np.isnan(apart), 1.0, apart)
    near: list[list[int]] = np.argpartition(total, number - 1, axis=1)[:, :number].tolist()
    return near
