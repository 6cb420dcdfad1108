"""One of several statistics that are asked together, and the sum that it is read off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

import numpy as np

from discreet.core.budget import Budget
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.query.select.shared_sums import of_pair
from discreet.query.words import StatisticQuestion, declared, statistic_asked
from discreet.questions.tables.cells import Edges
from discreet.questions.tables.domain import Domain
from discreet.releases.ask import ColumnOf, ColumnsOf, OneSum
from discreet.releases.declaration import Declaration, declaration_of
from discreet.releases.estimate import Estimate
from discreet.releases.groups import Groups
from discreet.releases.records_of import RecordsOf
from discreet.schema.relation.asked_rows import RowStatistic
from discreet.statistics.moments.pair_table import PairTable
from discreet.trust.private_data import PrivateData

ASKED = "select"


@dataclass(frozen=True)
class GroupedRecords:
    """Records by groups, and what may be paid for all that is asked of them.

    Parameters
    ----------
    data : PrivateData
        The records.
    by : tuple of str
        Public. The columns that make groups; none, where all records are one.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers.
    groups : Groups, optional
        Public. Their groups, where there are columns that make some.
    budget : Budget
        Public. What all of it may cost.
    confidence : float
        Public. Of each interval.
    """

    data: PrivateData
    by: tuple[str, ...]
    edges: Edges | None
    groups: Groups | None
    budget: Budget
    confidence: float

    @property
    def every(self) -> Groups:
        """The groups; all records as one, where nothing makes any."""
        return self.groups or Groups(self.data, Domain((), ()))


@dataclass(frozen=True)
class Aggregate:
    """One column of a result: a statistic of every group.

    Parameters
    ----------
    label : str
        Public. What the column is called.
    question : StatisticQuestion
        Public. The statistic, and its options.
    weight : float
        Public. Its share of the price, in proportion to those of the others.
    """

    label: str
    question: StatisticQuestion
    weight: float = 1.0

    def __post_init__(self) -> None:
        check_positive(ASKED, f"the weight of {self.label}", self.weight)
        check_own(f"{ASKED} {self.label!r:.60}", self.question)

    @property
    def statistic(self) -> str:
        return declaration_of(self.question.function).name

    @property
    def column(self) -> str | None:
        found: str | None = self.options.get("column")
        return found

    @property
    def options(self) -> Mapping[str, Any]:
        """What is said of the statistic, by name."""
        return self.question.options

    @classmethod
    def read(cls, one: RowStatistic) -> Aggregate:
        """A statistic as it is declared: refused here, if it does not take what was said of it."""
        options = {name: value for name, value in one.options if name != "column"}
        columns = [] if one.column is None else [one.column]
        return cls(one.label, statistic_asked(ASKED, declared()[one.statistic], columns, options), one.weight)

    def one_sum(self, of: GroupedRecords) -> OneSum[Estimate]:
        """The sum that it is read off, as it is asked of a group: none finds another way, and pays for it by itself."""
        declaration = declaration_of(self.question.function)
        options = declaration.bound((of.data,), {**self.options, "confidence": of.confidence})
        own = {name: options[name] for name in declaration.own}
        columns = tuple(options.get("columns") or ())
        paired = declaration.gives is PairTable and len(columns) == 2
        self._check_single(declaration, own, paired)
        if paired:
            return of_pair(declaration.compute(ColumnsOf(of.data, columns, budget=of.budget, groups=of.every), **own))
        if declaration.subject:
            column = ColumnOf(of.data, str(self.column), budget=of.budget, groups=of.every)
            found = declaration.compute(column, **own)
        else:
            records = RecordsOf(of.data, declaration, None, None, of.by or None, of.edges, of.budget, None)
            found = declaration.compute(records, **own)
        assert isinstance(found, OneSum)
        return found

    def _check_single(self, declaration: Declaration, own: Mapping[str, Any], paired: bool) -> None:
        """Refuse what is no single number of every group."""
        single = Estimate in (declaration.gives, *get_args(declaration.gives)) and np.ndim(own.get("q", 0.5)) == 0
        if declaration.no_by is not None or not (single or paired):  # the former may pay by themselves
            remedy = f"Ask for it by itself: discreet.{declaration.name}(...)."
            raise NotPermitted(ASKED, f"{declaration.title} is no single number of every group", remedy)


def check_own(asked: str, question: StatisticQuestion) -> None:
    """Refuse what is said of one statistic, and would have to be said of all of them: nothing reads it here."""
    declaration = declaration_of(question.function)
    taken = {*declaration.own, declaration.subject} - {"confidence"}
    for name in question.options:
        if name not in taken:
            raise ParameterError(asked, f"{name} is said of one statistic", "Say it of all of them.", parameter=name)
