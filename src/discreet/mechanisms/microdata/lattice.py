"""Full-domain generalisation: the levels that lose least, of all combinations, such that a table is anonymous."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property, reduce
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, SensitiveValues
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.equivalence_classes import Ranked, joint_codes
from discreet.mechanisms.microdata.generalization_levels import GeneralizationLevels, on_level
from discreet.mechanisms.microdata.mondrian import sensitive_values

Node = tuple[int, ...]  # a level for each quasi-identifier
UNKNOWN, YES, NO = 0, 1, 2
FEW = 2**16  # cells that are counted in a table rather than by sorting


@dataclass(frozen=True)
class Lattice:
    """Release records with every quasi-identifier on one level for all of them, few left out: NOT PRIVATE.

    Of all combinations of levels the one is taken that loses least: the mean over quasi-identifiers of the loss of the
    level (`GeneralizationLevels.losses`), where a record that is left out loses 1. Records are left out whose class
    does not fulfil the model; the rest is looked at again, since t-closeness compares with the table that is released.

    It is broken by *minimality*: levels are as high as they are because lower ones were not allowed (Wong and others
    2007). That says of whoever is known to be in the table what was among them.

    Parameters
    ----------
    model : AnonymityModel
        Public. What every class fulfils.
    levels : tuple of GeneralizationLevels
        Public. Of the quasi-identifiers, which are the first columns.
    sensitive : tuple of (int, bool)
        Public. The places of sensitive columns, and whether the order of their values says how near they are.
    suppression : float
        Public. The share of records that may be left out.
    """

    model: AnonymityModel
    levels: tuple[GeneralizationLevels, ...]
    sensitive: tuple[tuple[int, bool], ...] = ()
    suppression: float = 0.0
    event: ClassVar[NoPromise] = NoPromise("classes of k true records: one record can move levels, and others tell it")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records on the best levels, or none, where no levels are enough."""
        table = GeneralizedTable(self, answer)
        search = LatticeSearch(table) if table.records else None
        if search is None or search.best is None:
            near = self.model.shortfall(table.spread, table.records, answer.rows)
            return ChangedRows(
                answer.values[:0], {"groups": [], "near": near if search is None else near + search.near}
            )
        kept = table.kept(search.best)
        found, groups = answer.values[kept], list[Array]()
        for place, (levels, level) in enumerate(zip(self.levels, search.best, strict=True)):
            if level:
                coarse = on_level(levels, found[:, place], level)
                ranked = Ranked.of(coarse)
                found[:, place] = np.where(np.isnan(coarse), np.nan, ranked.codes)
                groups.append(ranked.values)
            else:
                groups.append(np.empty(0))
        notes = {"levels": list(search.best), "left_out": table.records - len(found), "loss": search.least}
        return ChangedRows.shuffled(found, bits, groups=groups, **notes)


@dataclass
class GeneralizedTable:
    """Records of which each class is looked at on any levels; records that are alike are looked at once."""

    lattice: Lattice
    answer: Records
    tables: list[list[Steps]] = field(init=False)  # for each column and level, the code of each rank
    sizes: list[list[int]] = field(init=False)  # how many codes there are
    ranks: list[Steps] = field(init=False)  # of records that differ
    own: Steps = field(init=False)  # which of these each record is
    weights: Steps = field(init=False)

    def __post_init__(self) -> None:
        values = self.answer.values
        columns = [Ranked.of(values[:, place]) for place in range(len(self.lattice.levels))]
        coarse = [
            [Ranked.of(on_level(levels, _with_missing(column), level)) for level in range(len(levels.losses))]
            for levels, column in zip(self.lattice.levels, columns, strict=True)
        ]
        self.tables = [[one.codes for one in levels] for levels in coarse]
        self.sizes = [[one.count for one in levels] for levels in coarse]
        keys = joint_codes([column.codes for column in columns], [column.count for column in columns])
        _, first, own, self.weights = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
        self.own, self.ranks = own.reshape(-1), [column.codes[first] for column in columns]

    @property
    def records(self) -> int:
        return len(self.answer.values)

    @property
    def limit(self) -> int:
        """How many records may be left out."""
        return math.floor(self.lattice.suppression * self.records + 1e-9)

    @cached_property
    def spread(self) -> list[SensitiveValues]:
        return sensitive_values(self.answer.values, self.lattice.sensitive)

    def classes(self, node: Node) -> tuple[Steps, Steps]:
        """The class of each record that differs from others, and the sizes of classes."""
        codes = [table[level][own] for table, level, own in zip(self.tables, node, self.ranks, strict=True)]
        counts = [sizes[level] for sizes, level in zip(self.sizes, node, strict=True)]
        keys = joint_codes(codes, counts)
        if math.prod(counts) > FEW:
            _, own = np.unique(keys, return_inverse=True)
            own = own.reshape(-1)
        else:
            own = (np.cumsum(np.bincount(keys) > 0) - 1)[keys]
        return own, np.bincount(own, self.weights).astype(np.int64)

    def left_out(self, node: Node, model: AnonymityModel) -> int:
        """How many records are in classes that do not fulfil a model; beyond the limit, at least so many."""
        if not model.looks_at_values:
            sizes = self.classes(node)[1]
            return int(sizes[sizes < model.k * self.answer.rows].sum())
        return self.records - int(self._kept(node, model).sum())

    def kept(self, node: Node) -> NDArray[np.bool_]:
        """Which records are in classes that fulfil the model of the lattice."""
        return self._kept(node, self.lattice.model)

    def _kept(self, node: Node, model: AnonymityModel) -> NDArray[np.bool_]:
        own, sizes = self.classes(node)
        own, kept = own[self.own], np.ones(self.records, np.bool_)
        spread = self.spread
        while len(sizes):
            met = model.met(spread, own, sizes, self.answer.rows)
            if met.all():
                break
            fine = met[own]
            kept[kept] = fine
            if self.records - kept.sum() > self.limit:
                break
            own, sizes = (np.cumsum(met) - 1)[own[fine]], sizes[met]
            spread = [SensitiveValues.of(column.codes[fine], column.ordered) for column in spread]
        return kept


