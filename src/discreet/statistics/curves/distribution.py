"""The private distribution function of a column, with a band that holds all of it at once."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Unpack, overload

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from discreet.core.budget import Budget
from discreet.core.checks import check_whole
from discreet.core.grid import Array
from discreet.questions.tables.cells import cut
from discreet.questions.tables.tree import Tree, trees
from discreet.releases.ask import ColumnOf, OneSum, Released
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.curve import Curve
from discreet.releases.estimate import Estimate
from discreet.releases.groups import By, GroupedResults
from discreet.releases.least_noise import least_noise
from discreet.releases.simulation import Simulation
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import Options, statistic
from discreet.statistics.curves.reading import check_band, quantile_of_draws
from discreet.statistics.tables.strategy import NORMS
from discreet.trust.private_data import PrivateData

MOST_BINS = 2**12
DRAWS, AT_A_TIME = 4000, 200
NARROW = 0.8  # of the draws that a band may miss: see `_SimulatedBand`


@dataclass(frozen=True, kw_only=True)
class Distribution(Curve):
    """A released distribution function: call it with points.

    Between two edges it is on the line between them, so its band holds at edges alone.

    Parameters
    ----------
    column : str
        The column.
    edges : array
        Where it is known.
    shares : array
        The share of the values below each edge: never falling, from 0 to 1.
    half_width : float
        Half the width of a band that holds the exact shares at all edges at once, with the given confidence.
    count : Estimate
        The number of values of these data.
    """

    column: str
    edges: Array
    shares: Array
    half_width: float
    count: Estimate
    y: ClassVar[str] = "share below"

    @property
    def x(self) -> str:
        return self.column

    @property
    def points(self) -> Array:
        return self.edges

    def __call__(self, points: ArrayLike) -> Array:
        """The share of the values below each of these."""
        return np.asarray(np.interp(np.asarray(points, dtype=np.float64), self.edges, self.shares))

    def band(self, points: ArrayLike) -> ConfidenceInterval[Array]:
        """The ends of the band."""
        shares = self(points)
        return ConfidenceInterval(np.maximum(shares - self.half_width, 0.0), np.minimum(shares + self.half_width, 1.0))


@overload
def distribution(
    data: Any, column: str | None = None, *, by: None = None, bins: int = 64, **options: Unpack[Options]
) -> Distribution: ...
@overload
def distribution(
    data: Any, column: str | None = None, *, by: By, bins: int = 64, **options: Unpack[Options]
) -> GroupedResults[Distribution]: ...
@statistic()
def distribution(
    of: ColumnOf, *, bins: int = 64, confidence: float = CONFIDENCE, population: bool = False
) -> OneSum[Distribution]:
    """Release which share of a column's values is below each of many edges.

    The values are counted in equal cells or, where that has less noise, in the nodes of a tree over them.

    Parameters
    ----------
    bins : int
        Public. The number of cells between the edges; at most so many, each with equally many values, where the schema
        has a step.
    confidence : float
        Public. Of the band.
    population : bool
        Public. Whether the band is for the distribution that these data are an independent sample of, not for these
        data.

    Returns
    -------
    Distribution
        The shares, and a band that holds them all at once.

    Guarantee
    ---------
    The event on the receipt: one `Laplace`, `DiscreteLaplace` or `Gaussian` release of one bounded sum, for the data
    set's own neighbors. The rest is post-processing.

    Examples
    --------
    >>> found = distribution(np.linspace(0, 1, 5000), bounds=(0, 1), bins=32, epsilon=1.0)
    >>> bool(abs(found(0.5) - 0.5) < 0.02), found.values[0].item(), found.values[-1].item()
    (True, 0.0, 1.0)
    """
    column, schema = of.column, of.schema
    check_band(f"distribution of {column}", confidence)
    schema.number(column)
    check_whole(f"distribution of {column}", "bins", bins, most=MOST_BINS)
    domain = cut(schema, (column,), int(bins))
    edges = np.asarray(domain.edges[0])
    cells = tuple(edges.tolist()) if domain.named else int(bins)
    tree = _best(of.data, column, cells, of.budget)

    def read(released: Released) -> Distribution:
        return _shares(column, edges, tree, released, confidence, population)

    return OneSum(of, f"distribution of {column}", tree.question(schema, column, cells), read)


def _shares(
    column: str, edges: Array, tree: Tree, released: Released, confidence: float, population: bool
) -> Distribution:
    """The shares in the released counts of a tree, with their band: post-processing."""
    sums = np.cumsum(tree.leaves_of(released.values)[: len(edges) - 1])
    count = max(float(sums[-1]), 1.0)
    shares = monotone(sums[None, :-1] / count)[0]
    band = _SimulatedBand.simulated(tree, released.spread, shares, count, confidence, population)
    values, receipt = f"number of values of {column}", released.receipt
    return Distribution(
        name=f"distribution of {column}",
        receipt=receipt,
        confidence=confidence,
        population=population,
        column=column,
        edges=edges,
        shares=np.r_[0.0, shares, 1.0],
        half_width=min(band.of_shares, 1.0),
        count=Estimate.around(values, count, band.of_count, confidence=confidence, receipt=receipt),
    )


def _best(data: PrivateData, column: str, cells: int | tuple[float, ...], budget: Budget) -> Tree:
    """The tree that minimises the noise in the sums, under this trust model and budget."""
    bins = cells if isinstance(cells, int) else len(cells) - 1

    def error(tree: Tree) -> float:
        question = tree.question(data.schema, column, cells)
        return least_noise(data, question, budget).stddev ** 2 * tree.error(bins)

    return min((tree for norm in NORMS for tree in trees(bins, norm)), key=error)


def monotone(shares: Array) -> Array:
    """Each row, moved as little as makes it rise from 0 to 1 (isotonic regression: Barlow and others 1972)."""
    whole = np.pad(shares, ((0, 0), (1, 0)))
    for place in np.flatnonzero((np.diff(whole, axis=1) < 0).any(axis=1)):
        whole[place] = isotonic_regression(whole[place]).x
    return np.clip(whole[:, 1:], 0.0, 1.0)


def sloping(shares: Array) -> Array:
    """Shares that never fall, with straight lines through the middles of their flat stretches.

    Examples
    --------
    >>> sloping(np.array([0.1, 0.5, 0.5, 0.7])).round(2)
    array([0.1 , 0.37, 0.57, 0.7 ])
    """
    whole = np.r_[0.0, shares, 1.0]
    values, starts, lengths = np.unique(whole, return_index=True, return_counts=True)
    middles = starts + (lengths - 1) / 2
    return np.interp(np.arange(1.0, len(whole) - 1), middles, values)


@dataclass(frozen=True)
class _SimulatedBand:
    """How far noise, or noise and sample, move the shares at all edges, and the count.

    With e_k the noise of the sum of k cells, of m in all, a share is off by (e_k - F_k e_m) / count, exactly, where F_k
    is the exact share and count the noisy sum of all. A sample of a population moves it by a Brownian bridge. Making
    shares monotone takes some of both back. How much depends on the exact shares, for which the released ones stand
    in, with a slope where they are flat. That is still flatter than the exact ones may be, and simulated bands are a
    little narrow: so a band of 95 % is simulated at 96 %, and then covers what it should.
    """

    of_shares: float
    of_count: float

    @classmethod
    def simulated(
        cls, tree: Tree, spread: Spread, released: Array, count: float, confidence: float, population: bool
    ) -> _SimulatedBand:
        """What the shares and the count exceed in 1 - confidence of all draws."""
        simulation, shares, cells = Simulation(), sloping(released), len(released) + 1
        each = np.sqrt(np.diff(shares, prepend=0.0, append=1.0) * count)
        farthest, totals = [], []
        for _ in range(DRAWS // AT_A_TIME):
            noise = tree.leaves_of(simulation.noise(spread, (AT_A_TIME, sum(tree.sizes)), tree.grid))[:, :cells]
            drawn = simulation.normal(1.0, (AT_A_TIME, cells)) * each if population else 0.0
            farthest.append(_farthest(noise + drawn, shares, count))
            totals.append(np.abs(noise.sum(axis=1)))
        of_shares = quantile_of_draws(farthest, 1 - NARROW * (1 - confidence))
        return cls(of_shares, quantile_of_draws(totals, confidence))


def _farthest(cells: Array, shares: Array, count: float) -> Array:
    """How far these errors of the cells move any share, draw by draw."""
    sums = np.cumsum(cells, axis=1)
    moved = monotone(shares + (sums[:, :-1] - shares * sums[:, -1:]) / count)
    return np.asarray(np.abs(moved - shares).max(axis=1, initial=0.0))
