"""What the records in a cell of the score lose, at least and at most, and which pairs of cells are in order."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array

LEAST = 2.0**-14  # the least probability of a class in a log loss: one record loses 9.7 at most


@dataclass(frozen=True)
class CellLoss:
    """What a record loses, by the probability of its class: the higher, the less.

    Parameters
    ----------
    of : callable
        Probabilities of the records' class in, losses out.
    most : float
        Public. The greatest loss of a record.
    """

    of: Callable[[Array], Array]
    most: float

    def between(self, edges: Array) -> Array:
        """In the middle, at least and at most, in cells of the probability of the second class: by class and cell.

        Examples
        --------
        >>> LOSSES["Brier score"].between(np.array([0.0, 0.5, 1.0]))[1:]
        array([[[0.  , 0.25],
                [0.25, 0.  ]],
        <BLANKLINE>
               [[0.25, 1.  ],
                [1.  , 0.25]]])
        """
        own = np.stack([1 - edges, edges])
        ends = np.stack([self.of(own[:, :-1]), self.of(own[:, 1:])])
        middle = self.of(0.5 * (own[:, 1:] + own[:, :-1]))
        return np.stack([middle, ends.min(axis=0), ends.max(axis=0)])


LOSSES = {
    "log loss": CellLoss(lambda p: -np.log(np.maximum(p, LEAST)), -math.log(LEAST)),
    "Brier score": CellLoss(lambda p: np.square(1 - p), 1.0),
}


def ranked(tied: Array) -> Array:
    """1 for each pair of cells, of the second class and of the first, of which the former is higher; `tied` for one.

    Examples
    --------
    >>> ranked(np.array([0.5, 0.0]))
    array([[0.5, 0. ],
           [1. , 0. ]])
    """
    return np.tri(len(tied), k=-1) + np.diag(tied)
