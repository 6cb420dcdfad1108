"""Categories that are replaced at random, with known probabilities: NOT PRIVATE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.microdata.changed_rows import ChangedRows
from discreet.noise.uniform import uniform_integers

Matrix = tuple[tuple[float, ...], ...]
FINE = 40  # bits of a probability


@dataclass(frozen=True)
class RandomizedCategories(CheckedParameters):
    """Replaces each value of some columns by one that is drawn from its row of a matrix: NOT PRIVATE as a table.

    Parameters
    ----------
    matrices : tuple of matrices
        Public. Of the first columns: row i has the probabilities of what value i becomes. Further columns are given
        away as they are, and what is missing stays missing.
    """

    matrices: tuple[Matrix, ...]

    event: ClassVar[NoPromise] = NoPromise("other columns are kept: they tell which values were replaced")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records, randomised."""
        values = answer.values.copy()
        for place, matrix in enumerate(self.matrices):
            values[:, place] = replaced(values[:, place], np.array(matrix), bits)
        return ChangedRows.shuffled(values, bits)


@dataclass(frozen=True)
class InvariantCategories(CheckedParameters):
    """Replaces values at random such that each count is the same on average: NOT PRIVATE.

    Parameters
    ----------
    sizes : tuple of int
        Public. How many values each of the first columns has. Further columns are given away as they are.
    keep : float
        Public. The probability with which a value is kept in either of the two steps that a matrix is made of.
    """

    sizes: tuple[int, ...]
    keep: float

    event: ClassVar[NoPromise] = NoPromise("matrices with the exact shares of all values, and other columns are kept")

    def release(self, answer: Records, bits: Bits) -> ChangedRows:
        """The records, randomised; the `matrices` are notes."""
        values, matrices = answer.values.copy(), []
        for place, size in enumerate(self.sizes):
            own = values[:, place]
            counts = np.bincount(own[~np.isnan(own)].astype(np.intp), minlength=size)
            matrices.append(invariant_matrix(counts.astype(np.float64), self.keep))
            values[:, place] = replaced(own, matrices[-1], bits)
        return ChangedRows.shuffled(values, bits, matrices=matrices)


def uniform_matrix(size: int, keep: float) -> Array:
    """A value is kept with this probability, and otherwise becomes any other.

    Examples
    --------
    >>> uniform_matrix(3, 0.8).tolist()
    [[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8]]
    """
    others = (1 - keep) / max(size - 1, 1)
    matrix = np.full((size, size), round(others, 15))
    np.fill_diagonal(matrix, keep if size > 1 else 1.0)
    return matrix


def invariant_matrix(counts: Array, keep: float) -> Array:
    """A matrix that keeps these counts on average: a uniform one, and then what Bayes' rule says the value had been.

    Gouweleeuw, Kooiman, Willenborg and de Wolf 1998, the two-stage method.

    Examples
    --------
    >>> matrix = invariant_matrix(np.array([60.0, 30.0, 10.0]), 0.8)
    >>> (np.array([60.0, 30.0, 10.0]) @ matrix).round(9).tolist()
    [60.0, 30.0, 10.0]
    """
    there = uniform_matrix(len(counts), keep)
    joint = (counts[:, None] * there).T
    reached = joint.sum(axis=1, keepdims=True)
    back = np.where(reached > 0, joint / np.where(reached > 0, reached, 1.0), np.eye(len(counts)))
    matrix: Array = there @ back
    return matrix / matrix.sum(axis=1, keepdims=True)


def replaced(places: Array, matrix: Array, bits: Bits) -> Array:
    """Places of values, each drawn from its row of a matrix; a missing one stays missing.

    Examples
    --------
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> replaced(np.array([0.0, 1.0, np.nan]), np.array([[0.0, 1.0], [1.0, 0.0]]), DeterministicBits(1))
    array([ 1.,  0., nan])
    """
    size, missing = len(matrix), np.isnan(places)
    own = np.where(missing, 0, places).astype(np.intp)
    limits = np.cumsum(matrix, axis=1)
    limits = limits / limits[:, -1:] + np.arange(size)[:, None]  # of row i from i to i + 1
    drawn = own + uniform_integers(bits, len(own), 1 << FINE) * 2.0**-FINE
    found = np.searchsorted(limits.ravel(), drawn, side="right") - size * own
    return np.where(missing, np.nan, found)
