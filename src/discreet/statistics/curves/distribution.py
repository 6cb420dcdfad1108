"""The private distribution function of a column, with a band that holds all of it at once."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.optimize import isotonic_regression

from discreet.core.budget import Budget
from discreet.core.digits import error_bar, number
from discreet.core.grid import Array
from discreet.core.knob import check_whole
from discreet.core.receipt import Receipt
from discreet.questions.domain import Domain
from discreet.questions.tree import Tree, trees
from discreet.releases.ask import asked, column_of
from discreet.releases.drawing import drawn_on
from discreet.releases.least_noise import least_noise
from discreet.releases.simulation import Simulation
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.statistics.tables.strategy import NORMS
from discreet.trust.as_private import Bounds
from discreet.trust.private_data import PrivateData

if TYPE_CHECKING:
    from matplotlib.axes import Axes

MOST_BINS = 2**12
DRAWS, AT_A_TIME = 4000, 200
NARROW = 0.8  # of the draws that a band may miss: see `_SimulatedBand`
SHOWN = 24  # edges that are printed
WIDE = 40  # letters of the longest bar


@dataclass(frozen=True)
class Distribution:
    """A released distribution function.

    Parameters
    ----------
    column : str
        The column.
    edges : array
        Where it is known.
    values : array
        The share of the values below each edge: never falling, from 0 to 1.
    error : float
        Half the width of a band that holds the shares of these data at all edges at once, with the given confidence.
    population_error : float
        The same for the distribution that these data are an independent sample of.
    count, count_error : float
        How many values there are, and half the width of an interval that holds the exact number.
    confidence : float
        Of each band and of the interval.
    receipt : Receipt
        What it cost.
    """

    column: str
    edges: Array
    values: Array
    error: float
    population_error: float
    count: float
    count_error: float
    confidence: float
    receipt: Receipt

    def at(self, value: float) -> float:
        """The share of the values below this one: on the line between two edges, so the band holds at edges alone."""
        return float(np.interp(value, self.edges, self.values))

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the share of the values below each number, in the band that holds those of these data.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones by default.
        """
        axes = drawn_on("a distribution", axes)
        low, high = (np.clip(self.values + side * self.error, 0.0, 1.0) for side in (-1, 1))
        axes.fill_between(self.edges, low, high, alpha=0.3)
        axes.plot(self.edges, self.values)
        axes.set_xlabel(self.column)
        axes.set_ylabel("share below")
        return axes

    @property
    def title(self) -> str:
        """What it is, and how far off."""
        size = f"{number(self.count, self.count_error)} ± {error_bar(self.count_error)} values"
        return f"{self.column} of {size}, shares below all edges ± {error_bar(self.error)} ({self.confidence:.0%})"

    def __str__(self) -> str:
        shown = np.unique(np.linspace(0, len(self.edges) - 1, SHOWN).astype(np.int64))
        names = [f"{edge:.4g}" for edge in self.edges[shown]]
        width = max(map(len, names))
        lines = [
            f"{name:>{width}} {share:7.1%} {'#' * round(WIDE * share)}".rstrip()
            for name, share in zip(names, self.values[shown], strict=True)
        ]
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"


