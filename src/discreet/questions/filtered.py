"""Any question, asked about the records that fulfil a condition, and what views of the same records share."""

from __future__ import annotations

import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.answer import AnyAnswer
from discreet.core.condition import Condition, Joined, Mask
from discreet.core.grid import Array, Steps
from discreet.core.mechanism import SecretSample
from discreet.questions.mapped import RecordMap
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum, Question, View
from discreet.questions.recipe import Recipe, recipe
from discreet.schema.condition_text import condition_of
from discreet.schema.schema import Category, Schema


class DerivedView(ABC):
    """A view that makes its rows of those of another, as `View` says.

    Parameters
    ----------
    view : View
        The other.
    """

    def __init__(self, view: View) -> None:
        self.view, self.unit, self.neighbors, self.bits = view, view.unit, view.neighbors, view.bits

    @abstractmethod
    def asked(self, question: BoundedSum) -> BoundedSum:
        """The same question about the other view's records."""

    @abstractmethod
    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """The columns of the other view that these are made of."""

    @abstractmethod
    def rows(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        """What makes rows of these columns of the other view's."""

    @abstractmethod
    def listing(self, lists: Mapping[str, Category]) -> View:
        """The same records, with columns of text that are read as categories of these values."""

    def sum(self, question: BoundedSum, sample: SecretSample | None = None) -> Steps:
        return self.view.sum(self.asked(question), sample)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, batch by batch; a condition is one on the other view's records."""
        return self.view.keys(column, condition)

    def batches(self, columns: Sequence[str]) -> Iterator[Array]:
        return map(self.rows(columns), self.view.batches(self.reads(columns)))

    def everything(self, columns: Sequence[str]) -> Array:
        return self.rows(columns)(self.view.everything(self.reads(columns)))

    def units_by_rows(self, most: int) -> Steps:
        """How many units have 1, 2, ... rows, whatever these hold."""
        return self.view.units_by_rows(most)

    def dealt(self, records: Array, blocks: int) -> list[Array]:
        return self.view.dealt(records, blocks)

    def isolated(
        self, of: Callable[[Array], Any], blocks: Sequence[Array], size: int, seconds: float, form: str
    ) -> list[Array | None]:
        return self.view.isolated(of, blocks, size, seconds, form)

    def mapped(self, by: RecordMap) -> Array:
        """What a function makes of these records, and of none that is left out here."""
        return by.of(self.everything(by.reads), self.isolated)


@dataclass(frozen=True)
class OfListed:
    """A question about records with columns of text that are read as categories. A curator alone can ask this.

    What a record's text is read as depends on that record and on public lists, so neighbors stay neighbors.

    Parameters
    ----------
    question : Question
        Public. What is asked.
    lists : tuple of (str, Category)
        Public. The columns, and their values; any other value is missing.
    """

    question: Question
    lists: tuple[tuple[str, Category], ...]

    @property
    def columns(self) -> tuple[str, ...]:
        return self.question.columns

    def answer(self, view: View) -> AnyAnswer:
        return self.question.answer(view.listing(dict(self.lists)))


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

    if tally is not None and tally.before:
        tally = None  # its condition would be one on columns that are computed first
    if tally is not None:
        where = condition.sql({name: place for place, name in enumerate(columns)})
        tally = dataclasses.replace(tally, cell=tally.cell.when(where))
    return dataclasses.replace(
        question, of=of, columns=columns, total=None if total is None else fused, raw=False, recipe=None, tally=tally
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
        return _columns(self.question.columns, self.condition)

    def answer(self, view: View) -> AnyAnswer:
        return self.question.answer(FilteredView(view, self.condition))


class FilteredView(DerivedView):
    """The records of a view that fulfil a condition."""

    def __init__(self, view: View, condition: Condition) -> None:
        super().__init__(view)
        self._condition = condition

    def asked(self, question: BoundedSum) -> BoundedSum:
        """The same question, to which others add nothing."""
        return _sum_of(question, self._condition)

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        """These columns, then those of the condition."""
        return _columns(columns, self._condition)

    def rows(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        """The rows that fulfil it, without the columns that it alone reads."""
        chosen = _chosen(self.reads(columns), self._condition)
        return lambda records: np.ascontiguousarray(records[chosen(records), : len(columns)])

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        own = self._condition if condition is None else Joined("and", (self._condition, condition))
        return super().keys(column, own)

    def listing(self, lists: Mapping[str, Category]) -> View:
        return FilteredView(self.view.listing(lists), self._condition)
