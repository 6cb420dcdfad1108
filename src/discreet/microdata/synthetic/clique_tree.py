"""Cliques of columns, joined to a tree, and the tables that a log-linear model has on them."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from itertools import combinations

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.dealt_records import alike, dealt_out
from discreet.questions.tables.coded_tables import AxisPlaces

TINY = 1e-300


def triangulated(sizes: Sequence[int], sets: Iterable[AxisPlaces]) -> tuple[AxisPlaces, ...]:
    """Cliques that hold all these sets of columns and can be joined to a tree: columns are taken out one by one.

    First those that add no connection between others; else the one whose table is smallest.

    Examples
    --------
    >>> triangulated([2, 2, 2, 2], [(0, 1), (1, 2), (2, 3), (0, 3)])
    ((0, 1, 3), (1, 2, 3))
    """
    near = [0] * len(sizes)
    for axes in sets:
        own = sum(1 << axis for axis in axes)
        for axis in axes:
            near[axis] |= own & ~(1 << axis)
    return tuple(_places(clique) for clique in _eliminated(sizes, near))


def cells_with(sizes: Sequence[int], cliques: Iterable[AxisPlaces], more: AxisPlaces) -> int:
    """How many cells all cliques have together, if one more set of columns is added."""
    return sum(math.prod(sizes[axis] for axis in clique) for clique in triangulated(sizes, (*cliques, more)))


def _eliminated(sizes: Sequence[int], near: list[int]) -> list[int]:
    """The cliques, as bits; what is near each column is used up."""
    left, found = list(range(len(sizes))), list[int]()
    while left:
        best = next((axis for axis in left if not _joins(near, near[axis])), -1)
        if best < 0:
            best = min(left, key=lambda axis: (sizes[axis] * _cells(sizes, near[axis]), axis))
        clique = near[best] | 1 << best
        for axis in _places(near[best]):
            near[axis] = (near[axis] | near[best]) & ~(1 << axis) & ~(1 << best)
        left.remove(best)
        if not any(clique & ~other == 0 for other in found):
            found.append(clique)
    return found


def _joins(near: Sequence[int], own: int) -> bool:
    """Whether taking a column out joins two that were apart."""
    return any(own & ~near[axis] & ~(1 << axis) for axis in _places(own))


def _cells(sizes: Sequence[int], own: int) -> int:
    return math.prod(sizes[axis] for axis in _places(own))


@lru_cache(maxsize=2**14)
def _places(own: int) -> tuple[int, ...]:
    return tuple(place for place in range(own.bit_length()) if own >> place & 1)


def summed(table: Array, clique: AxisPlaces, axes: AxisPlaces) -> Array:
    """The sums of a clique's table over all columns but these, in this order."""
    if axes == clique:
        return table
    ascending = tuple(sorted(axes))
    sums: Array = np.add.reduce(table, axis=tuple(place for place, axis in enumerate(clique) if axis not in axes))
    return sums if axes == ascending else np.transpose(sums, [ascending.index(axis) for axis in axes])


