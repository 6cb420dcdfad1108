"""A private imputer: missing values are replaced by noisy means, medians or modes, or by public constants."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from discreet.core.checks import check_one_of, is_number
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.fitting.task import Task
from discreet.learners.private_transformer import PrivateTransformer
from discreet.questions.columns.moments import moments_of
from discreet.questions.question import BoundedSum
from discreet.questions.tables.contingency import contingency_of
from discreet.questions.transformation import Filled, KeptColumn, MissingMark, Transformation
from discreet.releases.joint_plan import Stage, StagedPlan, staged
from discreet.schema.schema import Category, Column, Number, Schema
from discreet.trust.permit import Permit
from discreet.trust.sources.columns.decoding import codes
from discreet.trust.stored import Artefact

CELLS = 32  # between the bounds of a number, whose median or mode is found to about one of them
SURE = 4.0  # deviations of the noise on a count: fewer records than that leave a mean near the middle of the bounds
MARK = "missingindicator_"
STRATEGIES = ("mean", "median", "most_frequent", "constant")


class SimpleImputer(PrivateTransformer):
    """Missing values, replaced by what is usual in their column; and marked, if wanted.

    A learner of this library counts a record with a missing number for nothing; after this step such records count. A
    missing category is replaced by the most frequent one, whatever the strategy, unless it is constant. Marks are made
    of all features: which of them have missing values is not public.

    Parameters
    ----------
    strategy : {"mean", "median", "most_frequent", "constant"}
        Public. What numbers are replaced by. Medians and most frequent numbers are found among 32 cells between the
        bounds. A constant asks nothing, and costs nothing.
    fill_value : number or str, or mapping of str to these, optional
        Public. The constant, or one for each column by its name. Without one it is the middle of the bounds of a
        number, and the first value of a category.
    add_indicator : bool
        Public. Whether a column follows for each feature, 1 where its value was missing, else 0.

    Attributes
    ----------
    statistics_ : array of shape (n_features,)
        Released. What replaces missing values: for a category, the place of the value in its list.

    Guarantee
    ---------
    `event_`: one release for each feature of a histogram, or of a count and a mean, composed, for the neighbors and the
    unit of the data set; add or remove one record for arrays. Released: `statistics_`, which follow from these (Dwork,
    McSherry, Nissim and Smith 2006). `transform` computes from rows that the caller already has, and what it gives is
    not private.

    Examples
    --------
    >>> X = np.random.default_rng(0).normal(30, 5, (20_000, 1))
    >>> X[::4] = np.nan
    >>> imputer = SimpleImputer(add_indicator=True, bounds=(0, 100), epsilon=1.0).fit(X)
    >>> imputer.transform([[np.nan], [28.0]]).round()
    array([[30.,  1.],
           [28.,  0.]])
    """

    purpose: ClassVar[str] = "imputer"

    def __init__(
        self,
        strategy: str = "mean",
        *,
        fill_value: Any = None,
        add_indicator: bool = False,
        bounds: Any = None,
        epsilon: float = 1.0,
        delta: float = 1e-6,
    ) -> None:
        self.strategy = strategy
        self.fill_value = fill_value
        self.add_indicator = add_indicator
        self.bounds = bounds
        self.epsilon, self.delta = epsilon, delta

    @property
    def free(self) -> bool:  # type: ignore[override]
        return self.strategy == "constant"

    def check(self) -> None:
        check_one_of(self.purpose, "strategy", self.strategy, STRATEGIES)
        if self.fill_value is not None and not self.free:
            obstacle = f"there is a fill_value, and the strategy is {self.strategy!r}"
            raise ParameterError(self.purpose, obstacle, 'Set strategy="constant", or leave it out.')

    def plan(self, task: Task) -> StagedPlan:
        """A question for each feature, with equal shares; nothing where constants are given."""
        if self.free:
            self._constants(task)
            return StagedPlan(())
        return staged(task.data, [Stage(question, 1.0) for question in self._questions(task)], task.budget)

    def learn(self, task: Task, plan: StagedPlan, permit: Permit) -> Artefact:
        if self.free:
            return {"statistics_": self._constants(task)}
        asked = zip(task.features, self._questions(task), plan.mechanisms, plan.spreads, strict=True)
        found = [
            self._usual(task.schema.columns[name], permit.ask(question, noise), spread.stddev)
            for name, question, noise, spread in asked
        ]
        return {"statistics_": np.array(found)}

    def transformation(
        self, schema: Schema, features: tuple[str, ...], fitted: Mapping[str, Any] | None
    ) -> Transformation:
        """Features whose missing values are replaced, and their marks; all else is kept."""
        own = [_first(schema.columns[name]) for name in features] if fitted is None else fitted["statistics_"].tolist()
        values = dict(zip(features, own, strict=True))
        kept = [Filled(name, values[name]) if name in values else KeptColumn(name) for name in schema.columns]
        marks = [MissingMark(f"{MARK}{name}", name) for name in features if self.add_indicator]
        return Transformation(schema, (*kept, *marks))

    def _questions(self, task: Task) -> list[BoundedSum]:
        return [self._question(task.schema, name) for name in task.features]

    def _question(self, schema: Schema, name: str) -> BoundedSum:
        if isinstance(schema.columns[name], Category):
            return contingency_of(schema, (name,), (0,))
        return (
            moments_of(schema, name, 1, False) if self.strategy == "mean" else contingency_of(schema, (name,), (CELLS,))
        )

    def _usual(self, column: Column, sums: Array, stddev: float) -> float:
        """What is usual, from the noisy sums of a column: between its bounds, whatever the noise."""
        if isinstance(column, Category):
            return float(np.argmax(sums))
        assert isinstance(column, Number)
        if self.strategy == "mean":
            records = max(float(sums.sum()), SURE * stddev)
            part = 0.5 + 0.5 * min(max(float(sums[1] - sums[0]) / records, -1.0), 1.0)
        elif self.strategy == "median":
            below = np.maximum.accumulate(np.maximum(np.cumsum(sums), 0.0))
            part = (int(np.searchsorted(below, below[-1] / 2)) + 0.5) / len(sums) if below[-1] > 0 else 0.5
        else:
            part = (int(np.argmax(sums)) + 0.5) / len(sums)
        return min(max(column.lower + (column.upper - column.lower) * part, column.lower), column.upper)

    def _constants(self, task: Task) -> Array:
        """The constants by the features, if each is a value that its column may have."""
        given = self.fill_value
        strange = {*given} - {*task.features} if isinstance(given, Mapping) else set()
        if strange:
            obstacle = f"fill_value names {', '.join(map(repr, sorted(strange, key=str)))}"
            raise ParameterError(self.purpose, obstacle, f"Name some of {', '.join(task.features)}.")
        own = given if isinstance(given, Mapping) else dict.fromkeys(task.features, given)
        return np.array([self._constant(name, task.schema.columns[name], own.get(name)) for name in task.features])

    def _constant(self, name: str, column: Column, value: Any) -> float:
        if value is None:
            return _first(column)
        if isinstance(column, Category):
            place = float(codes(np.array([value], dtype=object), column)[0])
            if not np.isnan(place):
                return place
        elif isinstance(column, Number) and is_number(value) and column.lower <= value <= column.upper:
            return float(value)
        obstacle = f"fill_value is {value!r:.40}, which is no value of {name!r}"
        raise ParameterError(
            self.purpose, obstacle, "Fill with a number between its bounds, or with a value of its list."
        )


def _first(column: Column) -> float:
    """The middle of the bounds of a number, and the place of the first value of a category."""
    return 0.5 * column.lower + 0.5 * column.upper if isinstance(column, Number) else 0.0
