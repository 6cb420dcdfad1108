"""Values behind additive noise, which lies in all directions while records lie in few."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.attacks.attack import ThreatModel
from discreet.attacks.attack_result import AttackResult
from discreet.attacks.material import Material, Prepared, TableMaterial, Unfit
from discreet.attacks.perturbed.found_values import FoundValues, check_rows, number_rows
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.grid import Array

THREAT = ThreatModel("the released table", "the variances of the noise")


@dataclass(frozen=True)
class _NoiseTakenOff(ABC):
    """An attack that estimates true records from a table and the covariance of its noise."""

    original: ArrayLike = field(repr=False)
    stddev: ArrayLike
    tolerance: float = 0.25
    paper: ClassVar[str]
    threat: ClassVar[ThreatModel] = THREAT

    @classmethod
    def fitting(cls, material: Material) -> Prepared | Unfit | None:
        """For tables of numbers with a row for each original record; the size of the noise is public."""
        if not isinstance(material, TableMaterial):
            return None
        if not (material.row_by_row and material.numbers_alone):
            return Unfit("It needs numbers alone, and a row for each original record, in their order.")
        stddev = np.nanstd(material.released - material.original, axis=0)
        if not (stddev > 0).all():
            return Unfit("It needs a table with noise in every column.")
        return Prepared(cls(material.original, stddev), material.released)

    def __post_init__(self) -> None:
        check_positive(type(self).__name__, "tolerance", self.tolerance)

    @abstractmethod
    def estimate(self, released: Array, noise: Array) -> tuple[Array, int]:
        """The records behind a table whose noise has this covariance, and how many directions are kept."""

    def run(self, target: Any) -> AttackResult:
        """Estimate the records of an array, or of a released table of numbers."""
        name, start = type(self).__name__, time.perf_counter()
        released, original = number_rows(name, target), number_rows(name, self.original)
        check_rows(name, released, original, released.shape[1] + 2)
        if released.shape != original.shape:
            obstacle = f"the target has {released.shape[1]} columns, the original {original.shape[1]}"
            raise ParameterError(name, obstacle, "Give the same columns, in the same order.")
        found, kept = self.estimate(released, _covariance(name, self.stddev, released.shape[1]))
        before = FoundValues(released, original, self.tolerance)
        told = before.result(name, THREAT, np.arange(len(original)), 0.0, {})
        details = {
            "directions kept": kept,
            "error as released": told.details["error in standard deviations"],
            "success as released": told.success,
        }
        values, seconds = FoundValues(found, original, self.tolerance), time.perf_counter() - start
        return values.result(name, self.threat, np.arange(len(original)), seconds, details)


@dataclass(frozen=True)
class SpectralFilter(_NoiseTakenOff):
    """The released table without the directions in which it varies no more than noise would.

    Parameters
    ----------
    original : array of shape (n, columns)
        The true records, in the order of the target's rows, to count what is right.
    stddev : float or array
        Public. Of the noise: one for all columns, or one for each.
    tolerance : float
        Public. How far a value may be from the true one, in standard deviations of its column.

    Notes
    -----
    In units of the noise, the covariance of noise alone has no eigenvalue above (1 + sqrt(columns / n))^2, up to what
    vanishes with n (Marchenko and Pastur). Directions above it are kept, all others are set to the mean. Kargupta,
    Datta, Wang and Sivakumar 2003; not checked against the paper. The details have the error of the table as released.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> records = rng.normal(size=(1000, 1)) @ rng.normal(size=(1, 20))
    >>> result = SpectralFilter(records, 0.5, tolerance=0.3).run(records + rng.normal(0, 0.5, records.shape))
    >>> result.success > 0.7, result.details["directions kept"]
    (True, 1)
    """

    paper: ClassVar[str] = "Kargupta, Datta, Wang and Sivakumar, On the privacy preserving properties of noise, 2003"

    def estimate(self, released: Array, noise: Array) -> tuple[Array, int]:
        """What lies in directions in which the table varies more than noise would."""
        if np.count_nonzero(noise - np.diag(np.diag(noise))):
            obstacle = "stddev is a covariance matrix"
            raise ParameterError("SpectralFilter", obstacle, "Give one by column; BayesEstimate takes it.")
        mean, unit = released.mean(axis=0), np.sqrt(np.diag(noise))
        scaled = (released - mean) / unit
        sizes, directions = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        kept = directions[:, sizes > (1 + np.sqrt(scaled.shape[1] / len(scaled))) ** 2]
        return mean + (scaled @ kept @ kept.T) * unit, kept.shape[1]


@dataclass(frozen=True)
class BayesEstimate(_NoiseTakenOff):
    """The most probable record behind each row, if records are Gaussian.

    Parameters
    ----------
    original : array of shape (n, columns)
        The true records, in the order of the target's rows, to count what is right.
    stddev : float or array
        Public. Of the noise: one for all columns, one for each, or its covariance matrix where it is correlated.
    tolerance : float
        Public. How far a value may be from the true one, in standard deviations of its column.

    Notes
    -----
    The covariance S of the records is that of the table less that of the noise, N, without negative eigenvalues; the
    estimate is mean + S (S + N)^-1 (row - mean). Huang, Du and Chen 2005; not checked against the paper. Noise with
    the covariance of the records shrinks all directions alike, and is not filtered out.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> records = rng.normal(size=(1000, 1)) @ rng.normal(size=(1, 20))
    >>> result = BayesEstimate(records, 0.5, tolerance=0.3).run(records + rng.normal(0, 0.5, records.shape))
    >>> result.success > 0.7
    True
    """

    paper: ClassVar[str] = "Huang, Du and Chen, Deriving private information from randomized data, 2005"

    def estimate(self, released: Array, noise: Array) -> tuple[Array, int]:
        """In units of the noise, in which the mean of a direction with variance s + 1 is shrunk to s / (s + 1)."""
        mean, root = released.mean(axis=0), np.linalg.cholesky(noise)
        scaled = np.linalg.solve(root, (released - mean).T).T
        sizes, directions = np.linalg.eigh(scaled.T @ scaled / len(scaled))
        own = np.maximum(sizes - 1, 0.0)
        back = (directions * (own / (own + 1))) @ directions.T
        return mean + scaled @ back @ root.T, int((own > 0).sum())


def _covariance(name: str, stddev: ArrayLike, columns: int) -> Array:
    try:
        given = np.asarray(stddev, dtype=np.float64)
    except (TypeError, ValueError):
        given = np.array([np.nan])
    if given.ndim < 2 and given.size in (1, columns):
        given = np.diag(np.square(given) * np.ones(columns))
    fits = given.shape == (columns, columns) and np.isfinite(given).all()
    if not fits or np.linalg.eigvalsh(given).min() <= 0 or not np.allclose(given, given.T):
        obstacle = "stddev is no positive number for each column, and no covariance matrix"
        raise ParameterError(name, obstacle, f"Give one number, {columns}, or a matrix of {columns} by {columns}.")
    return given
