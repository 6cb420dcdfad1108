"""A synthetic table by a Bayesian network whose edges are chosen privately: PrivBayes."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, islice
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.grid import Array, Steps
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.mwem_method import check_chooser, penalties_of
from discreet.microdata.synthetic.network_model import NetworkModel
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.tree_method import TreeMethod
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

DEGREE = 2
# Shares of columns, of choosing families and of counting them, chosen on six made-up tables at epsilon .1 and 1.
ONES, CHOICES, TABLES = 0.25, 0.1, 0.65
MOST_FAMILIES, FAMILY_CELLS = 2**9, 2**19  # that are compared at once, beside pairs
MOST_LISTED = 2**13  # of which these are the smallest
SAMPLE = 2**14  # records that are counted out to see what parents are expected to be


@dataclass(frozen=True)
class PrivbayesMethod(SynthesisMethod):
    """Column after column, the one that depends most on up to `degree` of those before it, 2 by default.

    Zhang, Cormode, Procopiuc, Srivastava and Xiao 2014, 2017. Their scores are of shares: the mutual information moves
    by up to about (2 / n) log n, and all of them need n, which is public only under `REPLACE`. Here a family is scored
    by the distance of its counts from what independence of its last column would make them, given what was released
    before: one record moves it by 1, whatever n is. What noise would add to the distance is taken off, so that a large
    family has to be worth its cells: in place of their rule of usefulness. Each family is counted before the next one
    is chosen.
    """

    model: ClassVar[type[NetworkModel]] = NetworkModel

    @classmethod
    def of(cls, layout: TableLayout) -> PrivbayesMethod:
        """For a table; one of two columns that would have too many cells is refused, and one nobody holds."""
        check_chooser(layout, "privbayes")
        check_whole(TITLE, "degree", DEGREE if layout.degree is None else layout.degree, least=1, most=8)
        TreeMethod.of(layout)
        return cls(layout)

    @property
    def degree(self) -> int:
        """How many columns another one depends on, at most."""
        return DEGREE if self.layout.degree is None else int(self.layout.degree)

    @property
    def rounds(self) -> int:
        """How many families there are, beside the first column."""
        return len(self.layout.columns) - 1

    @property
    def weight(self) -> float:
        return ONES + (CHOICES + TABLES) * (self.rounds > 0)

    def parts(self, share: float) -> tuple[Any, ...]:
        each = share / self.weight
        ones = self.layout.noise(each * ONES)
        if not self.rounds:
            return (ones,)
        choice, table = self.layout.choice(each * CHOICES / self.rounds), self.layout.noise(each * TABLES / self.rounds)
        return (ones, *(choice, table) * self.rounds)

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> NetworkModel:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, stddev = asker.counts(singles, mechanisms[0]), asker.stddev(singles, mechanisms[0])
        counts = MeasuredTables.counted(asker.codes, singles, ones, stddev, asker.of.data.public_size)
        for place in range(self.rounds):
            choice, noise = mechanisms[1 + 2 * place : 3 + 2 * place]
            family = self._family(asker, counts, choice, noise)
            counts = counts.and_counted([family], asker.counts([family], noise), asker.stddev([family], noise))
        return NetworkModel.of(counts)

    def _family(self, asker: TableAsker, counts: MeasuredTables, chooser: Any, noise: Any) -> AxisPlaces:
        """A column that is not in the network yet, after those in it that it depends on."""
        network = NetworkModel.of(counts)
        families = candidates([family[-1] for family in network.families], asker.codes, self.degree)
        tables = _independent(network, families)
        stddev = asker.stddev(families[:1], noise)
        penalties = penalties_of(self.layout, families, tables, stddev, counts.sets)
        return families[int(asker.farthest(families, tables, chooser, penalties, np.ones(len(families))))]


def candidates(there: Sequence[int], codes: TableCodes, degree: int) -> list[AxisPlaces]:
    """The families that a column can enter a network with: all pairs, and of larger ones those with few cells.

    Examples
    --------
    >>> candidates([2, 0], TableCodes(("a", "b", "c"), ((), (), ()), (2, 2, 2)), 2)
    [(2, 1), (0, 1), (2, 0, 1)]
    """
    others = [place for place in range(len(codes.sizes)) if place not in there]
    pairs = [(parent, child) for parent in there for child in others]
    larger = ((*parents, child) for parents in _parents(there, codes, degree) for child in others)
    kept = sorted(islice(larger, MOST_LISTED), key=codes.cells)[:MOST_FAMILIES]
    few = int(np.searchsorted(np.cumsum([codes.cells(family) for family in kept]), FAMILY_CELLS, "right"))
    return [*pairs, *kept[:few]]


def _parents(there: Sequence[int], codes: TableCodes, degree: int) -> Iterator[AxisPlaces]:
    """All sets of at least two columns that are in the network, those of few cells first, by and large."""
    short = sorted(there, key=lambda place: codes.sizes[place])
    return chain.from_iterable(combinations(short, size) for size in range(2, min(degree, len(there)) + 1))


def _independent(network: NetworkModel, families: Sequence[AxisPlaces]) -> list[Array]:
    """What the table of each family would be, were its last column independent of the others."""
    codes, margins = network.codes, network.counts.margins
    rows = network.counted_out(SAMPLE, np.random.default_rng(0))
    known: dict[AxisPlaces, Steps] = {}
    for family in families:
        parents = family[:-1]
        if parents not in known:
            known[parents] = np.bincount(codes.codes(rows, parents), minlength=codes.cells(parents))
    return [np.outer(known[family[:-1]] / SAMPLE, margins[family[-1]]) for family in families]
