"""Several statistics at one price: planned together, paid once, and read off as few sums as they share."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.query.select.aggregate import ASKED, Aggregate, GroupedRecords
from discreet.query.select.shared_sums import counts_all, key_of, shared
from discreet.questions.filtered import OfListed
from discreet.questions.question import Question
from discreet.questions.recipe import MOST_NUMBERS
from discreet.questions.tables.cells import Edges
from discreet.questions.tables.key_counts import KeyCounts
from discreet.releases.ask import OneSum, Released
from discreet.releases.estimate import Estimate
from discreet.releases.groups import MOST_GROUPS, Groups, series_of
from discreet.releases.joint_plan import JointPlan, Stage, priced, staged
from discreet.releases.release import check_confidence
from discreet.releases.spread import CONFIDENCE, Spread, spread
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import GroupedRows, RowStatistic, StatisticRows
from discreet.schema.schema import Category, Text
from discreet.trust.private_data import PrivateData

NAMED = 0.5  # the share of the price for naming groups that only the data know, where anything else is asked of them
PLACEHOLDER = "group"


@dataclass(frozen=True)
class Selection:
    """Statistics of the same records, by the same groups, that are paid for together.

    Parameters
    ----------
    data : PrivateData
        The records.
    aggregates : tuple of Aggregate
        Public. At least one.
    budget : Budget
        Public. What all of them may cost.
    by : tuple of str
        Public. The columns that make groups. The values of at most one of them may be such that only the data know
        them: then delta must be positive.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers that make groups.
    confidence : float
        Public. Of each interval.

    Examples
    --------
    >>> from discreet.query.words import statistic_asked
    >>> import discreet
    >>> people = {"age": [30.0] * 500 + [60.0] * 500, "sex": ["f"] * 500 + ["m"] * 500}
    >>> data = PrivateData.of(people, {"age": (0, 90), "sex": ["f", "m"]}, Budget(5.0))
    >>> mean, number = (statistic_asked("example", one, ["age"], {}) for one in (discreet.mean, discreet.count))
    >>> both = Selection(data, (Aggregate("mean", mean), Aggregate("n", number)), Budget(5.0), ("sex",))
    >>> len(both.stages)  # the count and the mean of a column are read off the same sums
    1
    >>> both.released("example")["mean"].values.round()
    array([30., 60.])
    """

    data: PrivateData
    aggregates: tuple[Aggregate, ...]
    budget: Budget
    by: tuple[str, ...] = ()
    edges: Edges | None = None
    confidence: float = CONFIDENCE
    lists: Mapping[str, Category] = field(default_factory=dict)

    def __post_init__(self) -> None:
        labels = [*self.by, *(one.label for one in self.aggregates)]
        if not self.aggregates or len(set(labels)) != len(labels):
            raise ParameterError(ASKED, f"its columns are {', '.join(labels) or 'none'}", "Name each column once.")
        check_confidence(ASKED, self.confidence)

    @classmethod
    def read(cls, data: PrivateData, asked: StatisticRows, budget: Budget, confidence: float = CONFIDENCE) -> Selection:
        """What a relation asks for, of the data that its rows are."""
        groups = asked.of
        assert isinstance(groups, GroupedRows)
        every = tuple(map(Aggregate.read, asked.statistics))
        return cls(data, every, budget, groups.by, groups.edges, confidence)

    @property
    def relation(self) -> StatisticRows:
        """What is asked, as a relation."""
        statistics = tuple(
            RowStatistic(one.label, one.statistic, tuple(one.question.options.items()), one.weight)
            for one in self.aggregates
        )
        return StatisticRows(GroupedRows(self.data.relation, self.by, self.edges), statistics)

    @cached_property
    def unlisted(self) -> str | None:
        """The column whose values make groups that only the data know."""
        schema = self.data.schema
        texts = [name for name in self.by if isinstance(schema.columns.get(name), Text) and name not in self.lists]
        if len(texts) > 1:
            remedy = "List the values of the others in the schema."
            raise NotPermitted(ASKED, f"only the data know the values of {' and '.join(texts)}", remedy)
        if texts and self.budget.delta == 0:
            obstacle = f"naming values of {texts[0]} that only the data know needs a positive delta"
            raise ParameterError(ASKED, obstacle, "Give delta, or list the values in the schema.")
        if texts:
            self.data.check_listing(f"{ASKED} by {texts[0]}")
        return texts[0] if texts else None

    @cached_property
    def _listed(self) -> Selection:
        """The same with a made-up value in place of values that only the data know: of the same form and price."""
        if self.unlisted is None:
            return self
        found = self._naming({self.unlisted: Category((PLACEHOLDER,))})
        Groups.of(found.data, found.by, found.edges)  # edges of what makes no groups are refused before they are paid
        return found

    @property
    def placeheld(self) -> Selection:
        """The same with a made-up group: what its sums and their noise are."""
        return self._listed

    @property
    def labels_of_stages(self) -> tuple[tuple[str, ...], ...]:
        """Which columns are read off each sum."""
        keys = [key_of(found) for found in self._sums]
        return tuple(
            tuple(one.label for one, own in zip(self._summed, keys, strict=True) if own == key) for key in self._keys
        )

    @property
    def labels_of_names(self) -> tuple[str, ...]:
        """Which columns are the counts that name groups."""
        return tuple(one.label for one in self.aggregates if self._is_named(one))

    def _naming(self, lists: Mapping[str, Category]) -> Selection:
        return dataclasses.replace(self, data=self.data.listing(lists), lists=dict(lists))

    @cached_property
    def groups(self) -> Groups | None:
        return Groups.wanted(self.data, self.by or None, self.edges)

    @cached_property
    def _summed(self) -> tuple[Aggregate, ...]:
        """The statistics that are read off sums: not the number of records, where naming groups tells it anyway."""
        return tuple(one for one in self.aggregates if not self._is_named(one))

    def _is_named(self, one: Aggregate) -> bool:
        """Whether it is the count by which groups are named: of all records, by the column that only the data know."""
        return counts_all(one) and len(self.by) == 1 and self.by[0] in (*self.lists, self.unlisted)

    @cached_property
    def _sums(self) -> tuple[OneSum[Estimate], ...]:
        """What these statistics are read off."""
        return shared(self._summed, tuple(one.one_sum(self._asked) for one in self._summed), self.confidence)

    @property
    def _asked(self) -> GroupedRecords:
        return GroupedRecords(self.data, self.by, self.edges, self.groups, self.budget, self.confidence)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The sums that are asked, each once, with their shares of the price."""
        shares: dict[str, float] = {}
        questions: dict[str, Any] = {}
        for one, found in zip(self._summed, self._sums, strict=True):
            key = key_of(found)
            shares[key] = shares.get(key, 0.0) + one.weight
            asked: Any = found.question
            questions[key] = asked if self.groups is None else self.groups.every(asked)
        return tuple(Stage(questions[key], share) for key, share in shares.items())

    @cached_property
    def plan(self) -> JointPlan:
        """All mechanisms at their price: that which names groups, if one does, and those of the sums."""
        if self.unlisted is None:
            return JointPlan(staged(self.data, self.stages, self.budget).mechanisms)
        listed, half = self._listed, Budget(self.budget.epsilon, self.budget.delta / 2)
        if not listed.stages:
            return JointPlan((calibrate(KeySelection(delta=half.delta), self.budget),))
        naming = calibrate(KeySelection(delta=half.delta / 2), half)
        sums = staged(listed.data, listed.stages, half).mechanisms
        return calibrate(JointPlan((priced(naming, NAMED), *(priced(one, 1 - NAMED) for one in sums))), self.budget)

    def released(self, purpose: str, key: str | None = None) -> Table:
        """Pay for all of it, and release the table."""
        asked: dict[str, tuple[Array, Spread]] = {}
        counts: dict[str, int] = {}
        with self.data.permit(self.plan.event, purpose, key=key) as permit:
            mechanisms, named = list(self.plan.mechanisms), self
            if self.unlisted is not None:
                counts = self._most(permit.ask(KeyCounts(self.unlisted), mechanisms.pop(0)))
                named = self._naming({self.unlisted: Category(tuple(counts) or (PLACEHOLDER,))})
            lists = tuple(named.lists.items())
            questions: list[Question] = [
                OfListed(stage.question, lists) if lists else stage.question for stage in named.stages
            ]
            found = permit.ask_each(list(zip(questions, mechanisms, strict=True)))
            for name, stage, mechanism, release in zip(named._keys, named.stages, mechanisms, found, strict=True):
                asked[name] = release, spread(named.data, stage.question, mechanism)
        sums = {name: Released(values, noise, permit.receipt) for name, (values, noise) in asked.items()}
        columns = named._columns(sums)
        if self.unlisted is not None:
            columns |= self._counted(counts, permit.receipt)
        return named._table(columns, purpose, permit.receipt, nobody=self.unlisted is not None and not counts)

    def _counted(self, counts: Mapping[str, int], receipt: Receipt) -> dict[str, list[Estimate]]:
        """The counts that named the groups: they were paid for, and are shown as they are."""
        naming: Any = self.plan.mechanisms[0]
        rows, neighbors = self.data.unit.rows, self.data.neighbors
        noise = Spread(Laplace(naming.multiplier), math.sqrt(2) * naming.scale(rows, neighbors))
        found = [Released(np.array([float(number)]), noise, receipt) for number in counts.values() or (0,)]
        named = [one for one in self.aggregates if self._is_named(one)]
        return {one.label: list(map(one.one_sum(self._listed._asked).read, found)) for one in named}

    def _most(self, counts: dict[str, int]) -> dict[str, int]:
        """As many groups as a table may have: those with the largest noisy counts, in alphabetical order."""
        listed = self._listed
        assert listed.groups is not None
        numbers = max((stage.question.size for stage in listed.stages), default=1)
        most = min(MOST_GROUPS // listed.groups.domain.size, MOST_NUMBERS // numbers)
        return dict(sorted(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]))

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(key_of, self._sums)))

    def _columns(self, sums: Mapping[str, Released]) -> dict[str, list[Estimate]]:
        """The statistics that are read off sums, of every group."""
        parts = {key: _of_groups(whole, len(self._rows[0])) for key, whole in sums.items()}
        return {
            one.label: [found.read(part) for part in parts[key_of(found)]]
            for one, found in zip(self._summed, self._sums, strict=True)
        }

    @property
    def _rows(self) -> tuple[tuple[str, ...], ...]:
        """What each group is, column by column."""
        return (("all",),) if self.groups is None else tuple(self.groups.labels.values())

    def _table(self, columns: Mapping[str, list[Estimate]], purpose: str, receipt: Receipt, *, nobody: bool) -> Table:
        """The statistics of every group; no group at all, where none could be named."""
        labels = dict(zip(self.by or ("records",), self._rows, strict=True))
        series = [series_of(one.label, columns[one.label]) for one in self.aggregates]
        if nobody:
            labels, series = dict.fromkeys(labels, ()), [one.at(slice(0)) for one in series]
        return Table(name=purpose, receipt=receipt, confidence=self.confidence, labels=labels, series=tuple(series))


def _of_groups(whole: Released, groups: int) -> list[Released]:
    """What was released of each group."""
    every = np.asarray(whole.values).reshape(groups, -1)
    return [Released(values, whole.spread, whole.receipt) for values in every]
