"""Any question, asked about the records that fulfil a condition."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.answer import AnyAnswer
from discreet.core.condition import Condition, Joined, Mask
from discreet.core.condition_text import condition_of
from discreet.core.formula import Formula
from discreet.core.grid import Array, Steps
from discreet.core.question import BoundedSum, Question, View
from discreet.core.recipe import Recipe, recipe
from discreet.core.schema import Category, Schema
from discreet.core.secret_sample import SecretSample
from discreet.questions.named import question_of


def filtered(question: Question, condition: Condition, schema: Schema) -> Question:
    """A question about the records that fulfil a condition, as one about all of them.

    Whether a record fulfils it depends on that record alone: so one unit still moves the answer by no more than the
    question's own bound.
    """
    if not isinstance(question, BoundedSum):
        return OfFiltered(question, condition)
    if question.recipe is None:
        return _sum_of(question, condition)
    return filtered_of(schema, str(condition), question.recipe.written())


@recipe("filtered")
def filtered_of(schema: Schema, condition: str, inner: str) -> BoundedSum:
    """The sum that a recipe makes of the records which fulfil a condition; the others add nothing.

    Parameters
    ----------
    schema : Schema
        Public.
    condition : str
        Public. As `condition_of` reads it.
    inner : str
        Public. A recipe of this library, as it is written.
    """
    return _sum_of(question_of(Recipe.read(inner), schema), condition_of(condition, schema))


def _sum_of(question: BoundedSum, condition: Condition) -> BoundedSum:
    columns = _columns(question.columns, condition)
    width, total, tally = len(question.columns), question.total, question.tally
    chosen = _chosen(columns, condition)

    def of(records: Array) -> Array:
        return np.where(chosen(records)[:, None], question.of(records[:, :width]), 0.0)

    def fused(records: Array) -> Array | Steps:
        assert total is not None
        return total(np.ascontiguousarray(records[chosen(records), :width]))

    if tally is not None:
        where = condition.sql({name: place for place, name in enumerate(columns)})
        tally = dataclasses.replace(tally, cell=Formula(f"CASE WHEN {where} THEN {tally.cell.sql} END"))
    return dataclasses.replace(
        question,
        of=of,
        columns=columns,
        total=None if total is None else fused,
        raw=False,
        recipe=None,
        tally=tally,
    )


def _columns(own: Sequence[str], condition: Condition) -> tuple[str, ...]:
    """What must be read: the columns of a question, then those of a condition."""
    return tuple(dict.fromkeys((*own, *condition.columns)))


def _chosen(columns: Sequence[str], condition: Condition) -> Callable[[Array], Mask]:
    """Which rows of these columns fulfil a condition."""
    return lambda records: condition.mask(dict(zip(columns, records.T, strict=True)))


@dataclass(frozen=True)
class OfFiltered:
    """A question that is no bounded sum, about the records that fulfil a condition. A curator alone can ask this.

    Parameters
    ----------
    question : Question
        Public. What is asked.
    condition : Condition
        Public. Of each record by itself.
    """

    question: Question
    condition: Condition

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read."""
        return _columns(self.question.columns, self.condition)

    def answer(self, view: View) -> AnyAnswer:
        """What the question answers from these records."""
        return self.question.answer(FilteredView(view, self.condition))


class FilteredView:
    """The records of a view that fulfil a condition, as `View` says."""

    def __init__(self, view: View, condition: Condition) -> None:
        self._view, self._condition = view, condition
        self.unit, self.neighbors = view.unit, view.neighbors

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        """The exact sum, in grid steps, over all records or over a fresh secret sample of the units."""
        return self._view.sum(_sum_of(question, self._condition), sample)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch."""
        own = self._condition if condition is None else Joined("and", (self._condition, condition))
        return self._view.keys(column, own)

    def listing(self, lists: Mapping[str, Category]) -> View:
        """The same records, with columns of text that are read as categories of these values."""
        return FilteredView(self._view.listing(lists), self._condition)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        """All rows, batch by batch."""
        return map(self._cut(columns), self._view.batches(_columns(columns, self._condition)))

    def everything(self, columns: Sequence[str]) -> Array:
        """All rows in one matrix."""
        return self._cut(columns)(self._view.everything(_columns(columns, self._condition)))

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, whatever these hold."""
        return self._view.units_by_rows(most)

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        """Records in secret random blocks, each record by itself."""
        return self._view.dealt(records, blocks)

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        """What an untrusted function returns for each block of records, in a process of its own."""
        return self._view.isolated(of, blocks, size, seconds, form)

    def _cut(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        chosen = _chosen(_columns(columns, self._condition), self._condition)
        return lambda records: np.ascontiguousarray(records[chosen(records), : len(columns)])
