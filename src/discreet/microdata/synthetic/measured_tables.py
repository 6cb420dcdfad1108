"""Noisy measurements of tables, the tables that they make, and what models of these tables share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np

from discreet.core.grid import Array
from discreet.microdata.synthetic.dealt_records import LEAST
from discreet.microdata.synthetic.nearest_tables import on_simplex
from discreet.microdata.synthetic.synthesis import MOST_ROWS, SynthesisModel
from discreet.microdata.synthetic.tree_model import fitted, pruned
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes
from discreet.questions.tables.residuals import AxisSet, MarginalResiduals, Measurement, closure, residual, subsets

NOTHING: AxisSet = frozenset()


@dataclass(frozen=True)
class MeasuredTables:
    """Noisy measurements of tables of counts, and the tables without negative counts that are made of them.

    The residuals of all tables (see `residuals`) are estimated by least squares, each measurement weighted by its
    information: so tables agree wherever they overlap. Then negative counts are taken off by the nearest ones that are
    not, in each table by itself, and the sums by single columns fitted again (Deming and Stephan 1940).

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    members : tuple of Measurement
        What was measured.
    numbers : tuple of arrays
        The noisy numbers of each.
    stddevs : tuple of float
        The deviation of the noise on each.
    sets : tuple of tuples
        The columns of the tables that are made, by their places.
    size : float, optional
        The number of records, where it is public.
    """

    codes: TableCodes
    members: tuple[Measurement, ...]
    numbers: tuple[Array, ...]
    stddevs: tuple[float, ...]
    sets: tuple[AxisPlaces, ...]
    size: float | None = None

    @classmethod
    def counted(
        cls, codes: TableCodes, sets: Sequence[AxisPlaces], tables: Sequence[Array], stddev: float, size: float | None
    ) -> MeasuredTables:
        """Tables that were counted cell by cell."""
        none = cls(codes, (), (), (), (), size)
        return none.and_counted(sets, tables, stddev)

    def and_counted(self, sets: Sequence[AxisPlaces], tables: Sequence[Array], stddev: float) -> MeasuredTables:
        """These, and more tables that were counted."""
        ascending = [table.transpose(np.argsort(axes)) for axes, table in zip(sets, tables, strict=True)]
        return dataclasses.replace(
            self,
            members=(*self.members, *(Measurement(frozenset(axes)) for axes in sets)),
            numbers=(*self.numbers, *ascending),
            stddevs=(*self.stddevs, *[stddev] * len(sets)),
            sets=(*self.sets, *map(tuple, sets)),
        )

    @cached_property
    def total(self) -> float:
        """The number of records: public, or as all measurements together have it."""
        if self.size is not None:
            return max(float(self.size), 1.0)
        return float(np.clip(self._fused.parts[NOTHING], 1.0, MOST_ROWS))

    @cached_property
    def _fused(self) -> MarginalResiduals:
        """The residuals of all tables, by least squares."""
        singles = [frozenset({place}) for place in range(len(self.codes.sizes))]
        spaces = dict.fromkeys(closure([*singles, *map(frozenset, self.sets)], self.codes.sizes), 0.0)
        parts: dict[AxisSet, Any] = dict.fromkeys(spaces, 0.0)
        for member, numbers, stddev in zip(self.members, self.numbers, self.stddevs, strict=True):
            for part in _informed(member, spaces):
                information = member.information(part, self.codes.sizes) / stddev**2
                parts[part] = parts[part] + information * member.estimate(numbers, part, self.codes.sizes)
                spaces[part] += information
        means = {part: own / spaces[part] for part, own in parts.items()}
        return MarginalResiduals(self.codes.sizes, means, {part: 1 / known for part, known in spaces.items()})

    @cached_property
    def residuals(self) -> MarginalResiduals:
        """The same, with the number of records as it is known."""
        parts = {**self._fused.parts, NOTHING: np.array(self.total)}
        return dataclasses.replace(self._fused, parts=parts)

    def unbiased(self, axes: AxisPlaces) -> Array:
        """A table as it was measured, made to agree with the others: a count may be negative, and is right on average.

        What is read off it has an error of known deviation, which taking negative counts off would turn into a bias.
        """
        return self.residuals.marginal(axes)

    @cached_property
    def margins(self) -> tuple[Array, ...]:
        """How many records are in each cell of each column."""
        return tuple(self._margin((place,)) for place in range(len(self.codes.sizes)))

    def _margin(self, axes: AxisPlaces) -> Array:
        deviation = math.sqrt(self.residuals.variance(axes))
        margin = on_simplex(pruned(self.unbiased(axes), deviation), self.total) + LEAST * self.total
        return margin * (self.total / margin.sum())

    @cached_property
    def tables(self) -> Mapping[AxisPlaces, Array]:
        """How many records are in each cell of each table."""
        wanted = dict.fromkeys(axes for axes in self.sets if len(axes) > 1)
        return {
            **{(place,): margin for place, margin in enumerate(self.margins)},
            **{axes: fitted(self.unbiased(axes), [self.margins[axis] for axis in axes]) for axes in wanted},
        }

    def again(self, generator: np.random.Generator) -> MeasuredTables:
        """What might have been measured, had the tables been these."""
        numbers = []
        for member, stddev in zip(self.members, self.stddevs, strict=True):
            exact = member.numbers(self._counts(member.axes), self.codes.sizes)
            numbers.append(exact + generator.normal(0, stddev, exact.shape))
        return dataclasses.replace(self, numbers=tuple(numbers))

    @cached_property
    def _made(self) -> Mapping[AxisSet, Array]:
        """The residuals of the tables without negative counts."""
        known = [(frozenset(axes), table.transpose(np.argsort(axes))) for axes, table in self.tables.items()]
        within = {part: next(own for own in known if part <= own[0]) for part in self._fused.parts}
        return {part: residual(table, axes, part) for part, (axes, table) in within.items()}

    def _counts(self, axes: AxisSet) -> Array:
        """The table of any columns in ascending order: as made, and as even as possible in all that was not made."""
        table = np.zeros([self.codes.sizes[axis] for axis in sorted(axes)])
        for part, own in self._made.items():
            if part <= axes:
                shape = [self.codes.sizes[axis] if axis in part else 1 for axis in sorted(axes)]
                table += own.reshape(shape) * (own.size / table.size)
        return table

    def to_notes(self) -> dict[str, Any]:
        """All of it, but for the cells, in a form that a ledger keeps."""
        return {
            "whole": [sorted(one.whole) for one in self.members],
            "contrasts": [sorted(one.contrasts) for one in self.members],
            "numbers": list(self.numbers),
            "stddevs": list(self.stddevs),
            "sets": [list(axes) for axes in self.sets],
            "size": self.size,
        }

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> MeasuredTables:
        """What was kept."""
        both = zip(notes["whole"], notes["contrasts"], strict=True)
        members = tuple(Measurement(frozenset(whole), frozenset(some)) for whole, some in both)
        numbers = tuple(np.asarray(own) for own in notes["numbers"])
        return cls(codes, members, numbers, tuple(notes["stddevs"]), tuple(map(tuple, notes["sets"])), notes["size"])


def _informed(member: Measurement, spaces: Mapping[AxisSet, float]) -> Iterator[AxisSet]:
    """The residuals that a measurement has information about."""
    if 2 ** len(member.whole) > len(spaces):
        return (space for space in spaces if member.contrasts <= space <= member.axes)
    return (space for part in subsets(member.whole) if (space := part | member.contrasts) in spaces)


@dataclass(frozen=True)
class MeasuredModel(SynthesisModel):
    """A distribution of records that is made from measured tables.

    Records are counted out of tables without negative counts. What a query reads are the tables as they were measured.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    total : float
        The number of records, public or noisy.
    counts : MeasuredTables
        What was measured.
    """

    codes: TableCodes
    total: float
    counts: MeasuredTables

    @classmethod
    def of(cls, counts: MeasuredTables) -> Self:
        """The model that tables make."""
        return cls(counts.codes, counts.total, counts)

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        return next((own for own in self.counts.tables if set(axes) <= set(own)), None)

    def table(self, axes: AxisPlaces) -> Array:
        return self.counts.unbiased(axes)

    def again(self, generator: np.random.Generator) -> Self:
        return type(self).of(self.counts.again(generator))

    def to_notes(self) -> dict[str, Any]:
        return self.counts.to_notes()

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> Self:
        return cls.of(MeasuredTables.of_notes(codes, notes))
