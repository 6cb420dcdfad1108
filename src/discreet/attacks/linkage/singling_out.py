"""Conditions that hold for one person alone, read from a synthetic table."""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.control_rate import control_rate
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.attacks.table_columns import TableColumns, Values
from discreet.core.checks import check_seed, check_whole
from discreet.core.errors import ParameterError

ASKED = "SinglingOut"
TRIES = 10  # conditions that are drawn for each that is wanted
FEWEST = 10  # records of the control


@dataclass(frozen=True)
class SinglingOut:
    """Conditions that single out one synthetic record, and by which one true record is singled out too.

    A condition joins some columns of a random synthetic record: equal for texts, at least or at most for numbers,
    whichever side of the median is shorter. Those that hold for one synthetic record alone are the guesses. A guess is
    right if it holds for one record of the original alone.

    Parameters
    ----------
    original : table
        The true records, to count what is right.
    control : table
        Records like them that the target has not seen. Conditions that single out one of these as often say nothing
        about the records of the target.
    columns : sequence of str, optional
        Public. Those that conditions may use; by default all that the tables share.
    width : int
        Public. How many columns a condition joins.
    guesses : int
        Public. How many are made.
    random_state : int
        Public. Of the conditions.

    Notes
    -----
    Singling out and its control as in Giomi, Boenisch, Wehmeyer and Tasnadi 2023; not checked against the paper. How
    often one record is singled out depends on how many there are, so as many of the original as of the control are
    looked at, evenly spaced. Chance is the upper end of the interval of the rate on the control. A condition that holds
    for no synthetic record alone is no guess, and counts as a failure in both.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> original, control, fresh = ({name: rng.normal(size=300) for name in "abcd"} for _ in range(3))
    >>> attack = SinglingOut(original, control, guesses=100)
    >>> attack.run(original).beats_chance, attack.run(fresh).beats_chance
    (True, False)
    """

    original: Any = field(repr=False)
    control: Any = field(repr=False)
    columns: Sequence[str] | None = None
    width: int = 3
    guesses: int = 500
    random_state: int = 0
    paper: ClassVar[str] = "Giomi et al., A unified framework for quantifying privacy risk in synthetic data, 2023"
    threat: ClassVar[ThreatModel] = ThreatModel("the synthetic table", "nothing")

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables, where records that are not among the original ones are given."""
        if not isinstance(material, TableMaterial):
            return None
        if material.others is None:
            return Unfit("It needs records of people who are not in the table: give --others.")
        attack = cls(material.named(material.original), material.named(material.others))
        return Prepared(attack, material.named(material.released))

    def __post_init__(self) -> None:
        check_whole(ASKED, "width", self.width)
        check_whole(ASKED, "guesses", self.guesses)
        check_seed(ASKED, self.random_state)

    def run(self, target: Any) -> AttackResult:
        """Guess from a released table, a data frame or a mapping of columns."""
        start = time.perf_counter()
        tables = [TableColumns.of(ASKED, table) for table in (target, self.original, self.control)]
        synthetic, original, control = tables
        names = synthetic.named(self.columns, original, control)
        original, control = evenly_spaced(ASKED, original, control)
        guessed = list(self._guessed(synthetic, names))
        rows = [_only(original, condition) for condition in guessed]
        elsewhere = sum(_only(control, condition) is not None for condition in guessed)
        found = [row for row in rows if row is not None]
        count = int(self.guesses)
        return AttackResult(
            ASKED,
            self.threat,
            "conditions that hold for one true record alone",
            len(found),
            count,
            control_rate(elsewhere, count),
            time.perf_counter() - start,
            0,
            details={"rate on the control": elsewhere / count, "guesses that were found": len(guessed)},
        )

    def _guessed(self, synthetic: TableColumns, names: tuple[str, ...]) -> Iterator[RowCondition]:
        """Different conditions that hold for one synthetic record alone, until there are enough."""
        rng, seen = np.random.default_rng(self.random_state), set[tuple[Any, ...]]()
        width = min(int(self.width), len(names))
        medians = {name: _median(synthetic[name]) for name in names if synthetic.is_number(name)}
        found = 0
        for _ in range(TRIES * int(self.guesses)):
            row, own = int(rng.integers(len(synthetic))), rng.choice(len(names), width, replace=False)
            condition = RowCondition.of(synthetic, row, [names[place] for place in sorted(own)], medians)
            if condition.key in seen or _only(synthetic, condition) is None:
                continue
            seen.add(condition.key)
            found += 1
            yield condition
            if found == self.guesses:
                return


@dataclass(frozen=True)
class RowCondition:
    """What joins some columns: texts equal, and numbers at least or at most a value.

    Parameters
    ----------
    parts : tuple of (str, str, value)
        Column, sign and value.
    """

    parts: tuple[tuple[str, str, Any], ...]

    @classmethod
    def of(cls, table: TableColumns, row: int, names: list[str], medians: dict[str, float]) -> RowCondition:
        """That of a row: numbers above the median are held from below."""
        signs = ["==" if name not in medians else ">=" if table[name][row] > medians[name] else "<=" for name in names]
        return cls(tuple((name, sign, table[name][row]) for name, sign in zip(names, signs, strict=True)))

    @property
    def key(self) -> tuple[Any, ...]:
        """What two conditions share that are one."""
        return tuple((name, sign, str(value)) for name, sign, value in self.parts)

    def holds(self, table: TableColumns) -> NDArray[np.intp]:
        """The rows for which it holds; a missing value is equal to a missing one, and on no side of a number."""
        rows = np.arange(len(table))
        for name, sign, value in self.parts:
            rows = rows[_compared(table[name][rows], sign, value)]
        return rows


def evenly_spaced(asked: str, *tables: TableColumns) -> list[TableColumns]:
    """As many rows of each table as the smallest has, in their order; ten at least."""
    size = min(map(len, tables))
    if size < FEWEST:
        raise ParameterError(asked, f"a table has {size} records", f"Give at least {FEWEST} of each.", needed=FEWEST)
    return [table.rows(np.arange(size) * len(table) // size) for table in tables]


def _only(table: TableColumns, condition: RowCondition) -> int | None:
    rows = condition.holds(table)
    return int(rows[0]) if len(rows) == 1 else None


def _compared(values: Values, sign: str, value: Any) -> NDArray[np.bool_]:
    if sign == "==":
        return np.asarray(values == value, dtype=np.bool_)
    return values >= value if sign == ">=" else values <= value


def _median(values: Values) -> float:
    there = values[np.isfinite(values)]
    return float(np.median(there)) if len(there) else np.nan
