"""Mondrian: records are cut into boxes, again and again, as long as every box keeps enough of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.mechanisms.microdata.anonymity_model import AnonymityModel, SensitiveValues
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.equivalence_classes import Ranked
from discreet.mechanisms.microdata.round_cuts import Scale

Codes = NDArray[np.int32]
Flags = NDArray[np.bool_]
Allowed = Callable[[Steps, Steps, Steps], Flags]  # of records, the part of each, and the sizes of parts


@dataclass(frozen=True)
class Mondrian:
    """Release records in boxes of at least k, as LeFevre, DeWitt and Ramakrishnan 2006 do: NOT PRIVATE.

    A box is cut in the column in which its values are widest, by ranks, at their median; where that leaves a part
    which does not fulfil the model, in the next widest. Equal values are never cut apart, and a missing value is one
    more value behind all others. A box that no column can be cut in is done. All boxes of a level are cut at once.

    What is released of a quasi-identifier is the box: ranges that leave no gap, from bound to bound, cut at the
    roundest number between two values, so that no bound is the value of a record unless no rounder number is there.

    It is broken by *minimality*: a box that could have been cut, and was not, had a part that was not allowed (Wong and
    others 2007). With l-diversity or t-closeness that says how the sensitive values lie.

    Parameters
    ----------
    model : AnonymityModel
        Public. What every box fulfils.
    scales : tuple of Scale
        Public. Of the quasi-identifiers, which are the first columns.
    sensitive : tuple of (int, bool)
        Public. The places of sensitive columns, and whether the order of their values says how near they are.
    """

    model: AnonymityModel
    scales: tuple[Scale, ...]
    sensitive: tuple[tuple[int, bool], ...] = ()
    event: ClassVar[NoPromise] = NoPromise("boxes of k true records: one record can move them, and others tell of it")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records with boxes for quasi-identifiers, or none, where not even all of them together are enough."""
        values, ranked = answer.values, [Ranked.of(column) for column in answer.values[:, : len(self.scales)].T]
        spread = sensitive_values(values, self.sensitive)

        def allowed(rows: Steps, own: Steps, sizes: Steps) -> Flags:
            return self.model.met([column.among(rows) for column in spread], own, sizes, answer.rows)

        every = np.arange(len(values))
        if not (len(every) and allowed(every, 0 * every, np.array([len(every)]))[0]):
            near = self.model.shortfall(spread, len(every), answer.rows)
            return ChangedRows(values[:0], {"ranges": [], "near": near})
        checked = allowed if self.model.looks_at_values else None
        boxes = cut_boxes([one.codes for one in ranked], self.model.k * answer.rows, checked)
        found, ranges = values.copy(), list[Array]()
        for place, (scale, column) in enumerate(zip(self.scales, ranked, strict=True)):
            bounds, own = scale.ranges(column, boxes.low[place], boxes.high[place])
            found[:, place] = own[boxes.own]
            ranges.append(bounds)
        return ChangedRows.shuffled(found, bits, ranges=ranges)


def sensitive_values(values: Array, sensitive: Sequence[tuple[int, bool]]) -> list[SensitiveValues]:
    """The sensitive columns of a table, by ranks."""
    return [SensitiveValues.of(Ranked.of(values[:, place]).codes, ordered) for place, ordered in sensitive]


@dataclass(frozen=True)
class RankBoxes:
    """Records in boxes of ranks.

    Parameters
    ----------
    own : array of int64, shape (n,)
        The box of each record.
    low, high : array of int64, shape (columns, boxes, 2)
        Between which ranks a box begins, and between which it ends: the last that is outside or inside, and the next.
    """

    own: Steps
    low: Steps
    high: Steps


