"""The groups of a table that a statistic is released for: all of them at once, at the price of one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Generic

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.grouped import grouped
from discreet.questions.question import BoundedQuestion, BoundedSum
from discreet.questions.tables.cells import Edges, cut
from discreet.questions.tables.domain import MOST_BINS, Domain
from discreet.releases.ask import OneSum, Released, Result, asked
from discreet.releases.columns import Columns, Series
from discreet.releases.curve import Curve
from discreet.releases.estimate import Estimate
from discreet.releases.release import Release
from discreet.releases.table import Table, Tabular
from discreet.schema.schema import Number
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_GROUPS, MOST_NAMED = 2**13, 12
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

    def every(self, question: BoundedQuestion) -> BoundedQuestion:
        """The same of a question that need not be a sum, and then says itself how it is asked of groups."""
        if isinstance(question, BoundedSum):
            return self.question(question)
        asked: Any = question
        in_groups: BoundedQuestion = asked.in_groups(self.domain)
        return in_groups

    def released(self, one: OneSum[Any]) -> Table | GroupedResults[Any]:
        """Pay for a sum of every group, and read the result of each off its own part: a row for each estimate."""
        name, of = f"{one.name} by {self.title}", one.of
        whole = asked(self.data, self.every(one.question), of.budget, name, of.key, one.noise)
        parts = whole.values.reshape(self.domain.size, -1)
        found = [one.read(Released(part, whole.spread, whole.receipt)) for part in parts]
        return self.tabulated(name, one.name.partition(" of ")[0], found)

    def tabulated(self, name: str, what: str, found: Sequence[Any]) -> Table | GroupedResults[Any]:
        """The results of all groups: estimates as a table, of which `what` is the column."""
        first = found[0]
        about = {
            "name": name,
            "confidence": first.confidence,
            "population": first.population,
            "receipt": first.receipt,
            "labels": self.labels,
        }
        if type(first) is Estimate:
            return Table(series=(series_of(what, found),), **about)
        return GroupedResults(results=tuple(found), **about)


@dataclass(frozen=True, kw_only=True)
class GroupedResults(Tabular, Generic[Result]):
    """A result for each group, all from one release at the price of one.

    Parameters
    ----------
    labels : mapping of str to sequences
        What each group is, by the names of the columns that make the groups.
    results : tuple
        The results, in the same order. Each has the receipt of all.

    Examples
    --------
    >>> from discreet.statistics.hypotheses.t_test import t_test
    >>> people = {"age": [30.0] * 500 + [60.0] * 500, "sex": ["f"] * 500 + ["m"] * 500}
    >>> found = t_test(people, "age", mean=30, by="sex", bounds={"age": (0, 90), "sex": ["f", "m"]}, epsilon=5.0)
    >>> found.group("m").rejected, len(found.results)
    (True, 2)
    """

    labels: Mapping[str, tuple[str, ...]]
    results: tuple[Result, ...]

    def group(self, *labels: str) -> Result:
        """The result of one group, by what it is in each of the columns that make groups."""
        each = list(zip(*self.labels.values(), strict=True))
        if labels not in each:
            raise KeyError(f"{', '.join(map(str, labels))} is not among {'; '.join(map(', '.join, each[:MOST_NAMED]))}")
        return self.results[each.index(labels)]

    def tabulated(self) -> Columns:
        """The rows of every result, each with the labels of its group."""
        return self._stacked([one.tabulated() for one in self._releases])

    def shown(self) -> Columns:
        """Those rows of every result that are printed."""
        return self._stacked([one.shown() for one in self._releases])

    @property
    def _releases(self) -> tuple[Release, ...]:
        return self.results  # type: ignore[return-value]

    def _stacked(self, each: Sequence[Columns]) -> Columns:
        sizes, own = [len(one) for one in each], each[0].labels
        labels: dict[str, Any] = {
            name if name not in own else f"{name} of the group": [
                label for label, size in zip(of_groups, sizes, strict=True) for _ in range(size)
            ]
            for name, of_groups in self.labels.items()
        }
        labels |= {name: [label for one in each for label in one.labels[name]] for name in own}
        return Columns(labels, tuple(map(_joined, zip(*(one.series for one in each), strict=True))))

    def draw(self, ax: Axes) -> None:
        """The curve of each group, or a bar with its interval for each row."""
        if not all(isinstance(one, Curve) for one in self.results):
            return super().draw(ax)
        for one in self._releases:
            one.draw(ax)
        return None


def _joined(parts: Sequence[Series]) -> Series:
    """A column, from its parts one below the other."""

    def stacked(each: list[Array | None]) -> Array | None:
        known = [one for one in each if one is not None]
        return np.concatenate(known) if len(known) == len(each) else None

    return Series(
        parts[0].name,
        np.concatenate([one.values for one in parts]),
        stacked([one.standard_error for one in parts]),
        stacked([one.low for one in parts]),
        stacked([one.high for one in parts]),
        kind=parts[0].kind,
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
