"""Counts of ever longer stretches of each column, of all columns at once: what distribution functions are read off."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Codes
from discreet.questions.tables.query_weighting import MARGIN
from discreet.questions.tables.tree import Tree
from discreet.schema.schema import Category, Schema

ASKED = "trees of columns"
LEAVES = 2**12  # cells of equal width of each number
MOST = 2**22  # counts
FANOUT: dict[Norm, int] = {"l1": 8, "l2": 4}  # children of a node; that of the least noise, in either norm


@dataclass(frozen=True)
class ColumnTrees:
    """A tree for each number, and one row of counts for each category, all of the same length. All of it public.

    Parameters
    ----------
    tree : Tree
        Of a number.
    sizes : tuple of int
        The number of values of each category; 0 for a number.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> schema = Schema({"age": Number(0, 90), "sex": Category(("f", "m"))})
    >>> trees = ColumnTrees.of(schema, ("age", "sex"), "l2")
    >>> trees.size == sum(trees.tree.sizes) + 2
    True
    """

    tree: Tree
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...], norm: Norm) -> ColumnTrees:
        """Of these columns, numbers or categories."""
        check_one_of(ASKED, "norm", norm, ("l1", "l2"))
        if not columns or len(set(columns)) != len(columns):
            raise ParameterError(ASKED, f"the columns are {columns!r}", "Name each column once, and at least one.")
        kinds = [schema.columns[name] for name in schema.values(columns)]
        sizes = tuple(len(kind.values) if isinstance(kind, Category) else 0 for kind in kinds)
        found = cls(Tree.weighted(FANOUT[norm], LEAVES, norm), sizes)
        check_size(ASKED, found.size, MOST)
        return found

    @property
    def widths(self) -> list[int]:
        """How many numbers each column has."""
        return [size or sum(self.tree.sizes) for size in self.sizes]

    @property
    def size(self) -> int:
        return sum(self.widths)

    @property
    def mark(self) -> int:
        """What a value of a category adds, in steps: no more than a number adds to its tree."""
        return math.floor(self.tree.bound.radius / MARGIN / self.tree.grid.step)

    @property
    def bound(self) -> Bound:
        d, norm = len(self.sizes), self.tree.norm
        times = float(d) if norm == "l1" else math.sqrt(d) * (1 + 2.0**-50)
        return Bound(norm, times * self.tree.bound.radius, nonnegative=True)

    def numbers(self, leaves: list[Array]) -> Array:
        """What counts in each column are measured as, in steps; leading axes stack."""
        found = [
            self.mark * own if size else self.tree.numbers(own) for size, own in zip(self.sizes, leaves, strict=True)
        ]
        return np.concatenate(found, axis=-1)

    def counts(self, released: Array) -> list[Array]:
        """The estimated counts of the leaves of each column, or of its values: post-processing."""
        parts = np.split(released, np.cumsum(self.widths)[:-1])
        one = self.tree.grid.values(np.array(self.mark))
        return [part / one if size else self.tree.leaves_of(part) for size, part in zip(self.sizes, parts, strict=True)]

    @property
    def variances(self) -> list[float]:
        """Of the number of records that each column says there are, for noise of deviation one."""
        whole = self.tree.variance(np.ones(LEAVES))
        return [size / (self.mark * self.tree.grid.step) ** 2 if size else whole for size in self.sizes]


@recipe("column_trees")
def column_trees_of(schema: Schema, columns: tuple[str, ...], norm: Norm) -> BoundedSum:
    """The counts of all trees; a missing value is in none of them, and the record's other values are.

    Parameters
    ----------
    columns : tuple of str
        Public. Numbers and categories.
    norm : {"l1", "l2"}
        Public. In which what a record adds is bounded.
    """
    trees = ColumnTrees.of(schema, columns, norm)
    places, ends = LeafPlaces.of(schema, columns), [size or LEAVES for size in trees.sizes]

    def of(records: Array) -> Array:
        found = places.of_records(records)
        marks = [(own[:, None] == np.arange(end)).astype(np.float64) for own, end in zip(found, ends, strict=True)]
        return trees.tree.grid.values(trees.numbers(marks))

    def total(records: Array) -> Array:
        found = places.of_records(records)
        counts = [np.bincount(own, minlength=end + 1)[:end] for own, end in zip(found, ends, strict=True)]
        return trees.numbers([own.astype(np.float64) for own in counts])

    return BoundedSum(of, trees.bound, schema.values(columns), trees.tree.grid, total)


@dataclass(frozen=True)
class LeafPlaces:
    """Finds the leaf of each value: one of so many cells of equal width, or the place of a category in its list.

    Parameters
    ----------
    lower, scale, last : arrays of shape (n_columns,)
        Public. The leaf of x is (x - lower) * scale, cut to a whole number from 0 to `last`.
    """

    lower: Array
    scale: Array
    last: Array

    @classmethod
    def of(cls, schema: Schema, columns: tuple[str, ...]) -> LeafPlaces:
        """Of these columns, numbers or categories."""
        ends = []
        for name in schema.values(columns):
            kind = schema.columns[name]
            if isinstance(kind, Category):
                ends.append((0.0, 1.0, len(kind.values) - 1.0))
            else:
                number = schema.number(name)
                ends.append((number.lower, LEAVES / (number.upper - number.lower), LEAVES - 1.0))
        return cls(*np.array(ends, dtype=np.float64).T)

    def of_records(self, records: Array) -> Codes:
        """The leaf of each value, a row for each column; one beyond the last where it is missing."""
        found = np.empty(records.shape[::-1], dtype=np.intp)
        for own, values, lower, scale, last in zip(found, records.T, self.lower, self.scale, self.last, strict=True):
            with np.errstate(over="ignore", invalid="ignore"):
                places = np.clip((values - lower) * scale, 0.0, last)
            own[:] = np.where(np.isnan(values), last + 1, places)
        return found
