"""How far two subspaces are from one another."""

from __future__ import annotations

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array


def squared_sine(first: Array, second: Array) -> float:
    """The sum of the squared sines of the angles between two subspaces of one dimension k, from 0 to k.

    It is half the squared Frobenius distance of their projections: |sin|^2 = |E - F|^2 / 2 = k - |V'W|^2.

    Parameters
    ----------
    first, second : array of shape (k, p)
        Orthonormal rows that span them, such as `components_` of a PCA.

    Examples
    --------
    >>> squared_sine(np.eye(3)[:2], np.eye(3)[1:])
    1.0
    """
    for rows in (first, second):
        if rows.ndim != 2 or np.abs(rows @ rows.T - np.eye(len(rows))).max() > 1e-6:
            raise ParameterError("squared sine", "the rows are not orthonormal", "Give an orthonormal basis.")
    if first.shape != second.shape:
        obstacle = f"one subspace is {first.shape} and the other {second.shape}"
        raise ParameterError("squared sine", obstacle, "Give two of one dimension, in one space.")
    return max(0.0, float(len(first) - np.square(first @ second.T).sum()))
