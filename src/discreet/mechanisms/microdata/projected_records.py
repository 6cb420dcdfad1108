"""Random projections of records, and rotations: NOT PRIVATE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.mechanisms.microdata.unit_noise import FARTHEST, unit_gaussians

MatrixLaw = Literal["gaussian", "orthogonal"]
CHUNK = 1 << 13  # records that are mixed at a time


@dataclass(frozen=True)
class ProjectedColumns(CheckedParameters):
    """Replaces the columns of each record by fewer random sums of them, the same for all records: NOT PRIVATE.

    A record with a missing value has nothing but missing values. The matrix is not released.

    Parameters
    ----------
    centers, scales : tuple of float
        Public. Of each column that is projected: what is taken off, and what the rest is divided by. Further columns of
        the answer are given away as they are.
    dimensions : int
        Public. How many sums there are.
    law : {"gaussian", "orthogonal"}
        Public. Of the matrix: independent Gaussian entries, or orthonormal rows of a random rotation, longer by the
        root of columns / dimensions.
    """

    centers: tuple[float, ...]
    scales: tuple[float, ...]
    dimensions: int
    law: MatrixLaw

    event: ClassVar[NoPromise] = NoPromise("one linear map of all records: a few known records, or ICA, undo it")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The projected records, and the columns that are kept."""
        width = len(self.centers)
        shares = (answer.values[:, :width] - self.centers) / self.scales
        matrix = random_matrix(bits, width, self.dimensions, self.law)
        return ChangedRows.shuffled(np.hstack([shares @ matrix, answer.values[:, width:]]), bits)


@dataclass(frozen=True)
class ProjectedRows(CheckedParameters):
    """Replaces all records by fewer random sums of them: NOT PRIVATE.

    Columns are first centred at their means and divided by their lengths, both of which are released. A record with
    a missing value takes no part.

    Parameters
    ----------
    columns : int
        Public. How many columns there are.
    dimensions : int
        Public. How many sums there are.
    """

    columns: int
    dimensions: int

    event: ClassVar[NoPromise] = NoPromise("random sums of all records, with exact means and deviations: ICA undoes it")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The mixed records; `records`, `means` and `lengths` are notes."""
        values = answer.values[~np.isnan(answer.values).any(axis=1)]
        means = mean_of(values)
        shares = values - means
        lengths = np.sqrt(np.square(shares).sum(axis=0))
        shares /= np.where(lengths > 0, lengths, 1.0)
        mixed = np.zeros((self.dimensions, values.shape[1]))
        for start in range(0, len(shares), CHUNK):
            part = shares[start : start + CHUNK]
            mixed += unit_gaussians(bits, (self.dimensions, len(part))) @ part
        most = FARTHEST / math.sqrt(self.dimensions)
        mixed = np.clip(mixed / math.sqrt(self.dimensions), -most, most)
        return ChangedRows(mixed, {"records": len(values), "means": means, "lengths": lengths})


def random_matrix(bits: Bits, width: int, dimensions: int, law: MatrixLaw) -> Array:
    """A matrix that keeps inner products of rows on average.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> turn = random_matrix(DeterministicBits(1), 3, 3, "orthogonal")
    >>> bool(np.allclose(turn @ turn.T, np.eye(3)))
    True
    """
    drawn = unit_gaussians(bits, (width, width if law == "orthogonal" else dimensions))
    if law == "gaussian":
        return drawn / math.sqrt(dimensions)
    turn, triangle = np.linalg.qr(drawn)
    turn *= np.where(np.diag(triangle) < 0, -1.0, 1.0)  # so that every rotation is as likely: Mezzadri 2007
    return turn[:, :dimensions] * math.sqrt(width / dimensions)


def mean_of(values: Array) -> Array:
    """The means of columns, 0 where there is no record."""
    return values.mean(axis=0) if len(values) else np.zeros(values.shape[1])
