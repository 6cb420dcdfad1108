"""One quantile by permute-and-flip, on a grid of cells between public bounds."""

from __future__ import annotations

from dataclasses import dataclass

from discreet.core.bits import Bits
from discreet.core.events import Event, PureLoss
from discreet.core.grid import Steps
from discreet.mechanisms.ranks.quantile import Quantile
from discreet.mechanisms.ranks.ranked_stretches import RankedStretches
from discreet.noise.stretch_race import UnevenStretches, stretch_race


@dataclass(frozen=True)
class FlippedQuantile(Quantile):
    """Release a value below which a given share of a column lies, never worse than `Quantile`.

    Cells have the scores that they have there. They are visited in random order, and one is taken with probability
    exp(-epsilon (best - score) / reach). On few cells that is up to twice as good as the exponential mechanism; on many
    cells both are the same except for their price, which composes worse here.

    Parameters
    ----------
    epsilon : float
        Public.
    q : float
        Public. In [0, 1].
    lower, upper : float
        Public. Values outside are moved to the nearer one.
    cells : int
        Public. The number of grid steps from one to the other. Releases are on this grid.

    Guarantee
    ---------
    `PureLoss(epsilon)`, and no more: its loss is not of bounded range. McKenna and Sheldon 2020, Theorem 1; for the
    reach of one row, under both relations, see `quantile.md`.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.answer import Records
    >>> from discreet.core.neighbors import Neighbors
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> ages = Records(np.arange(1000.0)[:, None], 1, Neighbors.ADD_REMOVE)
    >>> FlippedQuantile(2.0, 0.9, 0.0, 1000.0, 1000).release(ages, DeterministicBits(1))
    np.float64(902.0)
    """

    @property
    def event(self) -> Event:
        """The price of one release."""
        return PureLoss(self.epsilon)

    def chosen(self, stretches: RankedStretches, bits: Bits, copies: int) -> Steps:
        """One cell for each copy, each from a race of its own."""
        scale, loose = stretches.target.scale, UnevenStretches(stretches.loose, stretches.distance)
        return stretch_race(bits, stretches.lengths, stretches.distances, scale, copies, loose)
