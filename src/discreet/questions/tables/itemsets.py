"""Items of baskets, sets of items, and how many records have all items of a set."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.core.bound import Bound, Norm
from discreet.core.checks import check_one_of, check_size
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Grid, Steps
from discreet.questions.question import BoundedSum
from discreet.questions.recipe import recipe
from discreet.questions.tables.domain import Bins, Domain, Mask, place_among
from discreet.schema.dates import Temporal
from discreet.schema.schema import Boolean, Column, Schema

ASKED = "itemsets"
NOTHING = -1  # in the place of an item, in a set of fewer items
MOST_SETS, MOST_ITEMS, MOST_SIZE = 2**16, 2**12, 5
AT_ONCE = 2**24  # bytes
Packed = NDArray[np.uint64]


@dataclass(frozen=True)
class Items:
    """The items that a record can have, from the schema alone: one for each listed value or cell of a number.

    Of a column of truth values there is one item, which a record has where the value is true. A missing value is no
    item, so a record has at most one item of each column.

    Parameters
    ----------
    domain : Domain
        Public. The columns, their values and cells.
    truths : tuple of bool
        Public. Which columns are truth values.

    Examples
    --------
    >>> from discreet.schema.schema import Category, Number
    >>> schema = Schema({"tea": Boolean(), "town": Category(("Bonn", "Ulm")), "age": Number(0, 90)})
    >>> items = Items.of(schema, ("tea", "town", "age"), 2)
    >>> items.names
    ('tea', 'town=Bonn', 'town=Ulm', 'age=[0, 45)', 'age=[45, 90)')
    >>> items.present(np.array([[1.0, np.nan, 90.0]])).astype(int)
    array([[1, 0, 0, 0, 1]])
    """

    domain: Domain
    truths: tuple[bool, ...]

    @classmethod
    def of(cls, schema: Schema, columns: Sequence[str], bins: Bins) -> Items:
        """The items of these columns, if they are not too many."""
        domain = Domain.of(schema, columns, bins)
        check_size("items", sum(domain.shape), MOST_ITEMS)
        edges = zip(domain.columns, domain.edges, strict=True)
        named = {name: texts for name, own in edges if (texts := _cells(schema.columns[name], own))}
        truths = tuple(isinstance(schema.columns[name], Boolean) for name in domain.columns)
        made = cls(dataclasses.replace(domain, named=named), truths)
        if len(set(made.names)) < len(made.names):
            raise ParameterError("items", "two of them have the same name", "Rename a column, or give fewer bins.")
        return made

    @property
    def columns(self) -> tuple[str, ...]:
        return self.domain.columns

    @cached_property
    def cells(self) -> tuple[tuple[int, int], ...]:
        """The column of each item, by its place, and its cell."""
        every = enumerate(zip(self.domain.shape, self.truths, strict=True))
        return tuple((place, cell) for place, (size, truth) in every for cell in range(int(truth), size))

    @cached_property
    def homes(self) -> Steps:
        """The column of each item, by its place."""
        return np.array([home for home, _ in self.cells], dtype=np.int64)

    @cached_property
    def names(self) -> tuple[str, ...]:
        labels = self.domain.labels
        return tuple(
            self.columns[home] if self.truths[home] else f"{self.columns[home]}={labels[home][cell]}"
            for home, cell in self.cells
        )

    def present(self, records: Array) -> Mask:
        """Which items each record has."""
        found = np.zeros((len(records), len(self.cells)), dtype=np.bool_)
        places = [self._places(records, home) for home in range(len(self.columns))]
        for place, (home, cell) in enumerate(self.cells):
            found[:, place] = places[home] == cell
        return found

    def _places(self, records: Array, home: int) -> Array:
        values, edges = records[:, home], self.domain.edges[home]
        if edges is None:
            return values
        missing = np.isnan(values)
        return np.where(missing, np.nan, place_among(edges, np.where(missing, edges[0], values)))

    def without(self, home: int) -> float:
        """What a record has in a column in the place of an item that is taken away."""
        return 0.0 if self.truths[home] else np.nan

    def sets(self, sizes: range) -> int:
        """How many sets of so many items there are of which a record can have all."""
        counts = np.bincount(self.homes, minlength=len(self.columns)).tolist()
        ways = [1] + [0] * (sizes.stop - 1)
        for count in counts:
            ways = [1, *(ways[size] + ways[size - 1] * count for size in range(1, sizes.stop))]
        return sum(ways[size] for size in sizes)

    def listed(self, sizes: range) -> Steps:
        """All of these sets, by the places of their items; at the end `NOTHING`, where a set has fewer."""
        found, grown = [], np.empty((1, 0), dtype=np.int64)
        for size in range(1, sizes.stop):
            last = self.homes[grown[:, -1]] if size > 1 else np.array([-1])
            old, new = np.nonzero(self.homes[None, :] > last[:, None])
            grown = np.column_stack([grown[old], new])
            found += [padded(grown, sizes.stop - 1)] if size in sizes else []
        return np.concatenate([np.empty((0, sizes.stop - 1), dtype=np.int64), *found])


def _cells(column: Column, edges: Array | None) -> tuple[str, ...]:
    """What the cells of a number are called, where few digits of their edges do not say it; nothing, where they do."""
    if edges is None:
        return ()
    if isinstance(column, Temporal):
        return tuple(f"[{column.shown(a)}, {column.shown(b)})" for a, b in pairwise(edges.tolist()))
    short = len({f"{edge:.4g}" for edge in edges.tolist()}) == len(edges)
    return () if short else tuple(f"[{a!r}, {b!r})" for a, b in pairwise(edges.tolist()))


def padded(sets: Steps, size: int) -> Steps:
    """Sets of items in as many columns as this, with `NOTHING` where there is no item."""
    return np.pad(sets, ((0, 0), (0, size - sets.shape[1])), constant_values=NOTHING)


def packed(present: Mask) -> Packed:
    """The records that have each item, as bits; in the last row, in the place of `NOTHING`, all records.

    Examples
    --------
    >>> bits = packed(np.array([[True, False], [True, True], [False, True]]))
    >>> support_counts(bits, np.array([[0, 1], [1, NOTHING], [NOTHING, NOTHING]]))
    array([1, 2, 3])
    """
    n = len(present)
    bits = np.zeros((present.shape[1] + 1, -(-n // 64) * 8), dtype=np.uint8)
    bits[:, : -(-n // 8)] = np.packbits(np.vstack([present.T, np.ones((1, n), dtype=np.bool_)]), axis=1)
    return bits.view(np.uint64)


def support_counts(bits: Packed, sets: Steps) -> Steps:
    """How many records have all items of each set."""
    counts = np.zeros(len(sets), dtype=np.int64)
    step = max(AT_ONCE // max(bits.shape[1] * 8, 1), 1)
    for start in range(0, len(sets), step):
        some = sets[start : start + step]
        whole = bits[some[:, 0]]
        for items in some.T[1:]:
            whole &= bits[items]
        counts[start : start + step] = np.bitwise_count(whole).sum(axis=1, dtype=np.int64)
    return counts


@recipe("itemset_counts")
def itemset_counts_of(
    schema: Schema, columns: tuple[str, ...], bins: tuple[int, ...], sets: Array, norm: Norm
) -> BoundedSum:
    """How many records have all items of each set: one for each set of which a record has all.

    Of two sets with other items of the same columns a record has one at most: so it is in no more sets than there are
    choices of columns among them.

    Parameters
    ----------
    columns, bins : tuple
        Public. The columns, and the number of equal cells of each number; 0 for a category.
    sets : array of shape (sets, most items)
        Public. The places of the items of each set among `Items.names`; -1 where there is none. The set of no items is
        that of all records.
    norm : {"l1", "l2", "linf"}
        Public. In which what a record adds is bounded.
    """
    check_one_of(ASKED, "norm", norm, ("l1", "l2", "linf"))
    items = Items.of(schema, columns, bins)
    if sets.ndim != 2 or not 1 <= sets.shape[1] <= MOST_SIZE:
        raise ParameterError(ASKED, f"the shape of the sets is {sets.shape}", f"Give 1 to {MOST_SIZE} items of each.")
    check_size(ASKED, len(sets), MOST_SETS)
    if not ((sets >= NOTHING) & (sets < len(items.cells)) & (sets == np.rint(sets))).all():
        raise ParameterError(ASKED, "a set has an item that is not there", f"There are {len(items.cells)}.")
    places = sets.astype(np.int64)

    def of(records: Array) -> Array:
        present = np.column_stack([items.present(records), np.ones(len(records), dtype=np.bool_)])
        marks = np.ones((len(records), len(places)))
        for one in places.T:
            marks *= present[:, one]
        return marks

    def total(records: Array) -> Array:
        return support_counts(packed(items.present(records)), places).astype(np.float64)

    return BoundedSum(of, _bound(norm, _choices(items, places)), columns, Grid(0), total)


def _choices(items: Items, places: Steps) -> int:
    """How many choices of columns the sets have: of each, a record has one set at most, however often it is listed."""
    different = np.unique(np.sort(places, axis=1), axis=0, return_counts=True)
    homes = np.sort(np.append(items.homes, NOTHING)[different[0]], axis=1)
    _, where = np.unique(homes, axis=0, return_inverse=True)
    most = np.zeros(where.max() + 1, dtype=np.int64)
    np.maximum.at(most, where.ravel(), different[1])
    return int(most.sum())


def _bound(norm: Norm, choices: int) -> Bound:
    radius = {"l1": float(choices), "l2": math.sqrt(choices) * (1 + 2.0**-50), "linf": 1.0}[norm]
    return Bound(norm, radius, nonnegative=True)
