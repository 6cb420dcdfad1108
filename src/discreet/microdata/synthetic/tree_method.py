"""A synthetic table by a tree of pairs: the method of MST."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.selection.exponential import TopK
from discreet.mechanisms.selection.spanning_tree import SpanningTree
from discreet.microdata.synthetic.clique_tree import triangulated
from discreet.microdata.synthetic.nearest_tables import Edge
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, SynthesisModel, TableAsker, TableLayout
from discreet.microdata.synthetic.tree_model import Independence, TreeModel, noise_in
from discreet.microdata.synthetic.widened_tree import WidenedTree
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes
from discreet.questions.tables.domain import MOST_CELLS

# Shares of the information that the budget pays for: for columns, for choosing the edges of the tree and counting them,
# for choosing further pairs, and for counting those and the edges again. Like the limits below they were chosen on nine
# made-up tables of 9 to 11 columns (trees, networks, latent classes, cut normal numbers), and seen again to be as good
# as any near them on ten others (latent classes, cut normal numbers, networks, chains of ordered values, Potts models),
# on which it was chosen what noise may add. How counts are drawn to what is expected of them, and where columns are
# counted again, was chosen on seven others (these kinds, walks, copies of values, mixed trees, sums of two columns).
COLUMNS, EDGES, PAIRS, CHOICES, AGAIN = 0.22, 0.07, 0.38, 0.03, 0.3
FURTHER = 2  # further pairs that are chosen, for each column but two
WIDEST = 4  # columns of a clique of pairs, at most
LIMIT = 2**16  # cells of all cliques
NOISY = 0.2  # the distance that noise may add to a further pair
FAINT = 0.5  # the share of what is seen of the tree's pairs that is no noise, below which columns are counted again
FIRST, NEVER = 2.0**30, 2.0**38  # added to the score of a pair that a public constraint names, or taken off


@dataclass(frozen=True)
class TreeMethod(SynthesisMethod):
    """One-way counts; pairs that are farthest from independence and make no circle; pairs that the tree fits worst.

    The edges of the tree are counted, then those further pairs, and the edges again; and columns too, where hardly more
    than noise is seen of the edges. Further pairs are left out where
    noise would be most of what is seen of them, and where they join more than four columns, or too many cells, to one
    clique: then the tree is all there is. All of that is public. Where nobody holds all records, all pairs are counted,
    with more noise, and a tree is chosen afterwards.
    """

    model: ClassVar[type[SynthesisModel]] = TreeModel

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
    def _shares(self) -> tuple[float, ...]:
        """Of columns, edges, pairs, choices and counting again, where there are any."""
        if self.chooses:
            return COLUMNS, EDGES, PAIRS, CHOICES, AGAIN
        return COLUMNS, 0.0, (PAIRS + AGAIN) * (len(self.layout.columns) > 1), 0.0, 0.0

    @property
    def weight(self) -> float:
        return sum(self._shares)

    @property
    def further(self) -> int:
        """How many pairs are chosen that are not in the tree."""
        columns = len(self.layout.columns)
        return min(FURTHER * (columns - 2), len(self.layout.pairs) - columns + 1)

    def parts(self, share: float) -> tuple[Any, ...]:
        rounds = len(self.layout.columns) - 1
        columns, edges, pairs, choices, again = (share * own / self.weight for own in self._shares)
        singles = self.layout.noise(columns)
        if not self.chooses:
            return (singles, self.layout.noise(pairs)) if rounds else (singles,)
        tree = SpanningTree(self._price(edges, rounds), nodes=rounds + 1)
        more = TopK(self._price(choices, self.further), self.further)
        return singles, tree, self.layout.noise(pairs), more, self.layout.noise(again)

    def _price(self, share: float, rounds: int) -> float:
        """The epsilon of so many choices together, at a share of a price of 1."""
        return share if self.layout.pure else math.sqrt(8 * share * rounds)

    def kept(self, codes: TableCodes, notes: Mapping[str, Any]) -> SynthesisModel:
        return (WidenedTree if "more" in notes else TreeModel).of_notes(codes, notes)

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> TreeModel | WidenedTree:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, one = asker.counts(singles, mechanisms[0]), asker.stddev(singles, mechanisms[0])
        total, size = asker.total(ones), asker.of.data.public_size
        expected = Independence.of(ones, total)
        if len(mechanisms) == 1:
            return TreeModel(asker.codes, tuple(ones), {}, one, 1.0, total, size)
        noise = mechanisms[2 if self.chooses else 1]
        chosen = self._edges(asker, expected, mechanisms) if self.chooses else self.layout.pairs
        pairs, two = asker.counts(chosen, noise), asker.stddev(chosen, noise)
        first: dict[AxisPlaces, float] = dict.fromkeys(self.layout.together, FIRST)
        tree = expected.farthest(dict(zip(chosen, pairs, strict=True)), two, first)
        model = TreeModel(asker.codes, tuple(ones), tree, one, two, total, size)
        return self._widened(asker, model, *mechanisms[3:]) if self.chooses else model

    def _edges(self, asker: TableAsker, expected: Independence, mechanisms: Sequence[Any]) -> Sequence[AxisPlaces]:
        """The pairs whose tables are counted: a spanning tree of those that are farthest from independence."""
        pairs = self.layout.pairs
        noises = [asker.stddev(pairs[: len(self.layout.columns) - 1], own) for own in (mechanisms[2], mechanisms[4])]
        stddev = float(np.prod(noises) / np.linalg.norm(noises))  # of both counts of a pair together
        tables = [expected.table(pair) for pair in pairs]
        penalties = np.array([noise_in(table.size, stddev) for table in tables]) - self._first(pairs)
        found = asker.farthest(pairs, tables, mechanisms[1], penalties, np.ones(len(pairs)))
        return [(int(a), int(b)) for a, b in found]

    def _first(self, pairs: Sequence[AxisPlaces]) -> Array:
        """What is added to the scores of those that public constraints name."""
        return FIRST * np.array([pair in self.layout.together for pair in pairs])

    def _widened(self, asker: TableAsker, tree: TreeModel, chooser: Any, noise: Any) -> TreeModel | WidenedTree:
        """The tree with its pairs counted again, and with further pairs, where they are worth it.

        Columns are counted again too where most of what is seen of the pairs is noise: then columns are what is known.
        """
        edges, more = list(tree.pairs), self._more(asker, tree, chooser, noise)
        faint = tree.noisy.dependence(tree.total) < FAINT
        ones: list[AxisPlaces] = [(place,) for place in range(len(tree.ones))] if faint else []
        sets = [*edges, *more, *ones]
        tables, stddev = dict(zip(sets, asker.counts(sets, noise), strict=True)), asker.stddev(sets, noise)
        tree = tree.counted_again({edge: tables[edge] for edge in edges}, [tables[one] for one in ones], stddev)
        return WidenedTree(tree, {pair: tables[pair] for pair in more}, stddev) if more else tree

    def _more(self, asker: TableAsker, tree: TreeModel, chooser: Any, noise: Any) -> list[Edge]:
        """Pairs that the tree fits worst, of those that are not its edges and whose tables are worth their noise."""
        pairs, sizes, edges = self.layout.pairs, tree.kept, list[AxisPlaces](tree.pairs)
        stddev = asker.stddev(pairs[: len(edges) + self.further], noise)
        added = np.array([noise_in(math.prod(sizes[axis] for axis in pair), stddev) for pair in pairs])
        worth = (added <= 2 * NOISY * tree.total) & [pair not in tree.pairs for pair in pairs]
        if not worth.any():
            return []
        penalties = added - self._first(pairs) + np.where(worth, 0.0, NEVER)
        found = asker.farthest(pairs, [*tree.pair_tables.values()], chooser, penalties, np.ones(len(pairs)))
        more: list[Edge] = []
        for place in found:
            cliques = triangulated(sizes, [*edges, *more, pairs[place]])
            small = sum(math.prod(sizes[axis] for axis in clique) for clique in cliques) <= LIMIT
            if worth[place] and small and max(map(len, cliques)) <= WIDEST:
                first, second = pairs[place]
                more.append((first, second))
        return more
