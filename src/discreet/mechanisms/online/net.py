"""The net mechanism: a small database that answers all queries about as the large one does."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from functools import reduce
from itertools import combinations
from typing import ClassVar

import numpy as np
from scipy.special import gammaln

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import Composed
from discreet.core.grid import Array, Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.queries import TWO_CELLS, ExactCounts, Queries, distance, one_more
from discreet.mechanisms.selection.exponential import Exponential

MOST = 2**18
FOR_TOTAL = 0.25  # of epsilon


def databases(cells: int, size: int) -> Steps:
    """The histogram of every database of `size` records over `cells` cells, one in each row.

    ErrorBars between stars: a histogram is a choice of places for cells - 1 bars among size + cells - 1.

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


@dataclass(frozen=True)
class NetMechanism(CheckedParameters):
    """Choose, of all databases of `size` records, one whose answers to all queries are near the exact ones, scaled up.

    By the exponential mechanism, and by the answer that is farthest off. All databases of `size` records are near
    enough to any large one for many queries at once, if `size` is about ln(2 queries) / (2 share^2): of this many
    records drawn from it, each answer is off by more than `share` with probability below 1 / queries (Hoeffding 1963).
    There are very many, so this is for a handful of cells: `small_databases.MOST` is the limit.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything; a quarter measures the total, by which answers are scaled up.
    size : int
        Public. How many records the small database has.
    queries : Queries
        Public. What it should answer well.

    Guarantee
    ---------
    A `Laplace` total and an `Exponential` choice, composed (McSherry and Talwar 2007, Theorem 6). Blum, Ligett and Roth
    2008. One record moves every exact answer by at most 1, hence also the greatest of their distances from given ones.

    Examples
    --------
    >>> NetMechanism(epsilon=1.0).event.events[0]
    LaplaceLoss(multiplier=4.0)
    """

    epsilon: float = 1.0
    size: int = 2
    queries: Queries = TWO_CELLS
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("NetMechanism", "epsilon", self.epsilon, least=2.0**-30)
        databases(self.queries.cells, self.size)

    @property
    def choice(self) -> Exponential:
        return Exponential((1 - FOR_TOTAL) * self.epsilon)

    @property
    def noise(self) -> Laplace:
        return Laplace(1 / (FOR_TOTAL * self.epsilon))

    @property
    def event(self) -> Composed:
        return Composed((self.noise.event, self.choice.event))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """The noisy total, then the histogram of the small database; a row for each stacked answer."""
        exact, small = ExactCounts(answer), databases(self.queries.cells, self.size)
        total = self.noise.release(exact.total, bits)
        farthest = reduce(
            Answer.greater, (self._apart(exact, total, place, small) for place in range(len(self.queries)))
        )
        chosen = self.choice.release(dataclasses.replace(farthest, steps=-farthest.steps), bits)
        return np.concatenate([total, small[chosen].astype(np.float64)], axis=-1)

    def _apart(self, exact: ExactCounts, total: Array, place: int, small: Steps) -> Answer:
        """How far each small database, scaled up, is from the exact answer to one query."""
        query = self.queries[place]
        said = query.answers(small.astype(np.float64))[:, 0]
        scaled: Array = np.maximum(total, 0.0) / self.size * said
        return distance(exact.to(query), scaled)

    def histogram(self, release: Array) -> Array:
        """The small database, scaled up to the noisy total."""
        return np.maximum(release[..., :1], 0.0) * release[..., 1:] / self.size

    def worst_neighbors(self) -> NeighborPair:
        """One record more in the first cell."""
        return one_more(self.queries.cells)
