"""Records in groups of at least k that become equal: NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.noisy_numbers import on_steps

ONE_BY_ONE = 24  # nearest points are looked for one after another, up to so many


@dataclass(frozen=True)
class Microaggregation(CheckedParameters):
    """Puts near records into groups of at least k, and gives all of a group the same values: NOT PRIVATE.

    Numbers become their mean, categories the most frequent one; a value that is missing in at least half of a group
    becomes missing. Distances are Euclidean, of numbers in units of their standard deviation; two different categories,
    and a number and a missing one, are one unit apart. All records are one group where there are fewer than 2 k.

    Parameters
    ----------
    kinds : tuple of int
        Public. Of the first columns: 0 for a number, else how many values a category has. Further columns are given
        away as they are.
    steps : tuple of float
        Public. Means of a number are multiples of these; any real where it is 0.
    k : int
        Public. The least size of a group.
    """

    kinds: tuple[int, ...]
    steps: tuple[float, ...]
    k: int

    event: ClassVar[NoPromise] = NoPromise("means of k records: whoever knows all but one of them knows that one")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records with the values of their groups; `groups`, `smallest` and `lost` are notes.

        `lost` is the part of the squared distances to the centre of all that is inside groups.
        """
        values = answer.values.copy()
        points = coordinates(values[:, : len(self.kinds)], self.kinds)
        groups = mdav(points, self.k)
        counts = np.bincount(groups, minlength=1)
        for place, (kind, step) in enumerate(zip(self.kinds, self.steps, strict=True)):
            own = values[:, place]
            values[:, place] = group_modes(own, groups, kind) if kind else on_steps(group_means(own, groups), step)
        notes = {"groups": len(counts) if len(values) else 0, "smallest": int(counts.min())}
        return ChangedRows.shuffled(values, bits, **notes, lost=lost_part(points, groups))


def coordinates(values: Array, kinds: tuple[int, ...]) -> Array:
    """Points whose distances are those of records."""
    parts: list[Array] = []
    for own, kind in zip(values.T, kinds, strict=True):
        missing = np.isnan(own)
        if kind:
            codes = np.where(missing, kind, own)
            parts.extend((codes == code) * np.sqrt(0.5) for code in range(kind + 1))
            continue
        there = own[~missing]
        middle = there.mean() if there.size else 0.0
        deviation = float(np.sqrt(np.square(there - middle).mean())) if there.size else 0.0
        parts.append(np.where(missing, 0.0, own - middle) / (deviation if deviation > 0 else 1.0))
        parts.append(missing.astype(np.float64))
    kept = [part for part in parts if len(part) and part.min() < part.max()]
    return np.column_stack(kept) if kept else np.zeros((len(values), 1))


def mdav(points: Array, k: int) -> Steps:
    """The group of each point, by maximum distance to the average vector.

    Domingo-Ferrer and Mateo-Sanz 2002; in the form of Domingo-Ferrer and Torra 2005: the point that is farthest from
    the mean of those left and the k - 1 nearest to it are a group, then the one that is farthest from that and its
    nearest, until fewer than 3 k are left. Each search is one pass over the points that are left, which lie side by
    side.

    Examples
    --------
    >>> mdav(np.array([[0.0], [9.0], [0.1], [9.1], [9.2], [0.2]]), 3).tolist()
    [0, 1, 0, 1, 1, 0]
    """
    left, groups, made = _Left.of(points), np.zeros(len(points), np.int64), 0
    while left.count >= 2 * k:
        first = left.farthest(left.mean())
        groups[left.taken(first, k)] = made
        made += 1
        if left.count >= 2 * k:
            groups[left.taken(left.farthest(first), k)] = made
            made += 1
    groups[left.names[: left.count]] = made
    return groups


@dataclass
class _Left:
    """Points without a group, in front; the total of their coordinates."""

    points: Array  # a column each
    squares: Array
    names: Steps
    total: Array
    count: int

    @classmethod
    def of(cls, points: Array) -> _Left:
        across = np.ascontiguousarray(points.T)
        return cls(across, np.square(across).sum(axis=0), np.arange(len(points)), across.sum(axis=1), len(points))

    def mean(self) -> Array:
        return self.total / self.count

    def _distances(self, point: Array) -> Array:
        """Squared, less the square of the point itself."""
        return self.squares[: self.count] - (2 * point) @ self.points[:, : self.count]

    def farthest(self, point: Array) -> Array:
        return self.points[:, self._distances(point).argmax()].copy()

    def taken(self, point: Array, k: int) -> Steps:
        """The names of the k nearest to a point, which are then no longer here."""
        distances = self._distances(point)
        if k > ONE_BY_ONE:
            nearest = np.argpartition(distances, k - 1)[:k]
        else:
            nearest = np.empty(k, np.intp)
            for place in range(k):
                nearest[place] = distances.argmin()
                distances[nearest[place]] = np.inf
        names = self.names[nearest]
        self._drop(nearest)
        return names

    def _drop(self, gone: Steps) -> None:
        """Let the last points take the places of these."""
        self.total -= self.points[:, gone].sum(axis=1)
        kept = self.count - len(gone)
        tail = np.setdiff1d(np.arange(kept, self.count), gone, assume_unique=True)
        holes = gone[gone < kept]
        self.points[:, holes], self.squares[holes], self.names[holes] = (
            self.points[:, tail],
            self.squares[tail],
            self.names[tail],
        )
        self.count = kept


def group_means(values: Array, groups: Steps) -> Array:
    """The mean of each value's group, missing where at least half of it is missing.

    Examples
    --------
    >>> group_means(np.array([1.0, 2.0, np.nan, 5.0]), np.array([0, 0, 0, 1]))
    array([1.5, 1.5, 1.5, 5. ])
    """
    missing, size = np.isnan(values), np.bincount(groups)
    base = np.full(len(size), np.nan)
    base[groups[~missing]] = values[~missing]  # so that the sums are of small numbers
    there = np.bincount(groups, ~missing)
    sums = np.bincount(groups, np.where(missing, 0.0, values - base[groups]))
    means = base + sums / np.maximum(there, 1)
    means[2 * there <= size] = np.nan
    return means[groups]


def group_modes(places: Array, groups: Steps, size: int) -> Array:
    """The most frequent category of each value's group, missing where at least half of it is missing.

    Examples
    --------
    >>> group_modes(np.array([1.0, 1.0, 0.0, np.nan]), np.array([0, 0, 0, 1]), 2)
    array([ 1.,  1.,  1., nan])
    """
    codes = np.where(np.isnan(places), size, places).astype(np.int64)
    counts = np.bincount(groups * (size + 1) + codes, minlength=(groups.max(initial=-1) + 1) * (size + 1))
    table = counts.reshape(-1, size + 1)
    modes = table[:, :size].argmax(axis=1).astype(np.float64)
    modes[2 * table[:, size] >= table.sum(axis=1)] = np.nan
    return modes[groups]


def lost_part(points: Array, groups: Steps) -> float:
    """The squared distances of points to the means of their groups, as a part of those to the mean of all."""
    if not len(points):
        return 0.0
    inside = sum(float(np.square(own - group_means(own, groups)).sum()) for own in points.T)
    whole = float(np.square(points - points.mean(axis=0)).sum())
    return inside / whole if whole > 0 else 0.0
