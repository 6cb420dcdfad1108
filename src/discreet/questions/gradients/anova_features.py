"""Functions of single columns, and products of those of two: the features of a smooth ANOVA model.

A record's features are a constant, the functions of each column at its value, and, for each pair of columns, the
products of the first functions of both. What a function is in each cell of its column is public, and a whole number of
steps: so all products and all their sums are exact. A missing value is in no cell: its functions are 0.

Squares of features add up to c^2 + sum_i a_i + sum_{i<j} b_i b_j, where a_i and b_i add up the squares of the functions
of column i, alone and in pairs; and sizes likewise. So no feature is computed where lengths alone are needed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.bound import Norm
from discreet.core.checks import check_one_of, check_positive, check_size, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.columns.column_trees import LEAVES, LeafPlaces
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Codes
from discreet.questions.vectors.mapped_coordinates import AcuteBound
from discreet.questions.vectors.second_moments import products_of
from discreet.schema.schema import Category, Schema

ASKED = "features of an ANOVA model"
HALVES = Grid(-10)  # of the factors of a product
FEATURES = Grid(-20)  # of features
SHORT = Grid(-15)  # of features whose products are added up
HIGHEST = 4.0  # of a function
MOST_CELLS, MOST_FUNCTIONS, MOST_PAIRED, MOST_FEATURES = 2**10, 2**9, 2**7, 2**12
SHORTEST, LONGEST = 2.0**-8, 2.0**6  # what features may be shrunk to
SLICE = 2**20  # features at a time
POWER: dict[Norm, int] = {"l1": 1, "l2": 2}


@dataclass(frozen=True)
class Bases:
    """The functions of all columns, and how they are scaled: all of it public. See `AnovaFeatures`.

    Parameters
    ----------
    sizes : tuple of int
        How many functions each column has.
    starts : array of shape (n_columns, cells)
        The leaf at which each cell begins, in ascending order: of `LEAVES` of equal width, or of a category's values.
        A cell that begins where the next one does is empty.
    functions : array of shape (sum(sizes), cells)
        What each function is in each cell.
    scales : tuple of float
        The constant, what functions are multiplied by, and what they are multiplied by before those of two columns are.
    paired : tuple of int
        The places of the columns whose pairs have features.
    products : int
        How many functions of either column of a pair are multiplied with those of the other.
    """

    sizes: tuple[int, ...]
    starts: Array
    functions: Array
    scales: tuple[float, ...]
    paired: tuple[int, ...] = ()
    products: int = 1

    @property
    def given(self) -> dict[str, Any]:
        """As parameters of a recipe."""
        return dict(vars(self))

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of both columns of each pair."""
        return list(combinations(self.paired, 2))

    @property
    def size(self) -> int:
        """The number of features."""
        return 1 + sum(self.sizes) + len(self.pairs) * self.products**2

    def check(self, schema: Schema, columns: tuple[str, ...]) -> None:
        """Refuse what is not the bases of these columns, or too large for exact sums."""
        d, cells = len(columns), self.starts.shape[-1] if self.starts.ndim else 0
        check_whole(ASKED, "number of cells", cells, 1, MOST_CELLS)
        check_whole(ASKED, "products", self.products, 1, 16)
        for size in self.sizes:
            check_whole(ASKED, "number of functions", size, 1, MOST_FUNCTIONS)
        lists = [kind.values for name in columns if isinstance(kind := schema.columns[name], Category)]
        fits = (
            d == len(set(columns)) == len(self.sizes) > 0
            and self.starts.shape == (d, cells)
            and self.functions.shape == (sum(self.sizes), cells)
            and np.abs(self.functions).max() <= HIGHEST
            and len(self.scales) == 3
            and all(0 <= scale <= 1 for scale in self.scales)
            and bool((np.diff(self.starts, axis=1) >= 0).all())
            and bool(((self.starts >= 0) & (self.starts <= LEAVES)).all())
            and all(place in range(d) for place in self.paired)
            and list(self.paired) == sorted(set(self.paired))
            and len(self.paired) * self.products <= MOST_PAIRED
            and all(len(values) <= cells for values in lists)
        )
        if not fits:
            obstacle = f"{self.functions.shape} functions in {self.starts.shape} cells do not fit {d} columns"
            raise ParameterError(ASKED, obstacle, f"Give one function of at most {HIGHEST:g} for each row of sizes.")
        check_size(ASKED, self.size, MOST_FEATURES)


