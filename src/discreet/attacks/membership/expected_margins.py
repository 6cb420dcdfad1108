"""What a model should say of each record if it has seen it, and if not: learnt from models of which both are known."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from discreet.attacks.membership.near_records import NearRecords
from discreet.core.grid import Array

BEND = 4.0  # log-odds beyond it are bent to logarithms: models are sure of easy records by very different odds
HATS = 6  # broken lines over how hard a record is, with which all effects change
RIDGE, PRIOR = 3.0, 0.5  # of effects, in units of their deviations; of squared errors, in records that have the mean
OWN, UNLIKE = 10.0, 2.0  # of effects that one model alone has; times as large as any reference's, they are taken off
LEAST = 0.02  # of the mean squared error: no record's is expected to be smaller
FREEDOM = 5  # degrees of it that Student's law of errors has
PLAYS, MOST = 16, 2**16  # references that play the target; records of each that are learnt from
BLOCK = 2**14  # records that are judged at a time
Sides = NDArray[np.bool_]


@dataclass(frozen=True)
class Play:
    """A reference in the role of the target of others: the log-ratio of some records, of which it is known who was in.

    Parameters
    ----------
    own : int
        The place of the reference.
    others : list of int
        The places of those that it is compared with.
    rows : array
        The records.
    scores : array
        The log-ratio of each of them.
    """

    own: int
    others: list[int]
    rows: NDArray[np.intp]
    scores: Array


def log_ratios(margins: Array, inside: Sides, near: NearRecords, temperature: float) -> tuple[Array, list[Play]]:
    """The logarithm of the likelihood ratio of what the last model says of each record: if it has seen it, or not.

    Each reference plays the target of those that were trained on other halves. How far it is above them on a record is
    regressed on what they say with the record and without it, and on how far it is above them on the neighbors: over
    the records that it has seen, and over the others. So are the squares of what is left, the variances of Student's
    laws. Not a number where nothing is known. With it, what these laws say of the references in this role.

    Parameters
    ----------
    margins : array of shape (models, records)
        Log-odds of each record's own label; the last model is the target.
    inside : array of bool of shape (models - 1, records)
        Which records the other models have seen.
    near : NearRecords
        The neighbors of each record.
    temperature : float
        By which log-odds are divided before they say how hard a neighbor is.
    """
    bent = BEND * np.arcsinh(margins / BEND)
    roles = _roles(inside)
    alone = [_Comparison.of(bent[own], bent[others], inside[others]) for own, others in roles]
    *played, target = _with_local([*alone, _Comparison.of(bent[-1], bent[:-1], inside)], near, temperature)
    laws = _Laws.of(played, [inside[own] for own, _ in roles], _knots(target.levels))
    found = np.full(bent.shape[1], np.nan)
    if laws is None:
        return found, []
    found[target.known] = laws.log_ratio(target, target.known, laws.own_way(target, played))
    rng, parts = np.random.default_rng(1), zip(roles, played, strict=True)
    return found, [Play(*role, rows := _some(one.known, rng), laws.log_ratio(one, rows)) for role, one in parts]


def _roles(inside: Sides) -> list[tuple[int, list[int]]]:
    """References that play the target, and those with other halves: what has seen the rest would tell."""
    roles: list[tuple[int, list[int]]] = []
    for own, half in enumerate(inside):
        others = [other for other in range(len(inside)) if other != own and not _alike(half, inside[other])]
        if others and len(roles) < PLAYS:
            roles.append((own, others))
    return roles


def _alike(half: Sides, other: Sides) -> bool:
    """Whether two halves are the same, or each other's rest."""
    same = half == other
    return bool(same.all() or not same.any())


@dataclass(frozen=True)
class _Comparison:
    """What one model says of each record beside what others say, that have seen it and that have not.

    `levels` is the middle of their two means and `gaps` the difference, `above` is how far the model is above the
    middle, and `local` the same on the neighbors. What is not known is not a number.
    """

    levels: Array
    gaps: Array
    above: Array
    local: Array

    @classmethod
    def of(cls, own: Array, others: Array, inside: Sides) -> _Comparison:
        seen, unseen = (_means(others, side) for side in (inside, ~inside))
        levels = (seen + unseen) / 2
        return cls(levels, seen - unseen, own - levels, np.zeros(len(own)))

    @property
    def known(self) -> NDArray[np.intp]:
        return np.flatnonzero(np.isfinite(self.above))

    def columns(self, rows: NDArray[np.intp], knots: Array) -> Array:
        """How hard a record is, as the heights of hats; these times the gap; and times what is said of neighbors."""
        hats = _hats(self.levels[rows], knots)
        return np.concatenate([hats, hats * self.gaps[rows, None], hats * self.local[rows, None]], axis=1)


def _means(margins: Array, there: Sides) -> Array:
    """The mean of each record over some of the models; not a number where there is none."""
    told = there & np.isfinite(margins)
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(told, margins, 0.0).sum(axis=0) / told.sum(axis=0))


def _with_local(comparisons: list[_Comparison], near: NearRecords, temperature: float) -> list[_Comparison]:
    """With how far each model is above others on the neighbors: those count that are neither easy nor hopeless."""
    chances = expit(np.stack([one.levels for one in comparisons]) / temperature)
    above = np.stack([one.above for one in comparisons])
    known = np.isfinite(above)
    weights = np.where(known, chances * (1 - chances), 0.0)
    local = near.means(np.where(known, above, 0.0), weights)
    return [replace(one, local=own) for one, own in zip(comparisons, local, strict=True)]


