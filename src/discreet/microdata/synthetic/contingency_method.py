"""A synthetic table from all tables of few columns, measured by their Fourier coefficients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.microdata.synthetic.measured_tables import MeasuredTables
from discreet.microdata.synthetic.product_model import ProductModel, check_joint
from discreet.microdata.synthetic.synthesis import TITLE, SynthesisMethod, TableAsker, TableLayout
from discreet.questions.tables.coded_measurements import coded_measurements_of
from discreet.questions.tables.coded_tables import MOST_TABLES, AxisPlaces
from discreet.questions.tables.domain import MOST_CELLS
from discreet.questions.tables.measurements import LONGEST, Measurements
from discreet.releases.spread import spread
from discreet.statistics.tables.strategy import MOST_PARTS, Targets, ways_of

DEGREE = 2


def tables_of(layout: TableLayout, degree: int) -> tuple[AxisPlaces, ...]:
    """All sets of so many columns, or of all there are; too many or too large ones are refused."""
    check_whole(TITLE, "degree", degree, least=1, most=16)
    together, columns = min(int(degree), len(layout.columns)), len(layout.columns)
    count = math.comb(columns, together)
    if count > MOST_TABLES or count * 2**together > MOST_PARTS:
        obstacle = f"there are {count} tables of {together} of {columns} columns"
        raise ParameterError(TITLE, obstacle, "Give a lower degree, or fewer columns.", count=count)
    sets = tuple(combinations(range(columns), together))
    cells = sum(math.prod(layout.most_cells[axis] for axis in axes) for axes in sets)
    if cells > MOST_CELLS:
        widest = max(zip(layout.most_cells, layout.columns, strict=True))[1]
        obstacle = f"all tables of {together} columns have {cells} cells together, more than {MOST_CELLS}"
        raise ParameterError(TITLE, obstacle, f"Leave out {widest}, or give a lower degree or fewer bins.", cells=cells)
    return sets


@dataclass(frozen=True)
class ContingencyMethod(SynthesisMethod):
    """All tables of `degree` columns, 2 by default, from one noisy sum: after Barak et al. 2007.

    With a delta, what is measured are the contrasts of all sets of up to `degree` columns, which for columns of two
    cells are the coefficients of Walsh and Hadamard, each set with a weight that minimises the mean variance of the
    tables. Without one, contrasts of longer columns are long in l1, and tables themselves are counted where that is
    better: which is decided from the numbers of cells alone. Either way the length of what a record adds is the same
    for all records, and known exactly (`Contrast.length`).

    The published method finds a table of all columns without negative cells by a linear program. Here negative counts
    are taken off each table by least squares, and the table of all columns is the one of greatest entropy that agrees
    with them, as nearly as any does. Both, and that records are whole, are post-processing.
    """

    model: ClassVar[type[ProductModel]] = ProductModel

    @classmethod
    def of(cls, layout: TableLayout) -> ContingencyMethod:
        """For a table; one with too many cells is refused."""
        method = cls(layout)
        check_joint(layout, "contingency")
        tables_of(layout, method.degree)
        return method

    @property
    def degree(self) -> int:
        """How many columns each table has."""
        return DEGREE if self.layout.degree is None else self.layout.degree

    def parts(self, share: float) -> tuple[Any, ...]:
        return (self.layout.noise(share),)

    def made(self, asker: TableAsker, mechanisms: Sequence[Any]) -> ProductModel:
        sets = tables_of(self.layout, self.degree)
        measured = self._measurements(asker.codes.sizes, sets)
        question = coded_measurements_of(asker.of.schema, asker.codes.columns, asker.codes.edges, **measured.described)
        stddev = spread(asker.of.data, question, mechanisms[0]).stddev
        found = np.split(asker.permit.ask(question, mechanisms[0]), np.cumsum(measured.sizes)[:-1])
        parts = zip(found, measured.members, measured.weights, strict=True)
        numbers = tuple(own.reshape(member.shape(measured.shape)) / weight for own, member, weight in parts)
        stddevs = tuple((stddev / measured.weights).tolist())
        size = asker.of.data.public_size
        return ProductModel.of(MeasuredTables(asker.codes, measured.members, numbers, stddevs, sets, size))

    def _measurements(self, shape: tuple[int, ...], sets: Sequence[AxisPlaces]) -> Measurements:
        """What makes the mean variance of all tables least, of what adds up exactly."""
        targets = Targets.of(shape, tuple(map(frozenset, sets)))
        ways = [
            measured
            for measured in ways_of(targets)[self.layout.norm].values()
            if measured.bound.radius <= LONGEST * measured.grid.step
        ]
        return min(ways, key=lambda one: one.bound.radius**2 * float(targets.variances(one).mean()))
