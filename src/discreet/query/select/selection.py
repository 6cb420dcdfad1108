"""Several statistics at one price: planned together, paid once, and read off as few sums as they share."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, get_args

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.query.words import StatisticQuestion, declared, statistic_asked
from discreet.questions.filtered import OfListed
from discreet.questions.question import Question
from discreet.questions.recipe import MOST_NUMBERS
from discreet.questions.tables.cells import Edges
from discreet.questions.tables.domain import Domain
from discreet.questions.tables.key_counts import KeyCounts
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.declaration import declaration_of
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.groups import MOST_GROUPS, Groups, series_of
from discreet.releases.joint_plan import JointPlan, Stage, priced, staged
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread, spread
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import GroupedRows, RowStatistic, StatisticRows
from discreet.schema.schema import Category, Text
from discreet.statistics.moments.column_moments import Moments
from discreet.trust.private_data import PrivateData

ASKED = "select"
NAMED = 0.5  # the share of the price for naming groups that only the data know, where their counts are not asked for
PLACEHOLDER = "group"


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

    @property
    def statistic(self) -> str:
        return declaration_of(self.question.function).name

    @property
    def column(self) -> str | None:
        found: str | None = self.question.options.get("column")
        return found


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

    @classmethod
    def read(cls, data: PrivateData, asked: StatisticRows, budget: Budget, confidence: float = CONFIDENCE) -> Selection:
        """What a relation asks for, of the data that its rows are."""
        groups = asked.of
        assert isinstance(groups, GroupedRows)
        every = tuple(_aggregate(one) for one in asked.statistics)
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
        return self._naming({self.unlisted: Category((PLACEHOLDER,))})

    @property
    def placeheld(self) -> Selection:
        """The same with a made-up group: what its sums and their noise are."""
        return self._listed

    @property
    def labels_of_stages(self) -> tuple[tuple[str, ...], ...]:
        """Which columns are read off each sum."""
        keys = [_key(found) for found in self._sums]
        return tuple(
            tuple(one.label for one, own in zip(self.aggregates, keys, strict=True) if own == key) for key in self._keys
        )

    def _naming(self, lists: Mapping[str, Category]) -> Selection:
        return dataclasses.replace(self, data=self.data.listing(lists), lists=dict(lists))

    @cached_property
    def groups(self) -> Groups | None:
        return Groups.wanted(self.data, self.by or None, self.edges)

    @cached_property
    def _sums(self) -> tuple[OneSum[Estimate], ...]:
        """What each statistic is read off: those about the moments of one column share the richest of their sums."""
        alone = [self._one_sum(one) for one in self.aggregates]
        richest: dict[str, OneSum[Estimate]] = {}
        for one, found in zip(self.aggregates, alone, strict=True):
            if one.column is not None and _degree(found) > _degree(richest.get(one.column)):
                richest[one.column] = found
        return tuple(
            _sharing(one, found, richest.get(one.column or ""), self.confidence)
            for one, found in zip(self.aggregates, alone, strict=True)
        )

    def _one_sum(self, one: Aggregate) -> OneSum[Estimate]:
        """The sum of one statistic, as it is asked of a group: so none finds another way, and pays for it by itself."""
        declaration = declaration_of(one.question.function)
        options = declaration.bound((self.data,), {**one.question.options, "confidence": self.confidence})
        own = {name: options[name] for name in declaration.own}
        single = Estimate in (declaration.gives, *get_args(declaration.gives)) and np.ndim(own.get("q", 0.5)) == 0
        if (declaration.no_by is not None and self.by) or not single:
            remedy = f"Ask for it by itself: discreet.{declaration.name}(...)."
            raise NotPermitted(ASKED, f"{declaration.title} is no single number of every group", remedy)
        if declaration.subject:
            groups = self.groups or Groups(self.data, Domain((), ()))
            found = declaration.compute(ColumnOf(self.data, str(one.column), budget=self.budget, groups=groups), **own)
        else:
            records = RecordsOf(self.data, declaration, None, None, self.by or None, self.edges, self.budget, None)
            found = declaration.compute(records, **own)
        assert isinstance(found, OneSum)
        return found

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        """The sums that are asked, each once, with their shares of the price."""
        shares: dict[str, float] = {}
        questions: dict[str, Any] = {}
        for one, found in zip(self.aggregates, self._sums, strict=True):
            key = _key(found)
            shares[key] = shares.get(key, 0.0) + one.weight
            asked: Any = found.question
            questions[key] = asked if self.groups is None else self.groups.question(asked)
        return tuple(Stage(questions[key], share) for key, share in shares.items())

    @cached_property
    def plan(self) -> JointPlan:
        """All mechanisms at their price: that which names groups, if one does, and those of the sums."""
        if self.unlisted is None:
            return JointPlan(staged(self.data, self.stages, self.budget).mechanisms)
        listed, half = self._listed, Budget(self.budget.epsilon, self.budget.delta / 2)
        naming = calibrate(KeySelection(delta=half.delta / 2), half)
        sums = staged(listed.data, listed.stages, half).mechanisms
        return calibrate(JointPlan((priced(naming, NAMED), *(priced(one, 1 - NAMED) for one in sums))), self.budget)

    def released(self, purpose: str, key: str | None = None) -> Table:
        """Pay for all of it, and release the table."""
        asked: dict[str, tuple[Array, Spread]] = {}
        counts: dict[str, int] | None = None
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
        return named._table(sums, purpose, nobody=counts == {})

    def _most(self, counts: dict[str, int]) -> dict[str, int]:
        """As many groups as a table may have: those with the largest noisy counts, in alphabetical order."""
        listed = self._listed
        assert listed.groups is not None
        numbers = max(stage.question.size for stage in listed.stages)
        most = min(MOST_GROUPS // listed.groups.domain.size, MOST_NUMBERS // numbers)
        return dict(sorted(sorted(counts.items(), key=lambda one: (-one[1], one[0]))[:most]))

    @cached_property
    def _keys(self) -> tuple[str, ...]:
        return tuple(dict.fromkeys(map(_key, self._sums)))

    def _table(self, sums: Mapping[str, Released], purpose: str, *, nobody: bool) -> Table:
        """The statistics of every group; no group at all, where none could be named."""
        labels: Mapping[str, tuple[str, ...]] = {"records": ("all",)} if self.groups is None else self.groups.labels
        rows = len(next(iter(labels.values())))
        columns = []
        for one, found in zip(self.aggregates, self._sums, strict=True):
            whole = sums[_key(found)]
            parts = np.asarray(whole.values).reshape(rows, -1)
            read = [found.read(Released(part, whole.spread, whole.receipt)) for part in parts]
            columns.append(series_of(one.label, read))
        if nobody:
            labels, columns = dict.fromkeys(labels, ()), [series.at(slice(0)) for series in columns]
        return Table(
            name=purpose,
            receipt=next(iter(sums.values())).receipt,
            confidence=self.confidence,
            labels=labels,
            series=tuple(columns),
        )


def _aggregate(one: RowStatistic) -> Aggregate:
    """A statistic as it is declared: refused here, if it does not take what was said of it."""
    options = {name: value for name, value in one.options if name != "column"}
    columns = [] if one.column is None else [one.column]
    return Aggregate(one.label, statistic_asked(ASKED, declared()[one.statistic], columns, options), one.weight)


def _key(found: OneSum[Any]) -> str:
    """What tells sums apart."""
    recipe = getattr(found.question, "recipe", None)
    return str(found.question) if recipe is None else str(recipe.written())


def _degree(found: OneSum[Any] | None) -> int:
    """The degree of the moments that it asks for; 0, where it asks for something else."""
    recipe = None if found is None else getattr(found.question, "recipe", None)
    return recipe.parameters["degree"] if recipe is not None and recipe.name == "moments" else 0


def _sharing(
    one: Aggregate, found: OneSum[Estimate], richest: OneSum[Estimate] | None, confidence: float
) -> OneSum[Estimate]:
    """The same statistic, read off moments of its column that are asked for anyway."""
    if richest is None or _key(richest) == _key(found):
        return found
    if _degree(found):
        return dataclasses.replace(found, question=richest.question)
    plain = one.statistic in ("count", "total") and not one.question.options.get("population")
    if not plain or richest.of.size is not None:
        return found
    number, whole = richest.of.schema.number(str(one.column)), one.statistic == "count"

    def read(released: Released) -> Estimate:
        moments = Moments(released.values, number, None)
        return estimate_of(found.name, moments.count() if whole else moments.total(), released, confidence)

    return dataclasses.replace(found, question=richest.question, read=read)
