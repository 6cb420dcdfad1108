"""From the masses of two laws on cells of privacy loss to a table that dominates them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from discreet.core.events import LossTable
from discreet.core.grid import Array

ROUNDING = 2.0**-32  # of a mass: what its computation, and the places of the edges, may be off by
NODES = np.polynomial.legendre.leggauss(12)


@dataclass(frozen=True)
class LossCells:
    """The masses of P and Q where the loss ln(P / Q) lies between (first + i) * step and (first + i + 1) * step.

    Parameters
    ----------
    step : float
        The width of a cell.
    first : int
        The lower end of the first cell, in steps. What lies below is counted in that cell.
    p, q : array
        The masses, each right to `ROUNDING` of itself.
    beyond : float
        At least the mass of P above the last cell, infinite losses among it.
    """

    step: float
    first: int
    p: Array = field(repr=False)
    q: Array = field(repr=False)
    beyond: float = 0.0

    @property
    def table(self) -> LossTable:
        """A loss that dominates: connect the dots (Doroshenko et al. 2022).

        The mass of a cell goes to its two ends so that both laws keep their totals, which spreads the likelihood ratio
        and so dominates. Rounding moves mass to the upper end, and what is beyond counts as infinite.

        Examples
        --------
        >>> cells = LossCells(math.log(2), 0, np.array([1.0]), np.array([0.75]))
        >>> [round(p, 6) for p in cells.table.probabilities]
        [0.5, 0.5]
        """
        total = float(self.p.sum())
        if total == 0:
            return LossTable(self.first, (0.0,), 1.0)
        p = self.p * ((1 - self.beyond) / total * (1 + ROUNDING))
        lower = np.exp(np.minimum(self.step * (self.first + np.arange(len(p))), 700.0))
        upper = np.clip((p - lower * self.q * (1 - 2 * ROUNDING)) / -math.expm1(-self.step), 0.0, p)
        masses = np.append(p - upper, 0.0) + np.append(0.0, upper)
        return LossTable(self.first, tuple(masses.tolist()), self.beyond)


def masses(log_density: Callable[[Array], Array], edges: Array, between: Array | None = None) -> Array:
    """The mass of a smooth density between consecutive edges, by Gauss and Legendre's rule with 12 nodes.

    Parameters
    ----------
    log_density : callable
        Points in, logarithms of the density out.
    edges : array
        In ascending order; some, or all, may be equal.
    between : array, optional
        Further places to cut at, where the density changes much between edges.

    Examples
    --------
    >>> masses(lambda x: -x, np.array([0.0, 1.0, 2.0])).round(8)
    array([0.63212056, 0.23254416])
    """
    if edges[0] == edges[-1]:
        return np.zeros(len(edges) - 1)
    if between is not None:
        cuts = np.union1d(edges, between[(between > edges[0]) & (between < edges[-1])])
        found = np.add.reduceat(masses(log_density, cuts), np.searchsorted(cuts, edges[:-1]))
        return np.where(np.diff(edges) > 0, found, 0.0)
    places, weights = NODES
    half = np.diff(edges) / 2
    points = (edges[:-1] + half)[:, None] + half[:, None] * places
    return np.asarray(half * (np.exp(log_density(points)) @ weights))
