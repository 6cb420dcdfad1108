"""The log-linear model that is nearest to noisy tables which overlap."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.clique_tree import CliqueTree, summed, triangulated
from discreet.microdata.synthetic.known_counts import KnownCounts
from discreet.microdata.synthetic.synthesis import SynthesisModel, total_of
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

HALVINGS, GROWTH, DONE, LEAST_STEPS = 25, 1.3, 1e-4, 10  # of the descent
AGAIN = 60  # steps of fitting to counts that were drawn again


@dataclass(frozen=True)
class NoisyCounts:
    """A table of noisy counts.

    Parameters
    ----------
    axes : tuple of int
        Its columns, by their places, ascending.
    counts : array
        The counts.
    stddev : float
        Of the noise.
    """

    axes: AxisPlaces
    counts: Array
    stddev: float


@dataclass(frozen=True)
class JunctionModel(SynthesisModel):
    """The distribution that is nearest to noisy tables, of those with a factor for each table.

    Its logarithm is a sum of potentials, one for each set of columns that was counted. They minimise the weighted
    squares of the distances between its tables and the noisy ones, by mirror descent (McKenna, Sheldon and Miklau
    2019), with step lengths that are halved until a step is worth it.

    Parameters
    ----------
    codes : TableCodes
        The cells of the columns.
    noisy : tuple of NoisyCounts
        What was counted, first the columns by themselves.
    total : float
        The number of records, public or noisy.
    kept : tuple of int
        How many cells of each column have records: where missing values were not seen, their cell is left out.
    potentials : mapping of sets of columns to array
        What was fitted, for each set that was counted.
    size : float, optional
        The number of records, where it is public.
    """

    codes: TableCodes
    noisy: tuple[NoisyCounts, ...]
    total: float
    kept: tuple[int, ...]
    potentials: Mapping[AxisPlaces, Array]
    size: float | None = None
    copies: ClassVar[int] = 32

    @classmethod
    def start(
        cls,
        codes: TableCodes,
        noisy: Sequence[NoisyCounts],
        total: float,
        kept: Sequence[int],
        size: float | None = None,
    ) -> JunctionModel:
        """One that is not fitted yet."""
        return cls(codes, tuple(noisy), total, tuple(kept), {}, size)

    def with_table(self, more: NoisyCounts) -> JunctionModel:
        """With one more table, which is not fitted yet."""
        return dataclasses.replace(self, noisy=(*self.noisy, more))

    @cached_property
    def sets(self) -> tuple[AxisPlaces, ...]:
        """The sets of columns that were counted."""
        return tuple(dict.fromkeys(own.axes for own in self.noisy))

    @cached_property
    def tree(self) -> CliqueTree:
        return CliqueTree(self.kept, triangulated(self.kept, self.sets))

    @cached_property
    def homes(self) -> dict[AxisPlaces, int]:
        """The clique that each set is part of."""
        return self.tree.homes(self.sets)

    @cached_property
    def tables(self) -> list[Array]:
        """How many records are in each cell of each clique."""
        return self.tree.tables(self._assembled(self.potentials), self.total)

    def _assembled(self, potentials: Mapping[AxisPlaces, Array]) -> list[Array]:
        """The potentials of cliques."""
        found = [np.zeros(self.tree.shape(place)) for place in range(len(self.tree.cliques))]
        for axes, own in potentials.items():
            found[self.homes[axes]] += self.tree.spread(own, axes, self.homes[axes])
        return found

    @cached_property
    def _aims(self) -> dict[AxisPlaces, tuple[float, Array]]:
        """For each set the sum of its weights, and of its weighted counts."""
        found: dict[AxisPlaces, tuple[float, Array]] = {}
        for own in self.noisy:
            weight, counts = own.stddev**-2, own.counts[tuple(slice(self.kept[axis]) for axis in own.axes)]
            before, aims = found.get(own.axes, (0.0, np.zeros(counts.shape)))
            found[own.axes] = before + weight, aims + weight * counts
        return found

    def _sums(self, tables: Sequence[Array]) -> dict[AxisPlaces, Array]:
        """What cliques say of each set."""
        return {axes: summed(tables[home], self.tree.cliques[home], axes) for axes, home in self.homes.items()}

    def _slopes(self, sums: Mapping[AxisPlaces, Array]) -> tuple[float, dict[AxisPlaces, Array]]:
        """The weighted squares of all distances, and how they change with the counts."""
        slopes = {axes: weight * sums[axes] - aims for axes, (weight, aims) in self._aims.items()}
        loss = sum(0.5 * np.square(slope).sum() / self._aims[axes][0] for axes, slope in slopes.items())
        return float(loss), slopes

    def fitted(self, steps: int) -> JunctionModel:
        """After so many steps of descent, or fewer, where they hardly change anything any more."""
        empty = {axes: np.zeros(aims.shape) for axes, (_, aims) in self._aims.items()}
        potentials = {axes: self.potentials.get(axes, none) for axes, none in empty.items()}
        sums = self._sums(self.tree.tables(self._assembled(potentials), self.total))
        loss, slopes = self._slopes(sums)
        length = 2 / (self.total * max(weight for weight, _ in self._aims.values()))
        for step in range(steps):
            for _ in range(HALVINGS):
                tried = {axes: potentials[axes] - length * slope for axes, slope in slopes.items()}
                found = self._sums(self.tree.tables(self._assembled(tried), self.total))
                less, steeper = self._slopes(found)
                gain = sum((slope * (sums[axes] - found[axes])).sum() for axes, slope in slopes.items())
                if less <= loss - 0.5 * gain:
                    break
                length /= 2
            else:
                break
            done = step > LEAST_STEPS and loss - less < DONE * loss
            potentials, sums, slopes, loss, length = tried, found, steeper, less, length * GROWTH
            if done:
                break
        return dataclasses.replace(self, potentials=potentials)

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        having = [own for own in self.sets if set(axes) <= set(own)]
        return min(having, key=self.codes.cells, default=None)

    def table(self, axes: AxisPlaces) -> Array:
        home = self.homes[axes]
        found = np.zeros([self.codes.sizes[axis] for axis in axes])
        found[tuple(slice(self.kept[axis]) for axis in axes)] = summed(self.tables[home], self.tree.cliques[home], axes)
        return found

    def known(self, axes: AxisPlaces) -> KnownCounts:
        """By the mean of all tables that have these columns, each weighted by the inverse of its variance."""
        having = [own for own in self.noisy if set(axes) <= set(own.axes)]
        finer = [self.codes.cells(own.axes) // self.codes.cells(axes) for own in having]
        known = np.array([1 / (number * own.stddev**2) for own, number in zip(having, finer, strict=True)])
        weights = known / known.sum()
        sums = [weight * summed(own.counts, own.axes, axes) for own, weight in zip(having, weights, strict=True)]
        stddevs = [float(weight) * own.stddev for own, weight in zip(having, weights, strict=True)]
        return KnownCounts(np.asarray(sum(sums)), tuple(zip(stddevs, finer, strict=True)))

    def likelihood(self, places: Steps) -> Array:
        return self.tree.likelihood(self.tables, np.minimum(places, np.array(self.kept) - 1))

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        return self.tree.counted_out(self.tables, rows, generator)

    def again(self, generator: np.random.Generator) -> JunctionModel:
        """Fitted to counts that were drawn again, and to the number of records that those of columns say."""
        noisy = tuple(
            dataclasses.replace(own, counts=self.table(own.axes) + generator.normal(0, own.stddev, own.counts.shape))
            for own in self.noisy
        )
        ones = [own.counts for own in noisy if len(own.axes) == 1][: len(self.kept)]
        return dataclasses.replace(self, noisy=noisy, total=total_of(ones, self.size)).fitted(AGAIN)

    def to_notes(self) -> dict[str, Any]:
        return {
            "sets": [list(own.axes) for own in self.noisy],
            "counts": [own.counts for own in self.noisy],
            "noise": [own.stddev for own in self.noisy],
            "total": self.total,
            "size": self.size,
            "kept": list(self.kept),
            "fitted": [list(axes) for axes in self.potentials],
            "potentials": list(self.potentials.values()),
        }

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> JunctionModel:
        rows = zip(notes["sets"], notes["counts"], notes["noise"], strict=True)
        noisy = tuple(NoisyCounts(tuple(axes), np.asarray(counts), stddev) for axes, counts, stddev in rows)
        fitted = zip(notes["fitted"], notes["potentials"], strict=True)
        potentials = {tuple(axes): np.asarray(own) for axes, own in fitted}
        size = notes.get("size", notes["total"])  # of a table that was kept without it, the total is not drawn again
        return cls(codes, noisy, notes["total"], tuple(notes["kept"]), potentials, size)
