"""A synthetic table by a tree of pairs: the method of MST."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import ParameterError
from discreet.mechanisms.selection.spanning_tree import SpanningTree
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.tree_model import Independence, TreeModel, noise_in
from discreet.questions.tables.coded_tables import AxisPlaces
from discreet.questions.tables.domain import MOST_CELLS

# Shares of the information that the budget pays for, chosen on 22 made-up tables of 6 to 13 columns (trees, latent
# classes, cut normal numbers, networks): more for columns is better at epsilon .1 and worse at 1.
COLUMNS, EDGES, PAIRS = 0.25, 0.08, 0.67
FIRST = 2.0**30  # added to the score of a pair that a public constraint names


@dataclass(frozen=True)
class TreeMethod(SynthesisMethod):
    """One-way counts, pairs that are farthest from independence and make no circle, and their counts.

    Where nobody holds all records, all pairs are counted, with more noise, and chosen afterwards.
    """

    model: ClassVar[type[TreeModel]] = TreeModel

    @classmethod
    def of(cls, layout: TableLayout) -> TreeMethod:
        """For a table; one of two columns that would have too many cells is refused."""
        sizes = sorted(zip(layout.most_cells, layout.columns, strict=True))
        if len(sizes) > 1 and sizes[-1][0] * sizes[-2][0] * len(layout.pairs) > MOST_CELLS:
            obstacle = f"{sizes[-1][1]} and {sizes[-2][1]} have {sizes[-1][0]} x {sizes[-2][0]} cells"
            raise ParameterError(
                TITLE, obstacle, f"Leave out {sizes[-1][1]}, or list fewer values, or give fewer bins."
            )
        return cls(layout)

    @property
    def chooses(self) -> bool:
        """Whether pairs are chosen before they are counted."""
        return self.layout.curated and len(self.layout.columns) > 2

    @property
    def _shares(self) -> tuple[float, float, float]:
        """Of columns, edges and pairs, where there are any."""
        return COLUMNS, EDGES * self.chooses, PAIRS * (len(self.layout.columns) > 1)

    @property
    def weight(self) -> float:
        return sum(self._shares)

    def parts(self, share: float) -> tuple[Any, ...]:
        rounds = len(self.layout.columns) - 1
        columns, edges, pairs = (share * own / self.weight for own in self._shares)
        parts: list[Any] = [self.layout.noise(columns)]
        if self.chooses:
            price = edges if self.layout.pure else math.sqrt(8 * edges * rounds)
            parts.append(SpanningTree(price, nodes=rounds + 1))
        return (*parts, self.layout.noise(pairs)) if rounds else tuple(parts)

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> TreeModel:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, one = asker.counts(singles, mechanisms[0]), asker.stddev(singles, mechanisms[0])
        total, size = asker.total(ones), asker.of.data.public_size
        expected = Independence.of(ones, total)
        chosen = self._edges(asker, expected, mechanisms) if self.chooses else self.layout.pairs
        if not chosen:
            return TreeModel(asker.codes, tuple(ones), {}, one, 1.0, total, size)
        pairs, two = asker.counts(chosen, mechanisms[-1]), asker.stddev(chosen, mechanisms[-1])
        first: dict[AxisPlaces, float] = dict.fromkeys(self.layout.together, FIRST)
        kept = expected.farthest(dict(zip(chosen, pairs, strict=True)), two, first)
        return TreeModel(asker.codes, tuple(ones), kept, one, two, total, size)

    def _edges(self, asker: TableAsker, expected: Independence, mechanisms: Sequence[Any]) -> Sequence[AxisPlaces]:
        """The pairs whose tables are counted: a spanning tree of those that are farthest from independence."""
        pairs = self.layout.pairs
        stddev = asker.stddev(pairs[: len(self.layout.columns) - 1], mechanisms[-1])
        tables = [expected.table(pair) for pair in pairs]
        named = set(self.layout.together)
        penalties = np.array(
            [noise_in(table.size, stddev) - FIRST * (pair in named) for pair, table in zip(pairs, tables, strict=True)]
        )
        found = asker.farthest(pairs, tables, mechanisms[1], penalties, np.ones(len(pairs)))
        return [(int(a), int(b)) for a, b in found]
