"""The matrix of a graph."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.sparse import coo_array

from discreet.core.grid import Steps


def adjacency_of(edges: Steps, nodes: int) -> Any:
    """The symmetric sparse matrix of a graph, in whole numbers.

    Examples
    --------
    >>> adjacency_of(np.array([[0, 2]]), 3).toarray()
    array([[0, 0, 1],
           [0, 0, 0],
           [1, 0, 0]])
    """
    both = np.concatenate([edges, edges[:, ::-1]])
    return coo_array((np.ones(len(both), np.int64), (both[:, 0], both[:, 1])), shape=(nodes, nodes)).tocsr()
