"""Arithmetic on a record's columns that is written down in SQL instead of done, for engines that do it themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from discreet.core.errors import ParameterError
from discreet.core.grid import Array

DOUBLE = "FLOAT8"
"""The type of all numbers, as DuckDB and PostgreSQL both call it; for another engine, its own name takes this place."""
COLUMN = re.compile(r"\bc([0-9]+)\b")
COUNTED = 8  # edges that are all compared, which takes less time than a search
GUARD = "/* guard */"
GUARDS = re.compile(rf" \+ \S+ {re.escape(GUARD)}")


@dataclass(frozen=True)
class Formula:
    """A number computed from one record, in SQL; NULL where the record has none.

    It takes the operators of an array, so one function of `Numbers` says what numpy and the engine do. Each operator is
    one operation of IEEE 754, and literals keep all their bits: both get the same numbers to the last one. What is
    written DuckDB and PostgreSQL read alike, if no operation overflows or underflows: PostgreSQL stops on that.

    Parameters
    ----------
    sql : str
        Public. An expression over c0, c1, ...: the decoded columns that a question reads, in its order.
    product : tuple of (str, float), optional
        Public. The two factors, where it is a product with a constant.
    chosen : tuple of (str, str), optional
        Public. A condition, and the number, where records that do not fulfil it have none.

    Examples
    --------
    >>> (0.5 * (1 - Formula.column(0))).sql
    '(0.5e0::FLOAT8 * (1.0e0::FLOAT8 - CAST(c0 AS FLOAT8)))'
    """

    sql: str
    product: tuple[str, float] | None = field(default=None, compare=False, repr=False)
    chosen: tuple[str, str] | None = field(default=None, compare=False, repr=False)
    __array_ufunc__ = None  # numpy leaves its operators to this class

    @classmethod
    def column(cls, place: int) -> Formula:
        """The number in a column."""
        return cls(f"CAST(c{place} AS {DOUBLE})")

    @classmethod
    def category(cls, place: int) -> Formula:
        """The place of a column's value in its public list, as a whole number."""
        return cls(f"CAST(c{place} AS INTEGER)")

    @classmethod
    def constant(cls, value: float) -> Formula:
        """The same number for every record."""
        if not math.isfinite(value):
            raise ParameterError("formula", f"a constant is {value}", "Give finite numbers.")
        digits = repr(abs(float(value)))
        literal = f"{digits}::{DOUBLE}" if "e" in digits else f"{digits}e0::{DOUBLE}"  # else PostgreSQL takes a decimal
        return cls(f"(-{literal})" if math.copysign(1.0, value) < 0 else literal)

    @property
    def places(self) -> set[int]:
        """The places of the columns that it reads.

        Examples
        --------
        >>> (Formula.column(3) * 2 + Formula.category(0)).places
        {0, 3}
        """
        return {int(place) for place in COLUMN.findall(self.sql)}

    def otherwise(self, value: float) -> Formula:
        """The number, or another one where the record has none."""
        return Formula(f"coalesce({self.sql}, {_written(value)})")

    def when(self, condition: str) -> Formula:
        """The number of records that fulfil a condition; the others have none."""
        return Formula(f"CASE WHEN {condition} THEN {self.sql} END", chosen=(condition, self.sql))

    def where(self, there: Formula) -> Formula:
        """The number where the record has the other one too."""
        return Formula(f"CASE WHEN {there.sql} IS NOT NULL THEN {self.sql} END")

    def between(self, lower: float, upper: float) -> Formula:
        """The number where it is between these two, or one of them."""
        return Formula(f"CASE WHEN {self.sql} BETWEEN {_written(lower)} AND {_written(upper)} THEN {self.sql} END")

    def moved(self, lower: float, upper: float) -> Formula:
        """The number, or the nearer of two bounds where it is outside; a negative zero becomes a plain one."""
        ends = ((sign, _written(end)) for sign, end in (("<", lower), (">", upper)))
        whens = " ".join(f"WHEN {self.sql} {sign} {end} THEN {end}" for sign, end in ends)
        return Formula(f"CASE {whens} ELSE {self.sql} + 0.0e0 END")

    def place_among(self, edges: Sequence[float] | Array) -> Formula:
        """How many of these edges, which ascend, are at or below the number: what `np.searchsorted` finds.

        Examples
        --------
        >>> Formula("x").place_among([1, 2]).sql
        '(CAST(x >= 1.0e0::FLOAT8 AS INTEGER) + CAST(x >= 2.0e0::FLOAT8 AS INTEGER))'
        """
        if 0 < len(edges) <= COUNTED:
            return Formula(f"({' + '.join(f'CAST({self.sql} >= {_written(one)} AS INTEGER)' for one in edges)})")
        return Formula(_place(self.sql, list(edges), 0)).where(self)

    def in_steps(self, exponent: int) -> Formula:
        """The number in steps of 2**exponent: a product with a constant becomes one with a larger or smaller constant.

        A power of two changes no digit of a product that is not so small that it loses some.

        Examples
        --------
        >>> (Formula.column(0) * 0.75).in_steps(-2).sql
        '(CAST(c0 AS FLOAT8) * 3.0e0::FLOAT8)'
        """
        scale = math.ldexp(1.0, -exponent)
        if self.product is None:
            return self * scale
        of, factor = self.product
        once = factor * scale
        return Formula(of) * once if _plain(factor) and _plain(once) else self * scale

    def named(self, names: Sequence[str]) -> Formula:
        """The same over other names of the columns.

        Examples
        --------
        >>> (Formula.column(1) - Formula.column(0)).named(["r7", "c1"]).sql
        '(CAST(c1 AS FLOAT8) - CAST(r7 AS FLOAT8))'
        """

        def renamed(sql: str) -> str:
            return COLUMN.sub(lambda found: names[int(found[1])], sql)

        chosen = None if self.chosen is None else (renamed(self.chosen[0]), renamed(self.chosen[1]))
        return Formula(renamed(self.sql), chosen=chosen)

    @property
    def unguarded(self) -> Formula:
        """The same for an engine that does not stop where a product underflows; see `never_tiny`.

        Examples
        --------
        >>> never_tiny(Formula.column(0), 1.0).unguarded.sql
        '(CAST(c0 AS FLOAT8))'
        """
        return Formula(GUARDS.sub("", self.sql))

    def __add__(self, other: Formula | float) -> Formula:
        return Formula(f"({self.sql} + {_written(other)})")

    def __radd__(self, other: float) -> Formula:
        return Formula(f"({_written(other)} + {self.sql})")

    def __sub__(self, other: Formula | float) -> Formula:
        return Formula(f"({self.sql} - {_written(other)})")

    def __rsub__(self, other: float) -> Formula:
        return Formula(f"({_written(other)} - {self.sql})")

    def __mul__(self, other: Formula | float) -> Formula:
        constant = None if isinstance(other, Formula) else (self.sql, float(other))
        return Formula(f"({self.sql} * {_written(other)})", constant)

    def __rmul__(self, other: float) -> Formula:
        return Formula(f"({_written(other)} * {self.sql})")

    def __truediv__(self, other: Formula | float) -> Formula:
        return Formula(f"({self.sql} / {_written(other)})")


