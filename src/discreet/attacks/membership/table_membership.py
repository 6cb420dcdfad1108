"""Whose records were in the original of a synthetic table: those that it has near them."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.attacks.membership.membership_data import MembershipData
from discreet.attacks.membership.mixed_columns import MixedColumns, Values, rows_of
from discreet.attacks.membership_scores import MembershipScores
from discreet.core.checks import check_whole
from discreet.core.grid import Array

LEAST = 1e-9  # a distance below this is taken for this
REMEDY = "Rows lie on, or next to, those of the people they were made of: give away a table made with noise."
FLOOR = 0.01  # of a record: what the density of a table is at least


class _ScoredByTable:
    """An attack that gives each record a score by looking at a table."""

    threat: ClassVar[ThreatModel]
    data: MembershipData
    columns: tuple[str, ...] | None

    def scores(self, released: Array, points: Array) -> Array:
        """A score for each point, higher for what looks like a member, from the points of the released table."""
        raise NotImplementedError

    @property
    def _width(self) -> int:
        return int(self.data.members_X.shape[1])

    @cached_property
    def _mixed(self) -> MixedColumns:
        return MixedColumns.of(self.data.rows[0])

    def run(self, target: Any) -> AttackResult:
        """Attack a released table, a data frame, or an array of rows."""
        started, (inside, outside) = time.perf_counter(), self.data.records
        released = self._mixed.points(rows_of(type(self).__name__, target, self._width, self.columns))
        members, others = (
            self.scores(released, self._mixed.points(rows))
            for rows in (self.data.members_X[inside], self.data.others_X[outside])
        )
        return AttackResult.of_scores(
            type(self).__name__,
            self.threat,
            MembershipScores.of(members, others),
            seconds=time.perf_counter() - started,
            questions=0,
            rows=inside,
            warnings=self.data.warnings,
        )


@dataclass(frozen=True)
class NearestDistance(_ScoredByTable):
    """Call those records members that have a row of the table nearest to them.

    Parameters
    ----------
    data : MembershipData
        Members and others, without labels (`MembershipData.of_rows`); numbers and categories.
    columns : tuple of str, optional
        The names of their columns, to find these in a table with names; by default all of the table, in its order.

    Notes
    -----
    Chen, Yu, Zhang and Fritz 2020, "GAN-Leaks", call it the full black-box attack; also known as the distance to the
    closest record. It calls frequent records members, too: `DensityRatio` does not.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(400, 3))
    >>> attack = NearestDistance(MembershipData.of_rows(rows[:200], rows[200:]))
    >>> attack.run(rows[:200]).success
    1.0
    """

    data: MembershipData
    columns: tuple[str, ...] | None = None
    paper: ClassVar[str] = "Chen, Yu, Zhang and Fritz 2020, GAN-Leaks: a taxonomy of membership inference attacks"
    threat: ClassVar[ThreatModel] = ThreatModel("the released table", "records")

    remedy: ClassVar[str] = REMEDY

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables, where records that are not among the original ones are given."""
        if not isinstance(material, TableMaterial):
            return None
        data = material.membership
        return data if isinstance(data, Unfit) else Prepared(cls(data), material.rows(material.released))

    def scores(self, released: Array, points: Array) -> Array:
        """The distance to the nearest row, with its sign changed."""
        return -_nearest(released, points, 1)[0][:, 0]


@dataclass(frozen=True)
class DensityRatio(_ScoredByTable):
    """Call those records members around which the table has more rows than the population has.

    Parameters
    ----------
    data : MembershipData
        Members and others, without labels (`MembershipData.of_rows`); numbers and categories.
    reference : array-like of rows, or table
        Records of the population that are neither: what the adversary knows of it.
    columns : tuple of str, optional
        The names of the columns of the records, to find these in tables with names; by default all, in their order.
    neighbors : int
        How many different rows of table and reference are looked at, around each record.

    Notes
    -----
    DOMIAS of van Breugel, Sun, Qian and van der Schaar 2023: the ratio of two densities, of the table and of the
    reference. Theirs are kernel estimates or flows; ours are normal kernels over the nearest rows, whose width at each
    record is half the middle distance to its neighbors in the reference.

    Examples
    --------
    >>> rows = np.random.default_rng(0).normal(size=(800, 3))
    >>> attack = DensityRatio(MembershipData.of_rows(rows[:200], rows[200:400]), rows[400:])
    >>> attack.run(rows[:200]).beats_chance
    True
    """

    data: MembershipData
    reference: ArrayLike | Any = field(repr=False)
    columns: tuple[str, ...] | None = None
    neighbors: int = 5
    paper: ClassVar[str] = "van Breugel, Sun, Qian and van der Schaar 2023, Membership inference attacks by densities"
    threat: ClassVar[ThreatModel] = ThreatModel("the released table", "records, and others of the population")

    remedy: ClassVar[str] = REMEDY

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables, where there are others: every second one stands for the population."""
        if not isinstance(material, TableMaterial):
            return None
        if material.others is None:
            return Unfit("It needs records of people who are not in the table: give --others.")
        data = material.told_from(material.others[::2])
        if isinstance(data, Unfit) or len(material.others) < 2:
            return data if isinstance(data, Unfit) else Unfit("It needs two others at least.")
        return Prepared(cls(data, material.rows(material.others[1::2])), material.rows(material.released))

    def __post_init__(self) -> None:
        check_whole("DensityRatio", "neighbors", self.neighbors)
        rows_of("DensityRatio", self.reference, self._width, self.columns)

    @cached_property
    def _population(self) -> Array:
        return self._mixed.points(rows_of("DensityRatio", self.reference, self._width, self.columns))

    def scores(self, released: Array, points: Array) -> Array:
        """The logarithm of the ratio of the densities."""
        around = _around(self._population, points, int(self.neighbors))
        widths = np.maximum(around[0][:, [around[0].shape[1] // 2]], LEAST) / 2
        table = _density(*_around(released, points, int(self.neighbors)), widths, len(released))
        return np.asarray(np.log(table) - np.log(_density(*around, widths, len(self._population))))


def _nearest(points: Array, places: Array, number: int) -> tuple[Array, Values]:
    """The distances to the nearest points, and which these are."""
    from sklearn.neighbors import NearestNeighbors

    found = NearestNeighbors(n_neighbors=min(number, len(points))).fit(points).kneighbors(places)
    return np.asarray(found[0], dtype=np.float64), np.asarray(found[1])


def _around(points: Array, places: Array, number: int) -> tuple[Array, Array]:
    """The distances to the nearest different points, and how many rows are at each."""
    distinct, counts = np.unique(points, axis=0, return_counts=True)
    distances, which = _nearest(distinct, places, number)
    return distances, counts[which].astype(np.float64)


def _density(distances: Array, counts: Array, widths: Array, size: int) -> Array:
    """The share of rows around each place, by a normal kernel; never nothing."""
    return np.asarray(((counts * np.exp(-((distances / widths) ** 2) / 2)).sum(axis=1) + FLOOR) / size)
