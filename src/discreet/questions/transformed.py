"""Any question, asked about records as a transformation makes them."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from discreet.core.answer import AnyAnswer
from discreet.core.condition import Condition, Mask, Places, Values
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.filtered import DerivedView
from discreet.questions.named import question_of
from discreet.questions.question import BoundedSum, Question, View
from discreet.questions.recipe import Recipe, recipe
from discreet.questions.transformation import (
    ASKED,
    ColumnTerm,
    Computed,
    Filled,
    KeptColumn,
    MissingMark,
    Transformation,
    sources,
)
from discreet.schema.expressed import Expressed
from discreet.schema.schema import Category, Number, Schema


def transformed(question: Question, by: Transformation) -> Question:
    """A question about the records after a transformation, as one about the records before it.

    A transformation computes each record by itself, so neighbors stay neighbors, and the bound of the question stays
    its bound.
    """
    if not isinstance(question, BoundedSum):
        return OfTransformed(question, by)
    return _sum_after(question, by) if question.recipe is None else _recipe_after(question.recipe, by)


def _sum_after(question: BoundedSum, by: Transformation) -> BoundedSum:
    rows, total, tally = by.rows(question.columns), question.total, question.tally
    made = by.formulas(question.columns)
    first = tuple(level for level in made or () if level)  # none, where no column is read
    return dataclasses.replace(
        question,
        of=lambda records: question.of(rows(records)),
        columns=by.reads(question.columns),
        total=None if total is None else lambda records: total(rows(records)),
        raw=False,
        recipe=None,
        tally=None if tally is None or made is None else dataclasses.replace(tally, before=(*first, *tally.before)),
    )


def _recipe_after(asked: Recipe, by: Transformation) -> BoundedSum:
    """The same as a recipe, which others can build too."""
    if any(isinstance(one, Expressed) for one in by.outputs):
        return _recipe_after_deriving(asked, by)
    if any(isinstance(one, Filled | MissingMark) for one in by.outputs):
        return _recipe_after_filling(asked, by)
    places = {source: place for place, source in enumerate(sources(by.before))}
    matrix, numbers = np.zeros((len(by.outputs), len(places))), np.zeros((len(by.outputs), 3))
    for row, one in enumerate(by.outputs):
        if isinstance(one, Computed):
            numbers[row] = one.offset, one.number.lower, one.number.upper
            for term in one.terms:
                matrix[row, places[term.column, term.place]] = term.weight
    names, kept = zip(*((one.name, isinstance(one, KeptColumn)) for one in by.outputs), strict=True)
    return transformed_of(by.before, names, kept, matrix, numbers, asked.written())


@recipe("transformed")
def transformed_of(
    schema: Schema, names: tuple[str, ...], kept: tuple[bool, ...], matrix: Array, numbers: Array, inner: str
) -> BoundedSum:
    """The sum that a recipe makes of the records after a transformation.

    Parameters
    ----------
    schema : Schema
        Public. Of the records before it.
    names, kept : tuple
        Public. The columns after it, and whether each is a column as it was.
    matrix : array of shape (columns after, numbers and values of categories before)
        Public. The weights of which each other column is a sum.
    numbers : array of shape (columns after, 3)
        Public. What is added to this sum, and the bounds that it is moved inside.
    inner : str
        Public. A recipe of this library, about the schema after it, as it is written.
    """
    every = sources(schema)
    if not len(names) == len(kept) == len(matrix) or matrix.shape != (len(names), len(every)):
        shapes = f"{len(names)} names, {len(kept)} flags and a matrix of shape {matrix.shape} for {len(every)} sources"
        raise ParameterError(ASKED, f"there are {shapes}", "Give one row for each column after it.")
    if numbers.shape != (len(names), 3):
        raise ParameterError(ASKED, f"the shape of the offsets and bounds is {numbers.shape}", "Give three for each.")
    outputs = [
        KeptColumn(name) if is_kept else _computed(name, every, weights, *bounds)
        for name, is_kept, weights, bounds in zip(names, kept, matrix, numbers.tolist(), strict=True)
    ]
    by = Transformation(schema, tuple(outputs))
    return _sum_after(question_of(Recipe.read(inner), by.after), by)


def _computed(
    name: str, every: list[tuple[str, int | None]], weights: Array, offset: float, lower: float, upper: float
) -> Computed:
    terms = (ColumnTerm(column, float(weights[i]), place) for i, (column, place) in enumerate(every) if weights[i] != 0)
    return Computed(name, tuple(terms), offset, Number(lower, upper))


def _recipe_after_filling(asked: Recipe, by: Transformation) -> BoundedSum:
    if any(isinstance(one, Computed) for one in by.outputs):
        raise ParameterError(ASKED, "it fills some columns and computes others", "Do one after the other.")
    marks = [one for one in by.outputs if isinstance(one, MissingMark)]
    kept = tuple(one.name for one in by.outputs if not isinstance(one, MissingMark))
    filled = {one.name: one.value for one in by.outputs if isinstance(one, Filled)}
    pairs = tuple(one.name for one in marks), tuple(one.of_column for one in marks)
    return filled_of(by.before, kept, tuple(filled), tuple(filled.values()), *pairs, asked.written())


@recipe("filled")
def filled_of(
    schema: Schema,
    kept: tuple[str, ...],
    filled: tuple[str, ...],
    values: tuple[float, ...],
    marks: tuple[str, ...],
    marked: tuple[str, ...],
    inner: str,
) -> BoundedSum:
    """The sum that a recipe makes of records whose missing values are replaced, and marked.

    Parameters
    ----------
    schema : Schema
        Public. Of the records as they are.
    kept : tuple of str
        Public. The columns that there are afterwards, before the marks.
    filled, values : tuple
        Public. Those of them whose missing values are replaced, and by what: categories by their place.
    marks, marked : tuple of str
        Public. The names of marks, and the columns whose missing values they mark.
    inner : str
        Public. A recipe of this library, about the schema after it, as it is written.
    """
    if len(filled) != len(values) or len(marks) != len(marked) or not set(filled) <= set(kept):
        obstacle = f"there are {len(filled)} columns and {len(values)} values, {len(marks)} marks of {len(marked)}"
        raise ParameterError(ASKED, obstacle, "Give a value for each column that is kept, and a column for each mark.")
    by = dict(zip(filled, values, strict=True))
    outputs = [Filled(name, by[name]) if name in by else KeptColumn(name) for name in kept]
    every = Transformation(schema, (*outputs, *map(MissingMark, marks, marked)))
    return _sum_after(question_of(Recipe.read(inner), every.after), every)


def derivation(schema: Schema, texts: Mapping[str, str], bounds: Mapping[str, tuple[float, float]]) -> Transformation:
    """All columns of a schema, and new ones that expressions compute from them.

    Parameters
    ----------
    schema : Schema
        Public. Of the records.
    texts : mapping of str to str
        Public. The expressions of the new columns, by their names; see `expression_of`.
    bounds : mapping of str to (float, float)
        Public. Of new columns for which those that follow from the schema are too wide; numbers are moved inside them.

    Examples
    --------
    >>> schema = Schema({"stay": Number(0, 60)})
    >>> derivation(schema, {"hours": "stay * 24"}, {}).after.columns["hours"]
    Number(lower=0.0, upper=1440.0)
    """
    outputs = [KeptColumn(name) for name in schema.columns]
    return Transformation(schema, (*outputs, *Expressed.every(schema, texts, bounds)))


def _recipe_after_deriving(asked: Recipe, by: Transformation) -> BoundedSum:
    new = [one for one in by.outputs if isinstance(one, Expressed)]
    if len(new) + len(by.before.columns) != len(by.outputs):
        raise ParameterError(ASKED, "it computes some columns and changes others", "Do one after the other.")
    names, texts = tuple(one.name for one in new), tuple(str(one.expression) for one in new)
    ends = tuple((float(one.number.lower), float(one.number.upper)) for one in new)
    return derived_of(by.before, names, texts, ends, asked.written())


@recipe("derived")
def derived_of(
    schema: Schema, names: tuple[str, ...], texts: tuple[str, ...], ends: tuple[tuple[float, ...], ...], inner: str
) -> BoundedSum:
    """The sum that a recipe makes of the records with columns that expressions compute.

    Parameters
    ----------
    schema : Schema
        Public. Of the records as they are.
    names, texts : tuple of str
        Public. The new columns, and their expressions.
    ends : tuple of tuples of two float
        Public. Their bounds; numbers outside are moved inside.
    inner : str
        Public. A recipe of this library, about the schema with the new columns, as it is written.
    """
    if not len(names) == len(texts) == len(ends) == len(set(names)) or not all(len(one) == 2 for one in ends):
        obstacle = f"there are {len(names)} names, {len(texts)} expressions and {len(ends)} bounds"
        raise ParameterError(ASKED, obstacle, "Give one of each, with two bounds, for each new column.")
    bounds = {name: (one[0], one[1]) for name, one in zip(names, ends, strict=True)}
    by = derivation(schema, dict(zip(names, texts, strict=True)), bounds)
    return _sum_after(question_of(Recipe.read(inner), by.after), by)


@dataclass(frozen=True)
class OfTransformed:
    """A question that is no bounded sum, about the records after a transformation. A curator alone can ask this.

    Parameters
    ----------
    question : Question
        Public. What is asked.
    by : Transformation
        Public. Of each record by itself.
    """

    question: Question
    by: Transformation

    @property
    def columns(self) -> tuple[str, ...]:
        return self.by.reads(self.question.columns)

    def answer(self, view: View) -> AnyAnswer:
        return self.question.answer(TransformedView(view, self.by))


@dataclass(frozen=True)
class ConditionAfter:
    """A condition on records after a transformation, as one on the records before it."""

    of: Condition
    by: Transformation

    @property
    def columns(self) -> tuple[str, ...]:
        return self.by.reads(self.of.columns)

    def mask(self, values: Values) -> Mask:
        rows = self.by.rows(self.of.columns)(np.column_stack([values[name] for name in self.columns]))
        return self.of.mask(dict(zip(self.of.columns, rows.T, strict=True)))

    def sql(self, places: Places) -> str:
        """The same in SQL: what is computed are columns of a table of one row."""
        levels = self.by.formulas(self.of.columns)
        assert levels is not None  # a transformation whose outputs have no formulas is asked no condition
        own = ", ".join(f"c{places[name]} AS own{i}" for i, name in enumerate(self.columns))
        named = ", ".join(f"own{i} AS c{i}" for i in range(len(self.columns)))
        table = f"(SELECT {named} FROM (SELECT {own}) AS own) AS t"  # DuckDB reads c0 AS c0 as a name for itself
        for level in levels:
            table = f"(SELECT {', '.join(f'{one.sql} AS c{i}' for i, one in enumerate(level))} FROM {table}) AS t"
        return f"(SELECT {self.of.sql({name: i for i, name in enumerate(self.of.columns)})} FROM {table})"


class TransformedView(DerivedView):
    """The records of a view after a transformation."""

    def __init__(self, view: View, by: Transformation) -> None:
        super().__init__(view)
        self._by = by

    def asked(self, question: BoundedSum) -> BoundedSum:
        return _sum_after(question, self._by)

    def reads(self, columns: Sequence[str]) -> tuple[str, ...]:
        return self._by.reads(columns)

    def rows(self, columns: Sequence[str]) -> Callable[[Array], Array]:
        return self._by.rows(columns)

    def keys(self, column: str, condition: Condition | None = None) -> Iterator[dict[str, int]]:
        """Rows per value of a text column, which is kept as it is; a condition is one on the records after it."""
        return self.view.keys(column, None if condition is None else ConditionAfter(condition, self._by))

    def listing(self, lists: Mapping[str, Category]) -> View:
        """The same records, with columns of text that are read as categories of these values; such are kept as read."""
        return TransformedView(
            self.view.listing(lists), dataclasses.replace(self._by, before=self._by.before.listing(lists))
        )