class AnovaFeatures:
    """What makes features of records, shrunk to a length; all of it public.

    Parameters
    ----------
    schema : Schema
        Of the records.
    columns : tuple of str
        Numbers and categories.
    bases : Bases
        The functions.
    reach : float
        The length that the features of a record are shrunk to.
    norm : {"l1", "l2"}
        In which they are measured.
    """

    grid = SHORT
    raw: ClassVar[bool] = False
    weight = 1.0

    def __init__(self, schema: Schema, columns: tuple[str, ...], bases: Bases, reach: float, norm: Norm) -> None:
        check_one_of(ASKED, "norm", norm, ("l1", "l2"))
        check_positive(ASKED, "reach", reach, SHORTEST, LONGEST)
        bases.check(schema, schema.values(columns))
        self.bases, self.reach, self.norm = bases, float(reach), norm
        self._places = LeafPlaces.of(schema, columns)
        self._codes = [_codes(own, int(last), bases) for own, last in zip(bases.starts, self._places.last, strict=True)]
        constant, single, half = bases.scales
        self.constant = float(np.rint(constant / FEATURES.step))
        beyond = np.pad(bases.functions, ((0, 0), (0, 1)))  # what a missing value has
        parts = np.split(beyond, np.cumsum(bases.sizes)[:-1])
        self.singles = [np.rint(single * own / FEATURES.step) for own in parts]
        self.halves = [
            np.rint(half * first_functions(parts[place], bases.products) / HALVES.step) for place in bases.paired
        ]

        self._lengths = [(np.abs(FEATURES.values(own)) ** POWER[norm]).sum(axis=0) for own in self.singles]
        self._half_lengths = [(np.abs(HALVES.values(own)) ** POWER[norm]).sum(axis=0) for own in self.halves]

    @cached_property
    def size(self) -> int:
        return self.bases.size

    @property
    def bound(self) -> AcuteBound:
        """Of the length of u u', where u are features that are shrunk; with a margin for the rounding of lengths."""
        return AcuteBound("l2", self.reach**2 * (1 + 2.0**-30))

    def cells(self, records: Array) -> Codes:
        """The cell of each value, a row for each column; one beyond the last where it is missing."""
        found = self._places.of_records(records)
        for own, codes in zip(found, self._codes, strict=True):
            own[:] = codes[own]
        return found

    def factors(self, cells: Codes) -> Array:
        """What the features of each record are multiplied by, so that they are no longer than `reach`.

        Lengths are added column after column, so those of a record do not depend on the others.
        """
        power = POWER[self.norm]
        length = np.full(cells.shape[1], (self.constant * FEATURES.step) ** power)
        for own, table in zip(cells, self._lengths, strict=True):
            length += table[own]
        summed = np.zeros(cells.shape[1])
        for place, table in zip(self.bases.paired, self._half_lengths, strict=True):
            squares = table[cells[place]]
            length += summed * squares
            summed += squares
        longest = np.sqrt(length) if self.norm == "l2" else length
        return self.reach / np.maximum(longest, self.reach)

    def factors_of_pairs(self, cells: Codes) -> Array:
        """The first functions of the columns that are paired, in steps of `HALVES`: of shape (functions, n)."""
        if not self.halves:
            return np.empty((0, cells.shape[1]))
        return np.concatenate(
            [half[:, cells[place]] for place, half in zip(self.bases.paired, self.halves, strict=True)]
        )

    def features(self, cells: Codes) -> Array:
        """All features, in steps of `FEATURES`: of shape (features, n)."""
        found = np.empty((self.size, cells.shape[1]))
        found[0], at = self.constant, 1
        for own, table in zip(cells, self.singles, strict=True):
            found[at : at + len(table)] = table[:, own]
            at += len(table)
        halves, k = self.factors_of_pairs(cells), self.bases.products
        for i, j in combinations(range(len(self.halves)), 2):
            block = found[at : at + k * k].reshape(k, k, -1)
            np.multiply(halves[i * k : i * k + k, None], halves[None, j * k : j * k + k], out=block)
            at += k * k
        return found

    def rows(self, records: Array) -> Array:
        """The features of each record, shrunk, in whole steps of `SHORT`, a row each."""
        cells = self.cells(records)
        return np.ascontiguousarray(self._short(cells).T)

    def products(self, records: Array) -> Steps:
        """The sum of u u', in squared steps; those of a slice are below 2**53, and so exact."""
        sums, rows = np.zeros((self.size, self.size), dtype=np.int64), max(SLICE // self.size, 1)
        for start in range(0, len(records), rows):
            short = self._short(self.cells(records[start : start + rows]))
            sums += (short @ short.T).astype(np.int64)
        return sums

    def _short(self, cells: Codes) -> Array:
        found = self.features(cells)
        np.multiply(found, self.factors(cells) * (FEATURES.step / SHORT.step), out=found)
        return np.trunc(found, out=found)


def _codes(starts: Array, last: int, bases: Bases) -> Codes:
    """The cell of each leaf, and, after the last of them, that of a missing value."""
    found = np.searchsorted(starts, np.arange(last + 1), side="right") - 1
    return np.append(np.maximum(found, 0), bases.starts.shape[1])


def first_functions(functions: Array, count: int) -> Array:
    """The first functions, and zeros where there are fewer."""
    return np.pad(functions[:count], ((0, max(count - len(functions), 0)), (0, 0)))


@recipe("anova_products")
def anova_products_of(
    schema: Schema,
    columns: tuple[str, ...],
    sizes: tuple[int, ...],
    starts: Array,
    functions: Array,
    scales: tuple[float, ...],
    paired: tuple[int, ...],
    products: int,
    reach: float,
) -> BoundedSum:
    """The sum of all products of two features of a record, which are shrunk; see `second_moments`.

    Parameters
    ----------
    columns : tuple of str
        Public. Numbers and categories.
    sizes, starts, functions, scales, paired, products : tuples and arrays
        Public. The functions: see `Bases`.
    reach : float
        Public. The length in l2 that the features of a record are shrunk to.
    """
    bases = Bases(sizes, starts, functions, scales, paired, products)
    return products_of(AnovaFeatures(schema, columns, bases, reach, "l2"), schema.values(columns))


def typical_length(variances: Array, norm: Norm) -> float:
    """The length that features with these mean squares have, about, if they are normal."""
    if norm == "l2":
        return math.sqrt(float(variances.sum()))
    return math.sqrt(2 / math.pi) * float(np.sqrt(variances).sum())