def cut_boxes(columns: Sequence[Steps], least: int, allowed: Allowed | None = None) -> RankBoxes:
    """Cut records into boxes of at least so many.

    Parameters
    ----------
    columns : sequence of arrays of int64
        The ranks of all records, column by column.
    least : int
        The least number of records in a box.
    allowed : callable, optional
        Which parts fulfil what else is asked, from records, the part of each, and the sizes of parts.

    Examples
    --------
    >>> boxes = cut_boxes([np.array([0, 3, 1, 2, 3]), np.array([0, 0, 1, 1, 1])], 2)
    >>> boxes.own, boxes.high[0]
    (array([0, 1, 0, 1, 1]), array([[1, 2],
           [3, 4]]))
    """
    level = _BoxLevel.first(columns)
    done = _Done(np.zeros(len(columns[0]), np.int64))
    spans = np.maximum(level.low_high()[1], 1)
    while len(level.starts):
        cut = _Cuts.of(level, spans, least, allowed)
        done.add(level, ~cut.made)
        level = level.after(cut)
    return done.boxes()


@dataclass
class _BoxLevel:
    """RankBoxes that may be cut: their records lie side by side."""

    rows: Steps  # places of records
    codes: Codes  # ranks, column by column
    starts: Steps  # of boxes
    low: Steps  # shape (columns, boxes, 2)
    high: Steps

    @classmethod
    def first(cls, columns: Sequence[Steps]) -> _BoxLevel:
        codes = np.array(columns, dtype=np.int32)
        ends = codes.max(axis=1, initial=0).astype(np.int64)
        low = np.repeat(np.array([[[-1, 0]]]), len(codes), axis=0)
        return cls(
            np.arange(codes.shape[1]), codes, np.zeros(1, np.int64), low, np.stack([ends, ends + 1], -1)[:, None]
        )

    @cached_property
    def sizes(self) -> Steps:
        return np.diff(self.starts, append=len(self.rows))

    def low_high(self) -> tuple[Codes, Codes]:
        """The least and the greatest rank in each box, column by column."""
        least = [np.minimum.reduceat(column, self.starts) for column in self.codes]
        return np.array(least), np.array([np.maximum.reduceat(column, self.starts) for column in self.codes])

    def members(self, boxes: Steps) -> Steps | slice:
        """The places of the records of some boxes, box by box."""
        if len(boxes) == len(self.starts):
            return slice(None)
        sizes = self.sizes[boxes]
        shift = self.starts[boxes] - np.concatenate([[0], np.cumsum(sizes)[:-1]])
        return np.repeat(shift, sizes) + np.arange(sizes.sum())

    def ranks(self, members: Steps | slice, axes: Steps) -> Codes:
        """The ranks of some records, each in a column of its own."""
        rows = len(self.rows)
        return np.take(self.codes, axes * rows + (np.arange(rows) if isinstance(members, slice) else members))

    def after(self, cut: _Cuts) -> _BoxLevel:
        """The parts of boxes that were cut."""
        boxes = np.flatnonzero(cut.made)
        if not len(boxes):
            return _BoxLevel(self.rows[:0], self.codes[:, :0], self.starts[:0], self.low[:, :0], self.high[:, :0])
        members, sizes, axes = self.members(boxes), self.sizes[boxes], cut.axes[boxes]
        codes, rows = self.codes[:, members], self.rows[members]
        left = self.ranks(members, np.repeat(axes, sizes)) < np.repeat(cut.above[boxes], sizes)
        to, counts = _parted(left, sizes)
        new = _BoxLevel(
            np.empty_like(rows), np.empty_like(codes), np.zeros(0, np.int64), *self._bounds(cut, boxes, axes)
        )
        new.rows[to] = rows
        for column, former in zip(new.codes, codes, strict=True):
            column[to] = former
        new.starts = np.concatenate([[0], np.cumsum(counts)[:-1]])
        return new

    def _bounds(self, cut: _Cuts, boxes: Steps, axes: Steps) -> tuple[Steps, Steps]:
        """Of both parts of each box."""
        low, high = (np.repeat(one[:, boxes], 2, axis=1) for one in (self.low, self.high))
        between = np.stack([cut.below[boxes], cut.above[boxes]], axis=1)
        parts = 2 * np.arange(len(boxes))
        high[axes, parts], low[axes, parts + 1] = between, between
        return low, high


