"""A tree of two-way tables with further pairs, and records that are counted out of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.clique_tree import CliqueTree, summed, triangulated
from discreet.microdata.synthetic.likely_counts import likely_counts
from discreet.microdata.synthetic.nearest_tables import Edge, TreeTables, drawn_to
from discreet.microdata.synthetic.synthesis import SynthesisModel, total_of
from discreet.microdata.synthetic.tree_model import TreeModel
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

FEW = 1e-3  # records that are added to a cell, so that no factor is infinite
SWEEPS = 8  # of proportional fitting: more of them moved hardly any distance on made-up tables


@dataclass(frozen=True)
class WidenedTree(SynthesisModel):
    """The distribution of records whose columns depend on one another along a tree, and by further pairs.

    A further pair is drawn to what the tree alone says of it, as an edge of the tree is to independence. Then the
    nearest tables that agree and have no negative count are found, and the distribution that has them and no other
    dependence. What a query reads are the nearest tables that agree: their counts are right on average.

    Parameters
    ----------
    tree : TreeModel
        Noisy counts of columns, and of the pairs that are edges of the tree.
    more : mapping of (first, second) to array
        Noisy counts of further pairs.
    stddev : float
        The deviation of their noise.
    """

    tree: TreeModel
    more: Mapping[Edge, Array]
    stddev: float
    copies: ClassVar[int] = 32

    @property
    def codes(self) -> TableCodes:  # type: ignore[override]
        return self.tree.codes

    @property
    def total(self) -> float:  # type: ignore[override]
        return self.tree.total

    @cached_property
    def cliques(self) -> CliqueTree:
        return CliqueTree(self.tree.kept, triangulated(self.tree.kept, [*self.tree.pairs, *self.more]))

    @cached_property
    def unbiased(self) -> TreeTables:
        """The nearest tables that agree."""
        return self._counted(self.tree.ones, self.tree.pairs, self.more).agreeing(self.total)

    @cached_property
    def _nearest(self) -> TreeTables:
        """Of the cells that have records, the nearest tables that agree and have no negative count."""
        tree = self.tree.shrunk
        more = {edge: self._shrunk(edge, self._seen(edge, own)) for edge, own in self.more.items()}
        return self._counted(tree.ones, tree.pairs, more).nearest(self.total)

    def _counted(self, ones: tuple[Array, ...], pairs: Mapping[Edge, Array], more: Mapping[Edge, Array]) -> TreeTables:
        deviations = dict.fromkeys(more, self.stddev)
        return TreeTables(ones, {**pairs, **more}, self.tree.one, self.tree.two, deviations)

    def _seen(self, edge: Edge, table: Array) -> Array:
        """Without the cells that have no records."""
        return table[: self.tree.kept[edge[0]], : self.tree.kept[edge[1]]]

    def _shrunk(self, edge: Edge, table: Array) -> Array:
        """A further pair, drawn to what the tree says of it: the mean of two estimates, as for edges of the tree."""
        expected = self._seen(edge, self.tree.pair_tables[edge])
        likely = likely_counts(table, expected, self.stddev)
        return (likely + drawn_to(expected, table, self.stddev**2 * table.size)) / 2

    @cached_property
    def tables(self) -> list[Array]:
        """How many records are in each cell of each clique."""
        aims: dict[AxisPlaces, Array] = {(place,): own for place, own in enumerate(self._nearest.ones)}
        aims.update({(a, b): own for (a, b), own in self._nearest.pairs.items()})
        aims = {axes: self._positive(own) for axes, own in aims.items()}
        start = []
        for clique in self.cliques.cliques:
            table = np.array(self.total)
            for axis in clique:
                table = np.multiply.outer(table, aims[axis,] / self.total)
            start.append(table)
        return self.cliques.proportional(aims, start, SWEEPS)

    def _positive(self, counts: Array) -> Array:
        more = counts + FEW
        return np.asarray(more * (self.total / more.sum()))

    def measured(self, axes: AxisPlaces) -> AxisPlaces | None:
        edge = next((edge for edge in (*self.tree.pairs, *self.more) if set(axes) <= set(edge)), None)
        return axes if edge is None and len(axes) == 1 else edge

    def table(self, axes: AxisPlaces) -> Array:
        if len(axes) == 1:
            return self.unbiased.ones[axes[0]]
        first, second = axes
        return self.unbiased.pairs[first, second]

    def likelihood(self, places: Steps) -> Array:
        return self.cliques.likelihood(self.tables, np.minimum(places, np.array(self.tree.kept) - 1))

    def counted_out(self, rows: int, generator: np.random.Generator) -> Steps:
        return self.cliques.counted_out(self.tables, rows, generator)

    def again(self, generator: np.random.Generator) -> WidenedTree:
        ones = tuple(self._drawn((place,), self.tree.one, generator) for place in range(len(self.tree.ones)))
        pairs = {edge: self._drawn(edge, self.tree.two, generator) for edge in self.tree.pairs}
        more = {edge: self._drawn(edge, self.stddev, generator) for edge in self.more}
        tree = replace(self.tree, ones=ones, pairs=pairs, total=total_of(ones, self.tree.size))
        return WidenedTree(tree, more, self.stddev)

    def _drawn(self, axes: AxisPlaces, stddev: float, generator: np.random.Generator) -> Array:
        """What might have been counted in place of a table."""
        home = self.cliques.homes([axes])[axes]
        found = np.zeros([self.codes.sizes[axis] for axis in axes])
        seen = tuple(slice(self.tree.kept[axis]) for axis in axes)
        found[seen] = summed(self.tables[home], self.cliques.cliques[home], axes)
        return np.asarray(found + generator.normal(0, stddev, found.shape))

    def to_notes(self) -> dict[str, Any]:
        return {
            "tree": self.tree.to_notes(),
            "more": [list(edge) for edge in self.more],
            "counts": list(self.more.values()),
            "stddev": self.stddev,
        }

    @classmethod
    def of_notes(cls, codes: TableCodes, notes: Mapping[str, Any]) -> WidenedTree:
        more = {(a, b): np.asarray(own) for (a, b), own in zip(notes["more"], notes["counts"], strict=True)}
        return cls(TreeModel.of_notes(codes, notes["tree"]), more, float(notes["stddev"]))