def distribution(
    data: Any,
    column: str | None = None,
    *,
    bounds: Bounds | None = None,
    bins: int = 64,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> Distribution:
    """Release which share of a column's values is below each of many edges.

    The values are counted in equal cells or, where that has less noise, in the nodes of a tree over them.

    Parameters
    ----------
    data : PrivateData, array of shape (n,), or data frame
        The records. Missing values count for nothing.
    column : str, optional
        Public. A numeric column, for private data.
    bounds : (float, float) or Schema, optional
        Public. For an array or data frame: values outside are moved to the nearer one. Private data have them in their
        schema.
    bins : int
        Public. How many cells lie between the edges.
    epsilon, delta : float
        Public. What this may cost, in all.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

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
    >>> bool(abs(found.at(0.5) - 0.5) < 0.02), found.values[0].item(), found.values[-1].item()
    (True, 0.0, 1.0)
    """
    budget = Budget(epsilon, delta)
    of = column_of(data, column, bounds, budget)
    data, column = of.data, of.column
    data.schema.number(column)
    check_whole(f"distribution of {column}", "bins", bins, most=MOST_BINS)
    tree = _best(data, column, int(bins), budget)
    question = tree.question(data.schema, column, int(bins))
    released = asked(data, question, budget, f"distribution of {column}", key)
    sums = np.cumsum(tree.leaves_of(released.values)[:bins])
    count = max(float(sums[-1]), 1.0)
    shares = monotone(sums[None, :-1] / count)[0]
    band = _SimulatedBand.simulated(tree, released.spread, shares, count)
    return Distribution(
        column,
        np.asarray(Domain.of(data.schema, (column,), bins).edges[0]),
        np.r_[0.0, shares, 1.0],
        min(band.of_data, 1.0),
        min(max(band.of_population, band.of_data), 1.0),
        count,
        band.of_count,
        CONFIDENCE,
        released.receipt,
    )


def _best(data: PrivateData, column: str, bins: int, budget: Budget) -> Tree:
    """The tree that leaves least noise in the sums, under this trust model and budget."""

    def error(tree: Tree) -> float:
        question = tree.question(data.schema, column, bins)
        return least_noise(data, question, budget).stddev ** 2 * tree.error(bins)

    return min((tree for norm in NORMS for tree in trees(bins, norm)), key=error)


def monotone(shares: Array) -> Array:
    """Each row, moved as little as makes it rise from 0 to 1 (isotonic regression: Barlow and others 1972)."""
    falling = (np.diff(shares, axis=1, prepend=0.0) < 0).any(axis=1)
    for place in np.flatnonzero(falling):
        shares[place] = isotonic_regression(np.r_[0.0, shares[place]]).x[1:]
    return np.clip(shares, 0.0, 1.0)


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
    """How far noise, or noise and sample, throw the shares at all edges, and the count.

    With e_k the noise of the sum of k cells, of m in all, a share is off by (e_k - F_k e_m) / count, exactly, where F_k
    is the exact share and count the noisy sum of all. A sample of a population throws it by a Brownian bridge. Making
    shares monotone takes some of both back. How much depends on the exact shares, for which the released ones stand
    in, with a slope where they are flat. That is still flatter than the exact ones may be, and simulated bands are a
    little narrow: so they are read off at 96 % if 95 % are meant, and then cover what they should.
    """

    of_data: float
    of_population: float
    of_count: float

    @classmethod
    def simulated(cls, tree: Tree, spread: Spread, released: Array, count: float) -> _SimulatedBand:
        """What is passed in one of twenty draws."""
        simulation, shares, cells = Simulation(), sloping(released), len(released) + 1
        each = np.sqrt(np.diff(shares, prepend=0.0, append=1.0) * count)
        data, population, totals = [], [], []
        for _ in range(DRAWS // AT_A_TIME):
            noise = tree.leaves_of(simulation.noise(spread, (AT_A_TIME, sum(tree.sizes)), tree.grid))[:, :cells]
            drawn = simulation.normal(1.0, (AT_A_TIME, cells)) * each
            data.append(_farthest(noise, shares, count))
            population.append(_farthest(noise + drawn, shares, count))
            totals.append(np.abs(noise.sum(axis=1)))
        read = 1 - NARROW * (1 - CONFIDENCE)
        return cls(_quantile(data, read), _quantile(population, read), _quantile(totals, CONFIDENCE))


def _farthest(cells: Array, shares: Array, count: float) -> Array:
    """How far these errors of the cells throw any share, draw by draw."""
    sums = np.cumsum(cells, axis=1)
    moved = monotone(shares + (sums[:, :-1] - shares * sums[:, -1:]) / count)
    return np.asarray(np.abs(moved - shares).max(axis=1, initial=0.0))


def _quantile(draws: list[Array], confidence: float) -> float:
    ascending = np.sort(np.concatenate(draws))
    return float(ascending[min(math.ceil(confidence * (len(ascending) + 1)), len(ascending)) - 1])
