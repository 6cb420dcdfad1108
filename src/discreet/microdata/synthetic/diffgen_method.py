"""A synthetic table for learning a class: columns are cut where classes differ, from the top down. DiffGen."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any, ClassVar

from discreet.core.errors import ParameterError
from discreet.microdata.synthetic.leaf_model import LeafModel
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.mwem_method import check_chooser
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes
from discreet.questions.tables.splits import Split, SplitScores, table_of_stretches_of
from discreet.releases.spread import spread
from discreet.schema.schema import Category

SPLITS = 10
MOST_CLASSES, MOST_LEAVES = 2**7, 2**12  # of a table, and of leaves with a class
# Shares of columns, of splits and of leaves, chosen by the right classes on six made-up tables: a few bad splits cost
# less than noise on all leaves.
ONES, CHOICES, LEAVES = 0.15, 0.15, 0.7
Starts = tuple[tuple[int, ...], ...]


@dataclass(frozen=True)
class DiffgenMethod(SynthesisMethod):
    """Ten times, the split of a stretch of cells that tells classes apart best; then counts of all leaves by class.

    Mohammed, Chen, Fung and Yu 2011: all columns start as one stretch, and a leaf is a combination of stretches. There
    a value to cut a number at is chosen first, for |A| numbers and again after each of h specialisations, and what is
    specialised after that: |A| + 2 h choices at epsilon / (2 (|A| + 2 h)), and counts of leaves at epsilon / 2, which
    add up to epsilon. That holds where the parts of a stretch have no record in common that changes, so not for records
    that are replaced. Here each round is one choice, among all places where any stretch can be cut: h choices, none of
    which is said to cost less for being of some records. Scores are those of `SplitScores`, in place of the information
    gain or the greatest class. Categories are cut in the order in which they are listed.

    Columns are counted too, since a leaf has to be given values.
    """

    model: ClassVar[type[LeafModel]] = LeafModel

    @classmethod
    def of(cls, layout: TableLayout) -> DiffgenMethod:
        """For a table with a class; one without, or of too many classes, is refused."""
        check_chooser(layout, "diffgen")
        if layout.target is None:
            raise ParameterError(TITLE, "diffgen has no class to keep", "Name its column with target=.")
        name, classes = layout.columns[layout.target], layout.most_cells[layout.target]
        if not isinstance(layout.schema.columns[name], Category) or classes > MOST_CLASSES:
            obstacle = f"the target {name} is a number, or has more than {MOST_CLASSES} values"
            raise ParameterError(TITLE, obstacle, "Give a category as target, or use another method.")
        return cls(layout)

    @property
    def target(self) -> int:
        """The column of classes."""
        return self.layout.target or 0

    @property
    def rounds(self) -> int:
        """How many splits are chosen: no more than there are for certain."""
        known = {name: 1 if cells is None else len(cells.edges) - 1 for name, cells in self.layout.numbers.items()}
        some = [
            known.get(name, size - 1)
            for place, (name, size) in enumerate(zip(self.layout.columns, self.layout.most_cells, strict=True))
            if place != self.target
        ]
        return min(SPLITS, sum(some))

    @property
    def weight(self) -> float:
        return ONES + (CHOICES + LEAVES) * (self.rounds > 0)

    def parts(self, share: float) -> tuple[Any, ...]:
        each = share / self.weight
        ones = self.layout.noise(each * ONES)
        if not self.rounds:
            return (ones,)
        choice = self.layout.choice(each * CHOICES / self.rounds)
        return (ones, *[choice] * self.rounds, self.layout.noise(each * LEAVES))

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> LeafModel:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, stddev = asker.counts(singles, mechanisms[0]), asker.stddev(singles, mechanisms[0])
        counts = MeasuredTables.counted(asker.codes, singles, ones, stddev, asker.of.data.public_size)
        starts: Starts = tuple(
            tuple(range(size)) if place == self.target else (0,) for place, size in enumerate(asker.codes.sizes)
        )
        for chooser in mechanisms[1:-1]:
            splits = splits_of(starts, asker.codes, self.target)
            if not splits:
                break
            chosen = splits[int(asker.permit.ask(SplitScores(asker.codes, self.target, splits), chooser))]
            starts = _cut(starts, chosen)
        if not self.rounds:
            return LeafModel.of(counts, starts, ones[self.target], stddev)
        question = table_of_stretches_of(asker.of.schema, asker.codes.columns, asker.codes.edges, starts)
        leaves = asker.permit.ask(question, mechanisms[-1])
        shape = [len(own) for own in starts if len(own) > 1]
        noise = spread(asker.of.data, question, mechanisms[-1])
        return LeafModel.of(counts, starts, leaves.reshape(shape), noise.stddev)


def splits_of(starts: Starts, codes: TableCodes, target: int) -> tuple[Split, ...]:
    """All places where a stretch can be cut, as long as there are not too many leaves.

    Examples
    --------
    >>> codes = TableCodes(("x", "class"), ((), ()), (3, 2))
    >>> [(one.first, one.cut, one.end) for one in splits_of(((0, 1), (0, 1)), codes, 1)]
    [(1, 2, 3)]
    """
    leaves = math.prod(len(own) for own in starts)
    found = []
    for column, (own, size) in enumerate(zip(starts, codes.sizes, strict=True)):
        if column != target and leaves // len(own) * (len(own) + 1) <= MOST_LEAVES:
            for first, end in pairwise((*own, size)):
                found += [Split(column, first, cut, end) for cut in range(first + 1, end)]
    return tuple(found)


def _cut(starts: Starts, split: Split) -> Starts:
    return tuple(
        tuple(sorted((*own, split.cut))) if column == split.column else own for column, own in enumerate(starts)
    )
