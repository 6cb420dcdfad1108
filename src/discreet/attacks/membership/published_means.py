"""Whose records were in a group of which means are published."""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.membership.membership_data import MembershipData, Values
from discreet.attacks.membership_scores import MembershipScores
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

LEAST = 1e-4  # no share of ones is taken to be nearer to 0 or 1
MOST = 1e100  # of a mean, so that its square is a number


@dataclass(frozen=True)
class _ScoredByMeans:
    """An attack that gives each record a score by its likeness to means."""

    data: MembershipData
    reference: ArrayLike = field(repr=False)
    threat: ClassVar[ThreatModel] = ThreatModel("the published means", "records, and others of the population")

    def __post_init__(self) -> None:
        rows = _numbers(type(self).__name__, self.reference)
        if rows.ndim != 2 or len(rows) < 2 or rows.shape[1] != self.data.members_X.shape[1]:
            obstacle = f"the reference has the shape {rows.shape}, and a record {self.data.members_X.shape[1]} values"
            raise ParameterError(
                type(self).__name__, obstacle, "Give at least two rows with the columns of the records."
            )

    def scores(self, means: Array, rows: Array) -> Array:
        """A score for each row, higher for what looks like a member."""
        raise NotImplementedError

    @cached_property
    def _population(self) -> Array:
        return _numbers(type(self).__name__, self.reference)

    def run(self, target: Any) -> AttackResult:
        """Attack means: an array with one for each column."""
        started, (inside, outside) = time.perf_counter(), self.data.records
        asked = type(self).__name__
        means = _numbers(asked, target).ravel()
        if len(means) != self.data.members_X.shape[1] or not (np.abs(means) < MOST).all():
            obstacle = f"there are {len(means)} means of {self.data.members_X.shape[1]} columns, or some are huge"
            raise ParameterError(asked, obstacle, "Give one mean for each column of the records.")
        members, others = (
            self.scores(means, _numbers(asked, rows))
            for rows in (self.data.members_X[inside], self.data.others_X[outside])
        )
        return AttackResult.of_scores(
            asked,
            self.threat,
            MembershipScores.of(members, others),
            seconds=time.perf_counter() - started,
            questions=len(means),
            rows=inside,
            warnings=self.data.warnings,
        )


@dataclass(frozen=True)
class MeansDistance(_ScoredByMeans):
    """Call those records members that are nearer to the means of the group than to those of the population.

    Parameters
    ----------
    data : MembershipData
        Members and others, without labels (`MembershipData.of_rows`); numbers alone.
    reference : array-like of rows
        Records of the population that are neither.

    Notes
    -----
    Homer et al. 2008, for genomes: the mean over columns of |y - p| - |y - m|, for a record y, means m of the group and
    p of the population, over its standard error. It takes about as many columns as there are members. Not checked
    against the paper; tests compare it with Student's statistic.

    Examples
    --------
    >>> rows = np.random.default_rng(0).integers(0, 2, (700, 2000))
    >>> attack = MeansDistance(MembershipData.of_rows(rows[:100], rows[100:200]), rows[200:])
    >>> attack.run(rows[:100].mean(axis=0)).success > 0.95
    True
    """

    paper: ClassVar[str] = "Homer et al. 2008, Resolving individuals contributing trace amounts of DNA to mixtures"

    def scores(self, means: Array, rows: Array) -> Array:
        """The statistic of Student's test, over the columns of each row."""
        nearer = np.abs(rows - self._population.mean(axis=0)) - np.abs(rows - means)
        error = nearer.std(axis=1, ddof=1) / np.sqrt(nearer.shape[1]) if nearer.shape[1] > 1 else np.ones(len(rows))
        return np.asarray(nearer.mean(axis=1) / np.where(error > 0, error, 1.0))


@dataclass(frozen=True)
class MeansLikelihoodRatio(_ScoredByMeans):
    """Call those records members that are likelier under the means of the group than under those of the population.

    Parameters
    ----------
    data : MembershipData
        Members and others, without labels (`MembershipData.of_rows`); numbers alone.
    reference : array-like of rows
        Records of the population that are neither.

    Notes
    -----
    Sankararaman, Obozinski, Jordan and Halperin 2009, for columns of zeros and ones, which is the most powerful test
    where columns are independent: the sum of y log(m / p) + (1 - y) log((1 - m) / (1 - p)). Other columns are taken as
    normal with the variance of the reference: the sum of (m - p) (y - (m + p) / 2) / variance. Not checked against the
    paper; tests compare it with the logarithms of both probabilities.

    Examples
    --------
    >>> rows = np.random.default_rng(0).integers(0, 2, (700, 2000))
    >>> attack = MeansLikelihoodRatio(MembershipData.of_rows(rows[:100], rows[100:200]), rows[200:])
    >>> attack.run(rows[:100].mean(axis=0)).success > 0.95
    True
    """

    paper: ClassVar[str] = "Sankararaman, Obozinski, Jordan and Halperin 2009, Genomic privacy and limits of detection"

    @cached_property
    def _binary(self) -> Values:
        """Which columns are of zeros and ones alone."""
        every = (self._population, self.data.members_X, self.data.others_X)
        return np.asarray(np.all([np.isin(rows, (0, 1)).all(axis=0) for rows in every], axis=0))

    def scores(self, means: Array, rows: Array) -> Array:
        """The logarithm of the likelihood ratio, over the columns of each row."""
        there, spread = self._population.mean(axis=0), self._population.var(axis=0, ddof=1)
        ones, zeros = (
            np.log(_share(group)) - np.log(_share(all_)) for group, all_ in ((means, there), (1 - means, 1 - there))
        )
        linear = (means - there) / np.where(spread > 0, spread, np.inf)
        weights = np.where(self._binary, ones - zeros, linear)
        middle = np.where(self._binary, zeros, -linear * (means + there) / 2)
        return np.asarray(rows @ weights + middle.sum())


def _share(values: Array) -> Array:
    return np.clip(values, LEAST, 1 - LEAST)


def _numbers(asked: str, values: Any) -> Array:
    try:
        return np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        raise ParameterError(asked, "some values are no numbers", "Leave out columns that have no mean.") from None