@dataclass(frozen=True)
class CliqueTree:
    """Cliques in the order of a tree: what a clique shares with all before it, it shares with its parent.

    Parameters
    ----------
    sizes : tuple of int
        The number of cells of each column.
    cliques : tuple of tuples
        The columns of each clique, ascending, as `triangulated` gives them.
    """

    sizes: tuple[int, ...]
    cliques: tuple[AxisPlaces, ...]

    @cached_property
    def order(self) -> tuple[tuple[int, int, AxisPlaces], ...]:
        """Each clique, the one before it that it hangs on, or -1, and the columns that they share."""
        links = sorted(
            combinations(range(len(self.cliques)), 2), key=lambda ends: -len(self._shared(*ends))
        )  # a spanning tree of most shared columns
        parts, near = list(range(len(self.cliques))), [list[int]() for _ in self.cliques]
        for one, other in links:
            if parts[one] != parts[other]:
                near[one].append(other)
                near[other].append(one)
                parts = [parts[one] if part == parts[other] else part for part in parts]
        found, waiting = list[tuple[int, int, AxisPlaces]](), [(0, -1)]
        while waiting:
            place, before = waiting.pop()
            found.append((place, before, () if before < 0 else self._shared(place, before)))
            waiting += [(other, place) for other in near[place] if other != before]
        return tuple(found)

    def _shared(self, one: int, other: int) -> AxisPlaces:
        return tuple(axis for axis in self.cliques[one] if axis in self.cliques[other])

    def home(self, axes: AxisPlaces) -> int | None:
        """The smallest clique that has all these columns, if there is one."""
        having = [place for place, clique in enumerate(self.cliques) if set(axes) <= set(clique)]
        return min(having, key=lambda place: math.prod(self.shape(place)), default=None)

    def shape(self, place: int) -> tuple[int, ...]:
        return tuple(self.sizes[axis] for axis in self.cliques[place])

    def spread(self, table: Array, axes: AxisPlaces, place: int) -> Array:
        """A table of some columns, in ascending order, in a form that is added to a clique's."""
        return table.reshape([self.sizes[axis] if axis in axes else 1 for axis in self.cliques[place]])

    def tables(self, potentials: Sequence[Array], total: float) -> list[Array]:
        """How many records are in each cell of each clique, from the logarithms of its factors: two sweeps.

        Lauritzen and Spiegelhalter 1988, with the greatest logarithm taken off before each exponential.
        """
        own = list(potentials)
        up: dict[int, Array] = {}
        for place, before, shared in reversed(self.order):
            if before >= 0:
                up[place] = _log_sums(own[place], self.cliques[place], shared)
                own[before] = own[before] + self.spread(up[place], shared, before)
        found: list[Array] = [np.empty(0)] * len(own)
        for place, before, shared in self.order:
            if before >= 0:
                known = np.log(summed(found[before], self.cliques[before], shared) + TINY)
                own[place] = own[place] + self.spread(known - up[place], shared, place)
            found[place] = np.exp(own[place] - own[place].max())
            found[place] *= total / found[place].sum()
        return found

    @cached_property
    def _tour(self) -> tuple[tuple[int, int, AxisPlaces], ...]:
        """The way around the tree: the clique that is reached, the one that it is reached from, what they share."""
        above = {place: (before, shared) for place, before, shared in self.order}
        found, here = list[tuple[int, int, AxisPlaces]](), self.order[0][0]
        for place, before, shared in (*self.order[1:], (-1, self.order[0][0], ())):
            while here != before:
                found.append((above[here][0], here, above[here][1]))
                here = above[here][0]
            found.append((place, before, shared))
            here = place
        return tuple(found[:-1])

    def proportional(self, aims: Mapping[AxisPlaces, Array], start: Sequence[Array], sweeps: int) -> list[Array]:
        """Tables of cliques whose sums are these, as nearly as any are, with no other dependence than they ask for.

        By iterative proportional fitting, clique after clique around the tree (Jirousek and Preucil 1995).

        Parameters
        ----------
        aims : mapping of sets of columns to array
            The sums, of sets of which each is in a clique; all are positive and have the same total.
        start : sequence of arrays
            The tables that it starts from; they agree.
        sweeps : int
            How often it goes around.
        """
        found, own = list(start), [list[AxisPlaces]() for _ in self.cliques]
        for axes in aims:
            own[self.homes([axes])[axes]].append(axes)

        def moved(place: int, before: int, shared: AxisPlaces) -> None:
            sums = summed(found[before], self.cliques[before], shared)
            found[place] = self._with_sums(found[place], place, shared, sums)

        for _ in range(sweeps):
            for place, before, shared in ((self.order[0][0], -1, ()), *self._tour):
                if before >= 0:
                    moved(place, before, shared)
                if (place, before, shared) in self.order:  # on the way down
                    for axes in own[place]:
                        found[place] = self._with_sums(found[place], place, axes, aims[axes])
        for place, before, shared in self.order[1:]:
            moved(place, before, shared)
        return found

    def _with_sums(self, table: Array, place: int, axes: AxisPlaces, sums: Array) -> Array:
        """A clique's table times a factor for each cell of some of its columns, so that their sums are these."""
        if not axes:
            return table
        return table * self.spread(sums / (summed(table, self.cliques[place], axes) + TINY), axes, place)

    def homes(self, sets: Iterable[AxisPlaces]) -> dict[AxisPlaces, int]:
        """The smallest clique that has each of these sets, of those that are in any."""
        found = {axes: self.home(axes) for axes in sets}
        return {axes: place for axes, place in found.items() if place is not None}

    def counted_out(self, tables: Sequence[Array], rows: int, generator: np.random.Generator) -> Steps:
        """Records, a cell for each column, clique after clique, each given what it shares with those before."""
        found = np.zeros((rows, len(self.sizes)), dtype=np.int64, order="F")
        made: tuple[int, ...] = ()
        for place, before, shared in self.order:
            fresh = tuple(axis for axis in self.cliques[place] if axis not in shared)
            table = summed(tables[place], self.cliques[place], (*shared, *fresh))
            near = dict.fromkeys((*shared, *(self.cliques[before] if made else ()), *made[::-1]))
            groups, codes = alike(found, self.sizes, shared), alike(found, self.sizes, near)
            cells = dealt_out(table.reshape(math.prod(table.shape[: len(shared)]), -1), groups, generator, codes)
            for axis in reversed(fresh):
                found[:, axis] = cells % self.sizes[axis]
                cells //= self.sizes[axis]
            made += fresh
        return found

    def likelihood(self, tables: Sequence[Array], places: Steps) -> Array:
        """The logarithm of how likely each record is, up to a constant."""
        found = np.zeros(len(places))
        for place, _, shared in self.order:
            own = tables[place]
            found += np.log(own[tuple(places[:, axis] for axis in self.cliques[place])] + TINY)
            if shared:
                sums = summed(own, self.cliques[place], shared)
                found -= np.log(sums[tuple(places[:, axis] for axis in shared)] + TINY)
        return found


def _log_sums(potential: Array, clique: AxisPlaces, axes: AxisPlaces) -> Array:
    most = potential.max()
    return np.asarray(np.log(summed(np.exp(potential - most), clique, axes) + TINY) + most)
