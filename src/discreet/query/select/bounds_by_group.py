"""Bounds of a column that differ by group: what a record adds is moved by no more than its group's bounds allow.

Inside its group a number is moved to its place between the bounds, from 0 to 1; statistics of places are released, and
moved back, group by group. So the noise on each group is in proportion to its own bounds, and not to the widest.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from discreet.core.checks import check_by_name
from discreet.core.condition import name_of
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.releases.columns import Series
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import RowStatistic
from discreet.schema.schema import Category
from discreet.trust.private_data import PrivateData

ASKED = "bounds by group"
GroupEnds = tuple[float, float]
MOVED = ("mean", "median", "quantile", "minimum", "maximum")
SCALED = {"standard_deviation": 1, "variance": 2}


@dataclass(frozen=True)
class BoundsByGroup:
    """Records whose columns have bounds of their own in each group, and what is asked of their places between these.

    Parameters
    ----------
    data : PrivateData
        The records, with a column of places for each of them.
    statistics : tuple of RowStatistic
        Public. Of places, where bounds are by group.
    by : str, optional
        Public. The column that makes groups.
    ends : mapping of str to mappings
        Public. The bounds of each group, by the label of a statistic.
    """

    data: PrivateData
    statistics: tuple[RowStatistic, ...]
    by: str | None
    ends: Mapping[str, Mapping[str, GroupEnds]]

    @classmethod
    def over(
        cls,
        data: PrivateData,
        by: tuple[str, ...],
        bounds: Mapping[str, Mapping[str, GroupEnds]],
        statistics: tuple[RowStatistic, ...],
    ) -> BoundsByGroup:
        """With a column of places for each column that has bounds by group."""
        if not bounds:
            return cls(data, statistics, None, {})
        if len(by) != 1 or not isinstance(data.schema.columns.get(by[0]), Category):
            obstacle = f"groups are by {' and '.join(by) or 'nothing'}"
            raise NotPermitted(ASKED, obstacle, "Group by one column with listed values.")
        places: dict[str, str] = {}
        for column, ends in bounds.items():
            check_by_name(ASKED, f"those of {column:.60}", ends)
            if not any(one.column == column for one in statistics):
                raise ParameterError(ASKED, f"nothing is asked of {column!r:.60}", "Leave its bounds out.")
            places[column] = next(
                name for i in range(len(data.schema.columns) + 1) if (name := f"place_{i}") not in data.schema.columns
            )
            text = _place(data, column, by[0], ends)
            data = data.derive(bounds={places[column]: (0.0, 1.0)}, **{places[column]: text})
        asked = tuple(_of_places(one, places) for one in statistics)
        own = {one.label: bounds[one.column] for one in statistics if one.column is not None and one.column in bounds}
        return cls(data, asked, by[0], {label: dict(ends) for label, ends in own.items()})

    def restored(self, table: Table) -> Table:
        """The table with statistics of places moved back between the bounds of each group."""
        if self.by is None:
            return table
        series = [
            _restored(one, self._statistic(one.name), [self.ends[one.name][label] for label in table.labels[self.by]])
            if one.name in self.ends
            else one
            for one in table.series
        ]
        return dataclasses.replace(table, series=tuple(series))

    def _statistic(self, label: str) -> str:
        return next(one.statistic for one in self.statistics if one.label == label)


def _place(data: PrivateData, column: str, by: str, ends: Mapping[str, GroupEnds]) -> str:
    """The place of a number between the bounds of its record's group, as an expression."""
    values = data.schema.category(by).values
    number = data.schema.number(column)
    if set(ends) != set(values):
        obstacle = f"bounds of {column} are given for {', '.join(map(str, ends)) or 'no group'}"
        raise ParameterError(ASKED, obstacle, f"Give them for {', '.join(values)}, each.")
    whens = []
    for value in values:
        try:
            lower, upper = (float(end) for end in ends[value])
        except (TypeError, ValueError):
            raise ParameterError(
                ASKED, f"those of {value!r:.40} are {ends[value]!r:.60}", "Give two numbers."
            ) from None
        if not (math.isfinite(lower) and math.isfinite(upper) and number.lower <= lower < upper <= number.upper):
            remedy = f"Give two numbers from {number.lower:g} to {number.upper:g}, the lower first."
            raise ParameterError(ASKED, f"those of {value!r:.40} are {lower:g} and {upper:g}", remedy)
        moved = f"least(greatest({name_of(column)}, {lower!r}), {upper!r})"
        shown = value.replace("'", "''")
        whens.append(f"when {name_of(by)} == '{shown}' then ({moved} - {lower!r}) / {upper - lower!r}")
    return f"case {' '.join(whens)} end"


def _of_places(one: RowStatistic, places: Mapping[str, str]) -> RowStatistic:
    if one.column is None or one.column not in places:
        return one
    if one.statistic not in (*MOVED, *SCALED):
        obstacle = f"{one.statistic.replace('_', ' ')} is not moved between bounds"
        raise NotPermitted(ASKED, obstacle, f"Ask for one of {', '.join([*MOVED, *SCALED])}.")
    options = tuple((name, places[one.column] if name == "column" else value) for name, value in one.options)
    return dataclasses.replace(one, options=options)


def _restored(series: Series, statistic: str, ends: list[GroupEnds]) -> Series:
    lower = np.array([float(one[0]) for one in ends])
    width = np.array([float(one[1]) - float(one[0]) for one in ends])
    factor, offset = (width ** SCALED[statistic], 0.0 * lower) if statistic in SCALED else (width, lower)

    def moved(values: Array | None, by: Array) -> Array | None:
        return None if values is None else values * factor + by

    return dataclasses.replace(
        series,
        values=series.values * factor + offset,
        standard_error=moved(series.standard_error, 0.0 * lower),
        low=moved(series.low, offset),
        high=moved(series.high, offset),
    )
