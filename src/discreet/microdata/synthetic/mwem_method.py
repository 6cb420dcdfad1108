"""A synthetic table from the tables that it would get most wrong, one after another: MWEM."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from discreet.core.errors import NotPermitted
from discreet.core.grid import Array
from discreet.microdata.synthetic.contingency_method import tables_of
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.product_model import ProductModel, check_joint
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.microdata.synthetic.tree_method import FIRST
from discreet.microdata.synthetic.tree_model import noise_in
from discreet.questions.tables.coded_tables import AxisPlaces

DEGREE = 3
# Shares of columns, of choosing tables and of counting them, chosen on six made-up tables at epsilon .1 and 1.
ONES, CHOICES, TABLES = 0.2, 0.1, 0.7


def check_chooser(layout: TableLayout, method: str) -> None:
    """Refuse a method that chooses by all records, where nobody holds them."""
    if not layout.curated:
        raise NotPermitted(
            TITLE,
            f"{method} chooses what it counts, which takes a curator who holds all records",
            "Trust a curator, or use a method that counts alone: tree or contingency.",
        )


def penalties_of(
    layout: TableLayout, sets: Sequence[AxisPlaces], tables: Sequence[Array], stddev: float, known: Sequence[AxisPlaces]
) -> Array:
    """What is taken off the distances of tables: what the noise of counting them would add.

    Tables with columns that a public constraint names, and that no table has yet, come first.
    """
    named = [set(pair) for pair in layout.together if not any(set(pair) <= set(axes) for axes in known)]
    first = [FIRST if any(pair <= set(axes) for pair in named) else 0.0 for axes in sets]
    return np.array([noise_in(table.size, stddev) for table in tables]) - first


@dataclass(frozen=True)
class MwemMethod(SynthesisMethod):
    """All columns; then, in each round, the table of `degree` columns, 3 by default, that is farthest from expected.

    Hardt, Ligett and McSherry 2012, with tables as in their section on contingency tables. As published, the number of
    records is known, a round reweights by one table, and rounds are averaged. Here the number comes from the noisy
    columns, unless it is public, and the table of all columns is fitted to all that was measured. It is no `MWEM` of
    single queries, whose list would have a row for each cell of each table, and which has no use for a delta.

    One record is in one cell of a table, so it moves its distance by 1 and the length of its counts by 1, whatever the
    number of columns.
    """

    model: ClassVar[type[ProductModel]] = ProductModel

    @classmethod
    def of(cls, layout: TableLayout) -> MwemMethod:
        """For a table; one with too many cells is refused, and one whose records nobody holds."""
        method = cls(layout)
        check_chooser(layout, "mwem")
        check_joint(layout, "mwem")
        method.workload()
        return method

    def workload(self) -> tuple[AxisPlaces, ...]:
        """The tables that are to be right."""
        return tables_of(self.layout, DEGREE if self.layout.degree is None else self.layout.degree)

    @property
    def rounds(self) -> int:
        """How many tables are counted, beside the columns: as many as there are columns, or all."""
        sets = self.workload()
        return 0 if len(sets[0]) == 1 else min(len(self.layout.columns), len(sets))

    @property
    def chooses(self) -> bool:
        """Whether tables are chosen, and not all counted."""
        return 0 < self.rounds < len(self.workload())

    @property
    def weight(self) -> float:
        return ONES + CHOICES * self.chooses + TABLES * (self.rounds > 0)

    def parts(self, share: float) -> tuple[Any, ...]:
        each = share / self.weight
        ones = self.layout.noise(each * ONES)
        if not self.rounds:
            return (ones,)
        table = self.layout.noise(each * TABLES / self.rounds)
        choice = (self.layout.choice(each * CHOICES / self.rounds),) if self.chooses else ()
        return (ones, *(*choice, table) * self.rounds)

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> ProductModel:
        singles: list[AxisPlaces] = [(place,) for place in range(len(self.layout.columns))]
        ones, stddev = asker.counts(singles, mechanisms[0]), asker.stddev(singles, mechanisms[0])
        counts = MeasuredTables.counted(asker.codes, singles, ones, stddev, asker.of.data.public_size)
        waiting, later = list(self.workload()), iter(mechanisms[1:])
        for _ in range(self.rounds):
            place = self._farthest(asker, counts, waiting, next(later), mechanisms[-1]) if self.chooses else 0
            axes, noise = waiting.pop(place), next(later)
            counts = counts.and_counted([axes], asker.counts([axes], noise), asker.stddev([axes], noise))
        return ProductModel.of(counts)

    def _farthest(
        self, asker: TableAsker, counts: MeasuredTables, waiting: Sequence[AxisPlaces], chooser: Any, noise: Any
    ) -> int:
        """The place of a table that is far from expected, by more than the noise that it would be counted with."""
        model, stddev = ProductModel.of(counts), asker.stddev(waiting[:1], noise)
        tables = [model.expected(axes) for axes in waiting]
        penalties = penalties_of(self.layout, waiting, tables, stddev, counts.sets)
        return int(asker.farthest(waiting, tables, chooser, penalties, np.ones(len(waiting))))
