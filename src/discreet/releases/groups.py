"""The groups of a table that a statistic is released for: all of them at once, at the price of one."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.grouped import grouped
from discreet.questions.question import BoundedSum
from discreet.questions.tables.cells import Edges, cut
from discreet.questions.tables.domain import MOST_BINS, Domain
from discreet.releases.ask import Released, asked
from discreet.releases.columns import Series
from discreet.releases.estimate import Estimate
from discreet.releases.table import Table
from discreet.schema.schema import Number
from discreet.trust.private_data import PrivateData

MOST_GROUPS = 2**13
By = str | Sequence[str]
"""The column, or the columns, that make the groups."""


@dataclass(frozen=True)
class Groups:
    """The groups that the values of some columns make.

    Parameters
    ----------
    data : PrivateData
        The records.
    domain : Domain
        Public. The columns, and their values or cells: each combination is a group.
    """

    data: PrivateData
    domain: Domain

    @classmethod
    def wanted(cls, data: PrivateData, by: By | None, edges: Edges | None) -> Groups | None:
        """The groups, or None where no columns are given that make them; edges alone are refused."""
        if by is None and edges is not None:
            raise ParameterError("edges", "no column is given that makes groups", "Give `by`, too.")
        return None if by is None else cls.of(data, by, edges)

    @classmethod
    def of(cls, data: PrivateData, by: By, edges: Edges | None = None) -> Groups:
        """The groups of the listed values, of the steps of numbers that have one, or between edges.

        Parameters
        ----------
        data : PrivateData
            The records; one without a value in one of the columns is in no group.
        by : str or sequence of str
            Public. The columns.
        edges : sequence, or mapping of str to sequences, optional
            Public. The ends of the cells of numbers; see `cut`.
        """
        columns = (by,) if isinstance(by, str) else tuple(by) if isinstance(by, Sequence) else ()
        known = () if edges is None else columns if not isinstance(edges, Mapping) else tuple(edges)
        for name in data.schema.values(columns):
            kind = data.schema.columns[name]
            if isinstance(kind, Number) and kind.step is None and name not in known:
                remedy = f"Give edges, such as edges=[{kind.lower:g}, ..., {kind.upper:g}], or the schema a step."
                raise ParameterError(f"groups by {name}", "it is a number, which makes no groups by itself", remedy)
        domain = cut(data.schema, columns, MOST_BINS, edges)
        if domain.size > MOST_GROUPS:
            obstacle = f"there are {' x '.join(map(str, domain.shape))} groups, more than {MOST_GROUPS}"
            remedy = "Give fewer edges or columns; for counts alone, ask for `contingency`."
            raise ParameterError(f"groups by {' and '.join(columns)}", obstacle, remedy, size=domain.size)
        return cls(data, domain)

    @property
    def title(self) -> str:
        """The columns, in words."""
        return " and ".join(self.domain.columns)

    @property
    def labels(self) -> dict[str, tuple[str, ...]]:
        """For each column, what it is in each group."""
        places = np.indices(self.domain.shape).reshape(len(self.domain.columns), self.domain.size)
        named = zip(self.domain.columns, self.domain.labels, places, strict=True)
        return {name: tuple(each[one] for one in place) for name, each, place in named}

    def question(self, question: BoundedSum) -> BoundedSum:
        """A question about every group."""
        return grouped(question, self.domain, self.data.schema)

    def asked(self, question: BoundedSum, budget: Budget, purpose: str, key: str | None) -> list[Released]:
        """Pay for a bounded sum of every group, and release them."""
        whole = asked(self.data, self.question(question), budget, purpose, key)
        return [dataclasses.replace(whole, values=part) for part in whole.values.reshape(self.domain.size, -1)]

    def table(
        self,
        what: str,
        question: BoundedSum,
        estimate: Callable[[Released], Estimate],
        budget: Budget,
        key: str | None,
    ) -> Table:
        """Pay for a sum of every group, and make a table of what it says about each.

        Parameters
        ----------
        what : str
            What is released, such as `mean of age`.
        question : BoundedSum
            Public. The sum, without groups.
        estimate : callable
            Reads off a release what it says.
        budget, key
            Public. As for `mean`.
        """
        name = f"{what} by {self.title}"
        found = [estimate(one) for one in self.asked(question, budget, name, key)]
        return self.tabulated(name, (series_of(what.partition(" of ")[0], found),), found[0])

    def tabulated(self, name: str, series: tuple[Series, ...], first: Estimate) -> Table:
        """The table of these columns, whose intervals and receipt are as those of an estimate."""
        return Table(
            name=name,
            labels=self.labels,
            series=series,
            confidence=first.confidence,
            population=first.population,
            receipt=first.receipt,
        )


def series_of(name: str, found: Sequence[Estimate]) -> Series:
    """A column of estimates."""

    def column(values: list[float | None]) -> Array | None:
        known = [value for value in values if value is not None]
        return np.array(known) if len(known) == len(values) else None

    return Series(
        name,
        np.array([one.value for one in found]),
        column([one.standard_error for one in found]),
        column([one.low for one in found]),
        column([one.high for one in found]),
        kind=found[0].kind if found else None,
    )