def _parted(left: Flags, sizes: Steps) -> tuple[Steps, Steps]:
    """Where each record goes so that those on the left are before those on the right, and how many go to each part."""
    starts = np.cumsum(sizes) - sizes
    before: Steps = np.cumsum(left) - left
    lefts = np.add.reduceat(left, starts, dtype=np.int64)
    shift = np.repeat(starts - before[starts], sizes)
    rank = before + shift
    right = np.arange(len(left)) + np.repeat(lefts + starts, sizes) - rank
    return np.where(left, rank, right), np.stack([lefts, sizes - lefts], axis=1).ravel()


def _sorted(places: Steps, ranks: Codes, boxes: int) -> Steps:
    """The ranks of each box in ascending order: by short keys, which are sorted faster, where they are enough."""
    bits = int(ranks.max()).bit_length()
    keys = places << bits | ranks
    ordered = np.sort(keys.astype(np.int32) if boxes << bits < 2**31 else keys)
    return ordered.astype(np.int64) & ((1 << bits) - 1)


@dataclass
class _Cuts:
    """The cut of each box, where there is one: between two ranks of a column."""

    made: Flags
    axes: Steps
    below: Steps
    above: Steps

    @classmethod
    def of(cls, level: _BoxLevel, spans: NDArray[np.int32], least: int, allowed: Allowed | None) -> _Cuts:
        """In the widest column that can be cut."""
        low, high = level.low_high()
        widths = (high - low) / spans
        order = np.argsort(-widths, axis=0, kind="stable")
        boxes = len(level.starts)
        found = cls(np.zeros(boxes, np.bool_), *(np.zeros(boxes, np.int64) for _ in range(3)))
        waiting = np.flatnonzero(level.sizes >= 2 * least)
        for axes in order:
            waiting = waiting[(widths[axes[waiting], waiting] > 0) & ~found.made[waiting]]
            if not len(waiting):
                break
            found.try_columns(level, waiting, axes[waiting], least, allowed)
        return found

    def try_columns(self, level: _BoxLevel, boxes: Steps, axes: Steps, least: int, allowed: Allowed | None) -> None:
        """Cut boxes in one column each, at the median or beside it, where both parts are large enough and allowed."""
        members, sizes = level.members(boxes), level.sizes[boxes]
        starts, places = np.cumsum(sizes) - sizes, np.repeat(np.arange(len(boxes)), sizes)
        own = level.ranks(members, axes[places])
        ranks = _sorted(places, own, len(boxes))
        median = ranks[starts + sizes // 2]
        middle = np.repeat(median, sizes)
        before = np.add.reduceat(ranks < middle, starts, dtype=np.int64)
        until = np.add.reduceat(ranks <= middle, starts, dtype=np.int64)
        lefts = np.where(np.minimum(before, sizes - before) >= np.minimum(until, sizes - until), before, until)
        fine = np.minimum(lefts, sizes - lefts) >= least
        above = ranks[np.minimum(starts + lefts, len(ranks) - 1)]
        if allowed is not None and fine.any():
            kept = np.repeat(fine, sizes)
            halves = 2 * (np.cumsum(fine) - 1)[places[kept]] + (own >= above[places])[kept]
            counts = np.stack([lefts, sizes - lefts], axis=1)[fine].ravel()
            fine[fine] = allowed(level.rows[members][kept], halves, counts).reshape(-1, 2).all(axis=1)
        cut = boxes[fine]
        self.made[cut], self.axes[cut], self.above[cut] = True, axes[fine], above[fine]
        self.below[cut] = ranks[(starts + lefts - 1)[fine]]


@dataclass
class _Done:
    """RankBoxes that are not cut any more."""

    own: Steps
    count: int = 0
    low: list[Steps] = field(default_factory=list)
    high: list[Steps] = field(default_factory=list)

    def add(self, level: _BoxLevel, which: Flags) -> None:
        boxes = np.flatnonzero(which)
        if len(boxes):
            self.own[level.rows[level.members(boxes)]] = np.repeat(
                self.count + np.arange(len(boxes)), level.sizes[boxes]
            )
            self.count += len(boxes)
            self.low.append(level.low[:, boxes])
            self.high.append(level.high[:, boxes])

    def boxes(self) -> RankBoxes:
        return RankBoxes(self.own, np.concatenate(self.low, axis=1), np.concatenate(self.high, axis=1))