def _knots(levels: Array) -> Array:
    """Where hats are highest: quantiles of how hard records are."""
    known = levels[np.isfinite(levels)]
    return np.unique(np.quantile(known, np.linspace(0, 1, HATS))) if len(known) else known


def _hats(levels: Array, knots: Array) -> Array:
    """Piecewise linear functions that are one at a knot and zero at all others; constant beyond the last."""
    return np.stack([np.interp(levels, knots, one) for one in np.eye(len(knots))], axis=1)


@dataclass(frozen=True)
class _Laws:
    """How far above others a model is on a record that it has seen, and on one that it has not."""

    seen: _MarginLaw
    unseen: _MarginLaw
    knots: Array

    @classmethod
    def of(cls, played: list[_Comparison], halves: list[Sides], knots: Array) -> _Laws | None:
        """From references in the role of the target; none where there are none, or all records are equally hard."""
        seen, unseen = (_MarginLaw.of(played, sides, knots) for sides in (halves, [~half for half in halves]))
        return None if seen is None or unseen is None else cls(seen, unseen, knots)

    def log_ratio(self, one: _Comparison, rows: NDArray[np.intp], way: Array | float = 0.0) -> Array:
        """Of these records, by this model, less its own way."""
        found = np.empty(len(rows))
        for start in range(0, len(rows), BLOCK):
            place = slice(start, start + BLOCK)
            columns = one.columns(rows[place], self.knots)
            above = one.above[rows[place]] - (columns * way).sum(axis=1)
            found[place] = self.seen.log_density(columns, above) - self.unseen.log_density(columns, above)
        return found

    def own_way(self, target: _Comparison, played: list[_Comparison]) -> Array | float:
        """The way of a target that differs from its references as none of these does from the others; otherwise 0.

        A model that was trained longer is surer of all that is easy, and one of other places is surer there: that
        tells of no record. Of a target like its references it would take off what tells, too.
        """
        *usual, (way, size) = (self._way(one) for one in (*played, target))
        return way if size > UNLIKE * max(other for _, other in usual) else 0.0

    def _way(self, one: _Comparison) -> tuple[Array, float]:
        """How a model differs from the laws by how hard a record is and where it lies, and by how much on average."""
        rows = _some(one.known, np.random.default_rng(2))
        columns = one.columns(rows, self.knots)
        left = one.above[rows] - columns @ (self.seen.centre + self.unseen.centre) / 2
        way = _effects(columns, left, OWN)
        return way, float(np.sqrt(np.mean((columns @ way) ** 2)))


@dataclass(frozen=True)
class _MarginLaw:
    """How far above others a model is on a record: Student's law.

    Its centre is linear in the columns of a comparison, and its variance in the first of them, the hats.
    """

    centre: Array
    variance: Array
    least: float

    @classmethod
    def of(cls, played: list[_Comparison], sides: list[Sides], knots: Array) -> _MarginLaw | None:
        """From the records of one side of each reference; none where there are none, or all are equally hard."""
        if len(knots) < 2:
            return None
        rng = np.random.default_rng(0)
        parts = [(one, _some(one.known[side[one.known]], rng)) for one, side in zip(played, sides, strict=True)]
        columns = [one.columns(rows, knots) for one, rows in parts if len(rows)]
        if not columns:
            return None
        above = np.concatenate([one.above[rows] for one, rows in parts])
        return cls.fitted(np.concatenate(columns), above, len(knots))

    @classmethod
    def fitted(cls, columns: Array, above: Array, hats: int) -> _MarginLaw:
        """Ridge regression of what is said, and of the squares of what is left."""
        centre = _effects(columns, above, RIDGE)
        squares = (above - columns @ centre) ** 2
        mean = float(squares.mean())
        variance = mean + _ridge(columns[:, :hats], squares - mean, PRIOR)
        return cls(centre, variance, LEAST * mean + float(np.finfo(np.float32).tiny))

    def log_density(self, columns: Array, above: Array) -> Array:
        """The logarithm of the density, up to a constant."""
        variances = np.maximum(columns[:, : len(self.variance)] @ self.variance, self.least)
        squares = (above - columns @ self.centre) ** 2 / variances
        return np.asarray(-(FREEDOM + 1) / 2 * np.log1p(squares / FREEDOM) - np.log(variances) / 2)


def _some(rows: NDArray[np.intp], rng: np.random.Generator) -> NDArray[np.intp]:
    return rows if len(rows) <= MOST else rng.choice(rows, MOST, replace=False)


def _effects(columns: Array, values: Array, penalty: float) -> Array:
    """The coefficients of a ridge regression in which each column counts in units of its deviation."""
    scales = columns.std(axis=0) + np.finfo(np.float64).tiny
    return _ridge(columns / scales, values, penalty) / scales


def _ridge(columns: Array, values: Array, penalty: float) -> Array:
    """The coefficients of least squares with a penalty on the sum of their squares."""
    squares = columns.T @ columns + penalty * np.eye(columns.shape[1])
    return np.asarray(np.linalg.solve(squares, columns.T @ values), dtype=np.float64)
