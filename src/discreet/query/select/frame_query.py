"""Statistics of groups that were not asked for yet: to plan, to explain, to write in SQL, and to release."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from discreet.core.budget import Budget
from discreet.core.checks import check_by_name, check_positive
from discreet.core.errors import NotPermitted, ParameterError
from discreet.query.forecast.forecast import Expectation, Forecast
from discreet.query.forecast.plan import MOST_EPSILON, plan
from discreet.query.forecast.planned_question import PlannedQuestion, read_once
from discreet.query.select.bounds_by_group import BoundsByGroup
from discreet.query.select.explanation import Explanation, explained
from discreet.query.select.lost_groups import LostGroups
from discreet.query.select.selection import Selection
from discreet.query.select.stated_errors import StatedErrors
from discreet.query.select.written_sql import written_sql
from discreet.releases.spread import CONFIDENCE
from discreet.releases.table import Table
from discreet.schema.relation.asked_rows import RowStatistic, StatisticRows
from discreet.trust.private_data import PrivateData
from discreet.trust.telling import telling

ASKED = "aggregate"


@dataclass(frozen=True)
class FrameQuery:
    """Statistics of groups that were not asked for yet.

    Parameters
    ----------
    of : PrivateData
        The records, as they are told of where questions are answered elsewhere.
    scaled : BoundsByGroup
        The same records, and which columns have bounds of their own in each group.
    relation : StatisticRows
        Public. What is asked.
    purpose : str
        Public. What is written in the ledger.
    said : dict of str to object
        Public. What was said, as it is told where questions are answered elsewhere.
    """

    of: PrivateData
    scaled: BoundsByGroup
    relation: StatisticRows
    purpose: str
    said: dict[str, Any] = field(default_factory=dict)

    @cached_property
    def data(self) -> PrivateData:
        """The records."""
        return self.scaled.data

    def selection(self, budget: Budget, confidence: float = CONFIDENCE) -> Selection:
        """What would be paid for."""
        return Selection.read(self.data, self.relation, budget, confidence)

    def release(
        self, *, epsilon: float = 1.0, delta: float = 0.0, confidence: float = CONFIDENCE, key: str | None = None
    ) -> Table:
        """Release the statistics of every group, at one price that is paid first.

        Parameters
        ----------
        epsilon, delta : float
            Public. What they may cost together. Groups that only the data know need a delta.
        confidence : float
            Public. Of each interval.
        key : str, optional
            Public. Makes a retry safe.
        """
        budget = Budget(epsilon, delta)
        said = {"groups": {**self.said, "confidence": confidence}}
        with telling(self.of, said, budget) if self.of.elsewhere else nullcontext():
            return self.scaled.restored(self.selection(budget, confidence).released(self.purpose, key))

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

        def read(data: PrivateData, budget: Budget) -> Callable[[], Table]:
            selection = dataclasses.replace(self.selection(budget), data=data)
            return lambda: self.scaled.restored(selection.released(self.purpose))

        found = plan(self.data, PlannedQuestion(self.purpose, read_once(read)), n=n, epsilon=epsilon, **how)
        if expected is None:
            return found
        check_by_name(ASKED, "expected", expected)
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
        check_by_name(ASKED, "errors", errors)
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
