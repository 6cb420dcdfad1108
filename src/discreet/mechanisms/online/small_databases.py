"""All databases of a few records over a small universe: the candidates of the net and of the median mechanism."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
from scipy.special import gammaln

from discreet.core.checks import check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps

MOST = 2**18


def databases(cells: int, size: int) -> Steps:
    """The histogram of every database of `size` records over `cells` cells, one in each row.

    Bars between stars: a histogram is a choice of places for cells - 1 bars among size + cells - 1.

    Examples
    --------
    >>> databases(2, 3)
    array([[0, 3],
           [1, 2],
           [2, 1],
           [3, 0]])
    """
    check_whole("small databases", "size", size)
    places = int(size) + cells - 1
    if (count := math.comb(places, cells - 1)) > MOST:
        raise ParameterError(
            "small databases",
            f"there are {count:.3g} of {size} records over {cells} cells, and more than {MOST} are not listed",
            "Use fewer records or cells; or private multiplicative weights, which lists none.",
            count=count,
        )
    bars = np.array(list(combinations(range(places), cells - 1)), dtype=np.int64).reshape(count, cells - 1)
    ends = np.concatenate([np.full((count, 1), -1), bars, np.full((count, 1), places)], axis=1)
    return np.diff(ends, axis=1) - 1


def orders(histograms: Steps) -> Array:
    """The share of all sequences of records that have each histogram: a multinomial law with equal chances."""
    size, cells = histograms.sum(axis=1), histograms.shape[1]
    return np.exp(gammaln(size + 1) - gammaln(histograms + 1).sum(axis=1) - size * math.log(cells))