NOUGHT = Formula.constant(0)


def row_after_row(places: Iterable[tuple[Formula, int]]) -> Formula:
    """The number of a cell, counted row after row, from its place on each axis and how many places that has.

    Examples
    --------
    >>> row_after_row([(Formula.category(0), 5), (NOUGHT, 1)]).sql
    'CAST(c0 AS INTEGER)'
    >>> row_after_row([(Formula.category(0), 5), (Formula.category(1), 2)]).sql
    '((CAST(c0 AS INTEGER) * 2.0e0::FLOAT8) + CAST(c1 AS INTEGER))'
    """
    number = NOUGHT
    for place, cells in places:
        if number == NOUGHT:
            number = place
        elif place != NOUGHT or cells > 1:
            number = number * cells + place
    return number


Numbers = TypeVar("Numbers", Array, Formula)
"""Numbers of many records, computed here; or of any record, computed by an engine."""


def never_tiny(numbers: Numbers, width: float) -> Numbers:
    """Numbers from 0 to a width; those that an engine computes are so far from zero that no product underflows.

    Added is less than half of the last place of any number above `width` * 2**-147, which stays what it is. A smaller
    one becomes another that is as small: so are all its products, which no grid distinguishes from zero. It is marked,
    for engines that can do without.
    """
    if not isinstance(numbers, Formula):
        return numbers
    return Formula(f"({numbers.sql} + {_written(width * 2.0**-200)} {GUARD})")


def for_squares(numbers: Numbers, width: float) -> Numbers:
    """Numbers of which only squares are used, from -width to width; see `never_tiny`."""
    return never_tiny(Formula(f"abs({numbers.sql})"), width) if isinstance(numbers, Formula) else numbers


def _plain(factor: float) -> bool:
    """Whether a factor is so far from both ends of float64 that a power of two takes no digit from it."""
    return 2.0**-500 < abs(factor) < 2.0**500


def _written(value: Formula | float) -> str:
    return value.sql if isinstance(value, Formula) else Formula.constant(value).sql


def _place(number: str, edges: list[float], first: int) -> str:
    """A binary search, spelt out."""
    if not edges:
        return str(first)
    middle = len(edges) // 2
    below, above = _place(number, edges[:middle], first), _place(number, edges[middle + 1 :], first + middle + 1)
    return f"CASE WHEN {number} >= {_written(edges[middle])} THEN {above} ELSE {below} END"


@dataclass(frozen=True)
class Tally:
    """A bounded sum in which each record adds to the numbers of one cell, as formulas.

    Parameters
    ----------
    cell : Formula
        Public. The cell of a record, 0 ... cells - 1; a record without one adds nothing.
    cells : int
        Public. How many cells there are.
    values : tuple of Formula
        Public. What a record adds to each number of its cell, before it is cut to the grid; nothing where it is NULL.
        These may never exceed the question's bound: an engine does not clip. Number j of cell i is coordinate
        i * len(values) + j of the sum.
    before : tuple of tuples of Formula
        Public. What is computed first, one after the other: each makes new columns c0, c1, ... of those before it.
    """

    cell: Formula
    cells: int
    values: tuple[Formula, ...]
    before: tuple[tuple[Formula, ...], ...] = ()
