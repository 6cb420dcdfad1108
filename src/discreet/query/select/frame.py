"""The same as in SQL, step by step: choose and compute, group, and ask for several statistics at one price."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from discreet.core.budget import Budget
from discreet.core.checks import check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.query.forecast.forecast import Expectation, Forecast
from discreet.query.forecast.plan import MOST_EPSILON, plan
from discreet.query.forecast.planned_question import PlannedQuestion
from discreet.query.select.bounds_by_group import BoundsByGroup, GroupEnds
from discreet.query.select.explanation import Explanation, explained
from discreet.query.select.lost_groups import LostGroups
from discreet.query.select.selection import Selection
from discreet.query.select.stated_errors import StatedErrors
from discreet.query.select.written_sql import written_sql
from discreet.query.words import Wording, named, statistic_asked, unknown
from discreet.questions.tables.cells import Edges
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import GroupedRows, RowStatistic, StatisticRows
from discreet.trust.private_data import PrivateData
from discreet.trust.telling import telling

ASKED = "aggregate"
WAYS = 'Write such as "mean of stay", "count" or "quantile of stay q=0.9".'


@dataclass(frozen=True)
class GroupedData:
    """Records by groups, to be asked for statistics of each; see `group_by`.

    Parameters
    ----------
    data : PrivateData
        The records.
    by : tuple of str
        Public. The columns that make groups; none, where all records are one.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers that make groups.
    """

    data: PrivateData
    by: tuple[str, ...] = ()
    edges: Edges | None = None

    def asking(
        self,
        *words: str,
        bounds: Mapping[str, Mapping[str, GroupEnds]] | None = None,
        weights: Mapping[str, float] | None = None,
        **labelled: str,
    ) -> FrameQuery:
        """What `aggregate` would ask, and nothing is asked: to plan, to explain, or to write in SQL.

        Parameters
        ----------
        *words, **labelled : str
            Public. The statistics; see `aggregate`.
        bounds : mapping of str to mappings, optional
            Public. The bounds of columns by group, such as `{"stay": {"icu": (0, 90), "day": (0, 2)}}`: what each
            group adds is then moved by no more than its own bounds allow.
        weights : mapping of str to float, optional
            Public. Shares of the price, by the names of the columns; 1 by default.
        """
        every = [(text, text) for text in words] + list(labelled.items())
        asked = tuple(_statistic(label, text) for label, text in every)
        for name in weights or {}:
            if name not in [one.label for one in asked]:
                obstacle = f"there is a weight of {name!r:.60}, which is not asked for"
                raise ParameterError(ASKED, obstacle, f"There are {', '.join(one.label for one in asked)}.")
        weighted = tuple(dataclasses.replace(one, weight=(weights or {}).get(one.label, 1.0)) for one in asked)
        text = ", ".join([*words, *(f"{text} as {label}" for label, text in labelled.items())])
        purpose = f"{text}{f' by {chr(32).join(self.by)}' if self.by else ''}"
        scaled = BoundsByGroup.over(self.data, self.by, bounds or {}, weighted)
        relation = StatisticRows(GroupedRows(scaled.data.relation, self.by, self.edges), scaled.statistics)
        return FrameQuery(scaled, relation, purpose)

    def selection(self, *words: str, budget: Budget, confidence: float = CONFIDENCE, **labelled: str) -> Selection:
        """What would be asked: refused here, if it may not be."""
        return self.asking(*words, bounds=None, weights=None, **labelled).selection(budget, confidence)

    def aggregate(
        self,
        *words: str,
        epsilon: float = 1.0,
        delta: float = 0.0,
        confidence: float = CONFIDENCE,
        bounds: Mapping[str, Mapping[str, GroupEnds]] | None = None,
        weights: Mapping[str, float] | None = None,
        key: str | None = None,
        **labelled: str,
    ) -> Table:
        """Release several statistics of every group, at one price that is paid first.

        Parameters
        ----------
        *words, **labelled : str
            Public. The statistics in words, such as "count", "mean of stay", "quantile of stay q=0.9"; by name, where
            their columns shall have one.
        epsilon, delta : float
            Public. What they may cost together. Groups that only the data know need a delta.
        confidence : float
            Public. Of each interval.
        bounds, weights : mapping, optional
            Public. Bounds of columns by group, and shares of the price; see `asking`.
        key : str, optional
            Public. Makes a retry safe.
        """
        query = self.asking(*words, bounds=bounds, weights=weights, **labelled)
        if not self.data.elsewhere:
            return query.released(epsilon=epsilon, delta=delta, confidence=confidence, key=key)
        said = {
            "by": [*self.by],
            "words": [*words],
            "labelled": labelled,
            "edges": self.edges,
            "confidence": confidence,
            **({} if bounds is None else {"bounds": bounds}),
            **({} if weights is None else {"weights": weights}),
        }
        with telling(self.data, {"groups": said}, Budget(epsilon, delta)):
            return query.released(epsilon=epsilon, delta=delta, confidence=confidence, key=key)


@dataclass(frozen=True)
class FrameQuery:
    """Statistics of groups that were not asked for yet.

    Parameters
    ----------
    scaled : BoundsByGroup
        The records, and which columns have bounds of their own in each group.
    relation : StatisticRows
        Public. What is asked.
    purpose : str
        Public. What is written in the ledger.
    """

    scaled: BoundsByGroup
    relation: StatisticRows
    purpose: str

    @cached_property
    def data(self) -> PrivateData:
        """The records."""
        return self.scaled.data

    def selection(self, budget: Budget, confidence: float = CONFIDENCE) -> Selection:
        """What would be paid for."""
        return Selection.read(self.data, self.relation, budget, confidence)

    def released(
        self, *, epsilon: float = 1.0, delta: float = 0.0, confidence: float = CONFIDENCE, key: str | None = None
    ) -> Table:
        """Pay, and release the table."""
        selection = self.selection(Budget(epsilon, delta), confidence)
        return self.scaled.restored(selection.released(self.purpose, key))

    def plan(
        self,
        n: int | None = None,
        *,
        epsilon: float | Sequence[float] | None = None,
        expected: Mapping[str, float] | None = None,
        **how: Any,
    ) -> Forecast:
        """How far off each column would be; nothing is asked, and nothing is read.

        Parameters
        ----------
        n : int
            Public. The number of records or users that is assumed.
        epsilon : float or sequence of float, optional
            Public. The prices.
        expected : mapping of str to float, optional
            Public. The number of rows of each group that only the data know, from what you know without them: then it
            says how many of them would not be named.
        **how
            Public. As `discreet.plan` takes it: `delta`, `for_error`.
        """

        def ask(data: PrivateData, budget: Budget) -> Table:
            selection = dataclasses.replace(self.selection(budget), data=data)
            return self.scaled.restored(selection.released(self.purpose))

        found = plan(self.data, PlannedQuestion(self.purpose, ask), n=n, epsilon=epsilon, **how)
        if expected is None:
            return found
        prices = dict.fromkeys((one.epsilon, one.delta) for one in found.expectations if math.isfinite(one.epsilon))
        lost = []
        for price, delta in prices:
            number = self.lost(expected, epsilon=price, delta=delta).number
            basis = f"of {len(expected)} expected"
            lost.append(Expectation("groups left out", price, delta, number, number, number, basis))
        return dataclasses.replace(found, expectations=(*found.expectations, *lost))

    def for_errors(self, errors: Mapping[str, float], n: int | None = None, *, delta: float = 0.0) -> StatedErrors:
        """What to pay, and by which weights to share it, for an error of each statistic; nothing is asked or read.

        Parameters
        ----------
        errors : mapping of str to float
            Public. Half the width of the interval that is wanted of each column, by its name.
        n : int
            Public. The number of records or users that is assumed.
        delta : float
            Public. What all may cost, beside epsilon.
        """
        labels = [one.label for one in self.relation.statistics]
        if sorted(errors) != sorted(labels):
            raise ParameterError(
                ASKED, f"errors are stated of {', '.join(errors)}", f"State that of {', '.join(labels)}."
            )
        for name, error in errors.items():
            check_positive(ASKED, f"the error of {name}", error)
        alone = {
            one.label: self._with(one).plan(n, for_error=errors[one.label], delta=delta).expectations[0].epsilon
            for one in self.relation.statistics
        }

        def planned(epsilon: float, weights: Mapping[str, float]) -> dict[str, float]:
            shared = (dataclasses.replace(one, weight=weights[one.label]) for one in self.relation.statistics)
            found = self._with(*shared).plan(n, epsilon=epsilon, delta=delta).expectations
            return {one.question.rpartition(": ")[2]: one.error for one in found}  # what is not there is exact

        return StatedErrors.of(errors, alone, planned, MOST_EPSILON)

    def _with(self, *statistics: RowStatistic) -> FrameQuery:
        return dataclasses.replace(self, relation=dataclasses.replace(self.relation, statistics=statistics))

    def lost(self, expected: Mapping[str, float], *, epsilon: float = 1.0, delta: float = 1e-6) -> LostGroups:
        """Which groups that only the data know would not be named, if they were as large as is expected.

        Parameters
        ----------
        expected : mapping of str to float
            Public. The number of rows of each group, from what you know without the data.
        epsilon, delta : float
            Public. What all may cost together.
        """
        selection = self.selection(Budget(epsilon, delta))
        if selection.unlisted is None:
            obstacle = "the values of all groups are public, and none is left out"
            raise NotPermitted("lost groups", obstacle, "Ask where a column of text makes groups.")
        return LostGroups.of(selection, expected)

    def sql(self) -> str:
        """The same in SQL, as `discreet.sql` reads it."""
        return written_sql(self.relation)

    def explain(self, *, epsilon: float = 1.0, delta: float = 0.0) -> Explanation:
        """What is done, from the tables to the release: how many rows a unit moves at each step, and how much noise.

        Parameters
        ----------
        epsilon, delta : float
            Public. What all may cost together.
        """
        return explained(self.relation, self.selection(Budget(epsilon, delta)))


def group_by(data: PrivateData, *by: str, edges: Edges | None = None) -> GroupedData:
    """Records by groups, to be asked for several statistics of each at one price.

    Parameters
    ----------
    data : PrivateData
        The records, after `where`, `derive`, `per_unit` and `join`.
    *by : str
        Public. The columns that make groups: with listed values, with a step, or with edges; or one whose values only
        the data know.
    edges : sequence, or mapping of str to sequences, optional
        Public. The ends of the cells of numbers.

    Examples
    --------
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> table = group_by(data.derive(hours="stay * 24"), "ward").aggregate("count", "mean of hours", epsilon=9.0)
    >>> [series.name for series in table.series], bool(abs(table["mean of hours"].values[0] - 72) < 20)
    (['count', 'mean of hours'], True)
    >>> query = group_by(data.where("stay > 2"), "ward").asking("count", longest="maximum of stay")
    >>> print(query.sql())
    SELECT "ward", count(*) AS "count", max("stay") AS "longest" FROM "records" WHERE "stay" > 2 GROUP BY "ward"
    """
    return GroupedData(data, by, edges)


def _statistic(label: str, text: str) -> RowStatistic:
    if not isinstance(text, str):
        raise ParameterError(ASKED, f"{text!r:.60} is no text", WAYS)
    words = Wording.of(text)
    found = named(words) if words.words else None
    if found is None:
        raise unknown(f"{ASKED} {text!r:.60}", words.words[0] if words.words else "", WAYS)
    function, columns = found
    for name in ("by", "where", "epsilon", "delta", "key", "edges"):
        if name in words.options:
            raise ParameterError(f"{ASKED} {text!r:.60}", f"{name} is said of one statistic", "Say it of all of them.")
    question = statistic_asked(f"{ASKED} {text!r:.60}", function, columns, words.options)
    return RowStatistic(label, function.__name__, tuple(question.options.items()))