def _with_missing(column: Ranked) -> Array:
    """The value of each rank."""
    return np.append(column.values, np.nan) if column.missing else column.values


@dataclass
class LatticeSearch:
    """The search for the best node: by paths and bisection as Flash does, with whatever follows from a node marked.

    Flash (Kohlmayer, Prasser, Eckert, Kemper and Kuhn 2012) walks up from nodes that are not marked, and bisects the
    path: what is above a node that is enough is enough too, and what is below one that is not enough is not. This holds
    for k people and l different values with any number of records left out, since classes only grow on the way up; and
    for all models where no record may be left out. For entropies, frequencies and distances with records left out it
    does not: a class that did not fulfil them may spoil the one it is merged with. There paths are bisected by what is
    necessary (`AnonymityModel.necessary`), and each node that is left is looked at.

    No node loses less than its levels do, records left out or not; so one whose levels alone lose as much as the best
    found so far is passed over.
    """

    table: GeneralizedTable
    marks: NDArray[np.int8] = field(init=False)
    losses: Array = field(init=False)  # of levels alone
    seen: dict[Node, float] = field(init=False, default_factory=dict)  # what nodes lose with records left out
    best: Node | None = field(init=False, default=None)
    least: float = field(init=False, default=math.inf)
    fewest: float = field(init=False, default=math.inf)  # records that a node would leave out

    def __post_init__(self) -> None:
        levels = self.table.lattice.levels
        parts = [np.array(one.losses) / len(levels) for one in levels]
        self.losses = reduce(np.add.outer, parts[1:], parts[0])
        self.marks = np.zeros(self.losses.shape, np.int8)
        for node in self._by_height():
            if self._open(node):
                self._walk(node)
        for place in np.argsort(self.losses, axis=None, kind="stable"):
            node = tuple(int(level) for level in np.unravel_index(place, self.losses.shape))
            if self.losses[node] >= self.least:
                break
            if self.marks[node] == YES and node not in self.seen:
                self._look(node)

    @cached_property
    def bisected(self) -> AnonymityModel:
        """What is true above each node where it is true."""
        model = self.table.lattice.model
        return model if self.table.limit == 0 or model.grows else model.necessary

    @property
    def near(self) -> str:
        """How near the nodes that were looked at came."""
        return f"; at least {self.fewest} records would be left out, and {self.table.limit} may be"

    def _by_height(self) -> Iterator[Node]:
        heights = np.indices(self.losses.shape).reshape(self.losses.ndim, -1).sum(axis=0)
        for place in np.lexsort((self.losses.ravel(), heights)):
            yield tuple(int(level) for level in np.unravel_index(place, self.losses.shape))

    def _open(self, node: Node) -> bool:
        return bool(self.marks[node] == UNKNOWN and self.losses[node] < self.least)

    def _walk(self, node: Node) -> None:
        """Bisect the path above a node, and then paths above those that were not enough."""
        waiting = [(float(self.losses[node]), node)]
        while waiting:
            _, first = heapq.heappop(waiting)
            starts = [first] if self._open(first) else [up for up in self._above(first) if self._open(up)]
            for start in starts:
                for missed in self._bisect(self._path(start)):
                    heapq.heappush(waiting, (float(self.losses[missed]), missed))

    def _above(self, node: Node) -> list[Node]:
        """The nodes one level higher in one column, those that lose least first."""
        higher = [(*node[:i], level + 1, *node[i + 1 :]) for i, level in enumerate(node)]
        inside = [up for up in higher if all(a < b for a, b in zip(up, self.losses.shape, strict=True))]
        return sorted(inside, key=lambda up: (float(self.losses[up]), up))

    def _path(self, node: Node) -> list[Node]:
        """From a node upwards, through nodes that are not marked."""
        path = [node]
        while (up := next((one for one in self._above(path[-1]) if self._open(one)), None)) is not None:
            path.append(up)
        return path

    def _bisect(self, path: list[Node]) -> list[Node]:
        """Mark a path, and whatever follows from it; the nodes that were looked at and are not enough."""
        low, high, missed = 0, len(path) - 1, []
        while low <= high:
            middle = (low + high) // 2
            if self._look(path[middle]):
                high = middle - 1
            else:
                low = middle + 1
                missed.append(path[middle])
        return missed

    def _look(self, node: Node) -> bool:
        """Whether a node is enough for what is bisected by; if it is for the model too, it may be the best."""
        table, model = self.table, self.table.lattice.model
        count = table.left_out(node, self.bisected)
        enough = count <= table.limit
        slices = tuple(slice(level, None) if enough else slice(level + 1) for level in node)
        part = self.marks[slices]
        part[part == UNKNOWN] = YES if enough else NO
        if enough and self.bisected != model:
            count = table.left_out(node, model)
        self.fewest = min(self.fewest, count)
        if enough and count <= table.limit:
            loss = float(self.losses[node])
            self.seen[node] = loss + (1 - loss) * count / table.records
            if self.seen[node] < self.least:
                self.best, self.least = node, self.seen[node]
        elif enough:
            self.seen[node] = math.inf
        return enough
