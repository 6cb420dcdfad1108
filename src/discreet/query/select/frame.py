"""The same as in SQL, step by step: choose and compute, group, and ask for several statistics at one price."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.core.checks import check_by_name, shown
from discreet.core.errors import ParameterError
from discreet.query.select.aggregate import check_own
from discreet.query.select.bounds_by_group import BoundsByGroup, GroupEnds
from discreet.query.select.frame_query import ASKED, FrameQuery
from discreet.query.words import StatisticQuestion, Wording, named, statistic_asked, unknown
from discreet.questions.tables.cells import Edges
from discreet.schema.relation.asked_rows import GroupedRows, RowStatistic, StatisticRows
from discreet.trust.private_data import PrivateData

WAYS = 'Write such as "mean of stay", "count" or "quantile of stay q=0.9".'
PRICE = ("epsilon", "delta", "confidence", "key")
Statistic = str | StatisticQuestion
"""In words; or one of `discreet.query.aggregates`."""


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

    def __post_init__(self) -> None:
        for name in self.by:
            if not isinstance(name, str):
                raise ParameterError("group_by", f"{shown(name)} is no name of a column", "Give texts.")

    def aggregate(
        self,
        /,
        *asked: Statistic,
        bounds: Mapping[str, Mapping[str, GroupEnds]] | None = None,
        weights: Mapping[str, float] | None = None,
        **labelled: Statistic,
    ) -> FrameQuery:
        """Several statistics of every group at one price. Nothing is asked yet: that is what `release` does.

        Parameters
        ----------
        *asked, **labelled : str or StatisticQuestion
            Public. The statistics in words, such as "count", "mean of stay", "quantile of stay q=0.9"; or as
            `count()`, `mean("stay")`, `quantile("stay", 0.9)` of `discreet.query.aggregates`. By name, where their
            columns shall have one.
        bounds : mapping of str to mappings, optional
            Public. The bounds of columns by group, such as `{"stay": {"icu": (0, 90), "day": (0, 2)}}`: what each
            group adds is then moved by no more than its own bounds allow.
        weights : mapping of str to float, optional
            Public. Shares of the price, by the names of the columns; 1 by default.
        """
        if priced := [name for name in PRICE if name in labelled]:
            remedy = f"Write .aggregate(...).release({priced[0]}=...)."
            raise ParameterError(ASKED, f"{priced[0]} is said before anything is released", remedy)
        for name, said_by_name in (("bounds", bounds), ("weights", weights)):
            check_by_name(ASKED, name, said_by_name or {})
        words, named_words = list(map(_words, asked)), {label: _words(one) for label, one in labelled.items()}
        statistics = [*zip(words, asked, strict=True), *labelled.items()]
        weighted = _weighted([_statistic(label, one) for label, one in statistics], weights or {})
        text = ", ".join([*words, *(f"{text} as {label}" for label, text in named_words.items())])
        scaled = BoundsByGroup.over(self.data, self.by, bounds or {}, weighted)
        relation = StatisticRows(GroupedRows(scaled.data.relation, self.by, self.edges), scaled.statistics)
        said: dict[str, Any] = {"by": [*self.by], "words": words, "labelled": named_words, "edges": self.edges}
        said |= {name: one for name, one in (("bounds", bounds), ("weights", weights)) if one is not None}
        return FrameQuery(
            self.data, scaled, relation, f"{text}{f' by {chr(32).join(self.by)}' if self.by else ''}", said
        )


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
    >>> from discreet import Budget
    >>> visits = {"stay": [2.0, 4.0] * 500, "ward": ["day"] * 500 + ["icu"] * 500}
    >>> data = PrivateData.of(visits, {"stay": (0, 60), "ward": ["day", "icu"]}, Budget(9.0))
    >>> query = group_by(data.derive(hours="stay * 24"), "ward").aggregate("count", "mean of hours")
    >>> table = query.release(epsilon=9.0)
    >>> [series.name for series in table.series], bool(abs(table["mean of hours"].values[0] - 72) < 20)
    (['count', 'mean of hours'], True)
    >>> query = group_by(data.where("stay > 2"), "ward").aggregate("count", longest="maximum of stay")
    >>> print(query.sql())
    SELECT "ward", count(*) AS "count", max("stay") AS "longest" FROM "records" WHERE "stay" > 2 GROUP BY "ward"
    """
    return GroupedData(data, by, edges)


def _statistic(label: str, asked: Statistic) -> RowStatistic:
    question = asked if isinstance(asked, StatisticQuestion) else _in_words(asked)
    check_own(f"{ASKED} {_words(asked)!r:.60}", question)
    return RowStatistic(label, question.function.__name__, tuple(question.options.items()))


def _weighted(every: Sequence[RowStatistic], weights: Mapping[str, float]) -> tuple[RowStatistic, ...]:
    """The statistics with their shares of the price; a weight of what is not asked for is refused."""
    labels = [one.label for one in every]
    for name in weights:
        if name not in labels:
            obstacle = f"there is a weight of {name!r:.60}, which is not asked for"
            raise ParameterError(ASKED, obstacle, f"There are {', '.join(labels)}.")
    return tuple(dataclasses.replace(one, weight=weights.get(one.label, 1.0)) for one in every)


def _in_words(text: str) -> StatisticQuestion:
    words = Wording.of(text)
    found = named(words) if words.words else None
    if found is None:
        raise unknown(f"{ASKED} {text!r:.60}", words.words[0] if words.words else "", WAYS)
    function, columns = found
    return statistic_asked(f"{ASKED} {text!r:.60}", function, columns, words.options)


def _words(asked: Statistic) -> str:
    if not isinstance(asked, str | StatisticQuestion):
        raise ParameterError(ASKED, f"{asked!r:.60} is no text", WAYS)
    return asked if isinstance(asked, str) else asked.words
