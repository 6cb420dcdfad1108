"""Functions of a column from its noisy distribution: smooth ones first, centred and orthogonal. Post-processing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.optimize import isotonic_regression

from discreet.core.grid import Array
from discreet.questions.columns.column_trees import LEAVES
from discreet.questions.gradients.anova_features import HIGHEST, Bases

CELLS = 128  # of each column
# From made-up data: benchmarks/tuning_anova.py.
DECAY = 1.5  # the power of its frequency by which the prior variance of a wave falls
TAILS = 6  # cells at either end of which each has half as many records as the one before
LINE = 0.5  # of the prior variance of the slowest wave, that a line has
QUARTER = 0.25  # of the records at either end, at most, where a line is flat
EVEN = 2.0  # records that are taken to be anywhere, in standard deviations of their number
FLATTEST = 0.004  # the least variance of a function over the records
SHARES = (0.05, 0.75, 0.2)  # of the prior variance of scores: of the constant, of single columns, of pairs


def distribution(leaves: Array, anywhere: float = 1.0) -> Array:
    """The distribution function at the upper end of each leaf, from noisy counts: of the nearest that ascends.

    Parameters
    ----------
    leaves : array
        The counts.
    anywhere : float
        So many records more are taken to be spread evenly.

    Examples
    --------
    >>> distribution(np.array([3.0, -1.0, 0.0, 2.0])).round(2)
    array([0.52, 0.57, 0.62, 1.  ])
    """
    even = np.arange(1, len(leaves) + 1) / len(leaves)
    rising = np.maximum(isotonic_regression(np.cumsum(leaves)).x, 0.0) + anywhere * even
    return np.asarray(rising / rising[-1])


def quantile_of(function: Array, level: float) -> float:
    """The place of a quantile among the leaves: a number of leaves from the left."""
    place = min(int(np.searchsorted(function, level)), len(function) - 1)
    before = function[place - 1] if place else 0.0
    return place + float((level - before) / max(function[place] - before, 1e-12))


@dataclass(frozen=True)
class ColumnBasis:
    """The functions of one column: all of it post-processing of noisy counts.

    Parameters
    ----------
    starts : array of shape (cells,)
        The leaf at which each cell begins.
    shares : array of shape (cells,)
        About which part of the records is in each.
    functions : array of shape (size, cells)
        What each function is in each cell: of mean 0, and orthogonal over the records.
    variances : array of shape (size,)
        The mean square of each; 0 for one that is 0 everywhere.
    """

    starts: Array
    shares: Array
    functions: Array
    variances: Array

    @classmethod
    def of_number(cls, leaves: Array, size: int, stddev: float) -> ColumnBasis:
        """A line, and waves of the distribution function: cosines, of which slow ones vary more before all is known.

        The slowest wave is nearly that line where records are spread evenly; where tails are heavy, waves are flat.

        Parameters
        ----------
        leaves : array
            Noisy counts.
        size : int
            How many functions.
        stddev : float
            Of the sum of the counts: where it is large, the function is taken to be closer to a line.
        """
        anywhere = 1.0 + EVEN * stddev
        function = distribution(leaves, anywhere)
        starts = _starts(function)
        edges = np.concatenate([[0.0], function])[np.append(starts, LEAVES).astype(np.intp)]
        before, ends = edges[:-1], edges[1:]
        shares, waves = ends - before, np.arange(1, size + 1)
        variances = waves**-DECAY / (waves**-DECAY).sum()
        straight, variances[0] = LINE * variances[0], (1 - LINE) * variances[0]
        found = np.cos(math.pi * waves[:, None] * (before + ends) / 2) * np.sqrt(2 * variances)[:, None]
        rare = min(anywhere / (max(float(leaves.sum()), 0.0) + anywhere), QUARTER)
        line = _line(function, starts, shares, rare) * math.sqrt(straight)
        return cls._orthogonal(starts, shares, np.vstack([line, found]), size)

    @classmethod
    def of_category(cls, counts: Array, size: int) -> ColumnBasis:
        """Marks of the values, combined so that the first functions tell the most records apart."""
        known = np.maximum(counts, 0.0) + 1.0
        shares = np.pad(known / known.sum(), (0, CELLS - len(counts)))
        return cls._orthogonal(np.arange(float(CELLS)), shares, np.eye(len(counts), CELLS), size)

    @classmethod
    def _orthogonal(cls, starts: Array, shares: Array, found: Array, size: int) -> ColumnBasis:
        centred = found - (found @ shares)[:, None]
        values, vectors = np.linalg.eigh((centred * shares) @ centred.T)
        values, vectors = values[::-1][:size], vectors[:, ::-1][:, :size]
        kept = values > FLATTEST
        kept[0] = True
        functions = np.where(kept[:, None], np.clip(vectors.T @ centred, -HIGHEST, HIGHEST), 0.0)
        missing = size - len(values)
        return cls(
            starts,
            shares,
            np.pad(functions, ((0, missing), (0, 0))),
            np.pad(np.where(kept, np.maximum(values, 0.0), 0.0), (0, missing)),
        )


def _starts(function: Array) -> Array:
    """Cells of about the same number of records, fewer at the ends; a leaf that many are in is one of its own."""
    even = CELLS // 2 - 2 * TAILS
    tail = 0.5 ** np.arange(TAILS, 0, -1) / even
    levels = np.concatenate([tail, np.arange(1, even) / even, 1 - tail[::-1]])
    crossed = np.searchsorted(function, levels)
    starts = np.sort(np.concatenate([[0, LEAVES], crossed, crossed + 1]))
    return np.asarray(starts, dtype=np.float64)


def _line(function: Array, starts: Array, shares: Array, rare: float) -> Array:
    """The mean place of the records of each cell, of mean 0 and variance 1; flat where so few are beyond, or fewer."""
    cells = np.append(starts, len(function)).astype(np.intp)
    places = np.cumsum(np.diff(function, prepend=0.0) * (np.arange(len(function)) + 0.5))
    sums = np.diff(np.append(0.0, places)[cells])
    found = np.where(shares > 1e-12, sums / np.maximum(shares, 1e-12), (cells[:-1] + cells[1:]) / 2)
    found = np.clip(found, quantile_of(function, rare), quantile_of(function, 1 - rare))
    found = found - found @ shares
    return np.asarray(found / math.sqrt(max(float(found**2 @ shares), 1e-12)))


def scales_of(columns: int, pairs: int) -> tuple[float, float, float]:
    """The constant, the scale of functions of one column, and that of either factor of those of two."""
    constant, single, both = SHARES
    single, both = (single, both) if pairs else (single + both, 0.0)
    return math.sqrt(constant), math.sqrt(single / columns), (both / max(pairs, 1)) ** 0.25


def bases_of(found: Sequence[ColumnBasis], paired: tuple[int, ...], products: int) -> Bases:
    """All columns together."""
    pairs = len(paired) * (len(paired) - 1) // 2
    return Bases(
        tuple(len(own.functions) for own in found),
        np.array([own.starts for own in found]),
        np.concatenate([own.functions for own in found]),
        scales_of(len(found), pairs),
        paired,
        products,
    )


def mean_squares(found: Sequence[ColumnBasis], bases: Bases) -> Array:
    """The mean square of each feature over the records, were columns independent."""
    constant, single, half = bases.scales
    k = bases.products
    own = [np.pad(one.variances[:k], (0, max(k - len(one.variances), 0))) * half**2 for one in found]
    return np.concatenate(
        [
            [constant**2],
            *(one.variances * single**2 for one in found),
            *(np.outer(own[i], own[j]).ravel() for i, j in bases.pairs),
        ]
    )
