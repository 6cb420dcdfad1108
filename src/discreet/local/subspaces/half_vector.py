"""Symmetric matrices as vectors of the same length."""

from __future__ import annotations

import math

import numpy as np

from discreet.core.grid import Array


def half_size(size: int) -> int:
    """How many numbers a symmetric matrix of this size has."""
    return size * (size + 1) // 2


def product_vectors(rows: Array) -> Array:
    """The upper half of x x' for each row x, with what is not on the diagonal times sqrt(2).

    So the length of a vector, and the distance of two, are those of the matrices in the Frobenius norm:
    |x x' - y y'|^2 = |x|^4 + |y|^4 - 2 (x'y)^2, which is at most 2 r^4 for rows in a ball of radius r.

    Examples
    --------
    >>> product_vectors(np.array([[1.0, 2.0]])).round(3)
    array([[1.   , 2.828, 4.   ]])
    """
    upper = np.triu_indices(rows.shape[1])
    return np.asarray(rows[:, upper[0]] * rows[:, upper[1]] * _weights(rows.shape[1]))


def symmetric(vector: Array, size: int) -> Array:
    """The matrix of a half vector.

    Examples
    --------
    >>> symmetric(np.array([1.0, math.sqrt(8), 4.0]), 2)
    array([[1., 2.],
           [2., 4.]])
    """
    matrix = np.zeros((size, size))
    matrix[np.triu_indices(size)] = vector / _weights(size)
    return np.asarray(matrix + np.triu(matrix, 1).T)


def _weights(size: int) -> Array:
    first, second = np.triu_indices(size)
    return np.where(first == second, 1.0, math.sqrt(2))
