"""How differently groups are treated: a released rate for each, and the greatest difference, with intervals."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.grid import Array
from discreet.deep.fair.constraint import widest
from discreet.mechanisms.additive.error_law import ErrorLaw
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate
from discreet.releases.table import Tabular


@dataclass(frozen=True, kw_only=True)
class GroupRates(Tabular):
    """The rate of an outcome in each group, from noisy counts; in each class too, for equalized odds.

    All intervals hold at once: each noisy count is within a half-width of the exact one, and a rate is lowest where
    the outcome is as rare, and its absence as frequent, as that allows.

    Parameters
    ----------
    labels : dict of str to tuple
        Public. The stratum and the group of each row.
    counts : array of shape (2, strata, groups)
        Released. How many records have the outcome 0, and 1.
    half_width : float
        Public. How far noise moves a count, for all of them at once with the confidence of the release.
    """

    labels: dict[str, tuple[str, ...]]
    counts: Array
    half_width: float

    @cached_property
    def rates(self) -> Array:
        """The share of outcome 1 in each group, of shape (strata, groups); one half where nobody seems to be."""
        without, with_ = np.maximum(self.counts, 0.0)
        total = without + with_
        return np.where(total > 0, with_ / np.where(total > 0, total, 1.0), 0.5)

    @cached_property
    def ends(self) -> Array:
        """The lower and the upper end of each rate."""
        fewer, more = np.maximum(self.counts - self.half_width, 0.0), np.maximum(self.counts + self.half_width, 0.0)
        low = fewer[1] / np.maximum(fewer[1] + more[0], 1.0)
        high = more[1] / np.maximum(more[1] + fewer[0], 1e-9)
        return np.stack([low, np.minimum(high, 1.0)])

    @property
    def difference(self) -> Estimate:
        """The greatest difference of two groups within a stratum, with an interval."""
        low, high = self.ends
        least = float(np.maximum(low.max(axis=1) - high.min(axis=1), 0.0).max())
        apart = high[:, :, None] - low[:, None, :]
        most = float(np.max(apart[:, ~np.eye(apart.shape[1], dtype=bool)]))
        value = min(max(widest(self.rates), least), most)
        name = f"{self.name} difference"
        return Estimate(name=name, value=value, low=least, high=most, confidence=self.confidence, receipt=self.receipt)

    def tabulated(self) -> Columns:
        """The rate of each group."""
        low, high = (one.ravel() for one in self.ends)
        return Columns(self.labels, (Series("rate", self.rates.ravel(), None, low, high),))


def joint_half_width(law: ErrorLaw, stddev: float, counts: int, confidence: float) -> float:
    """How far noise moves any of so many independent counts, with this confidence; half a record more for rounding."""
    return law.half_width(stddev, [1.0], confidence ** (1 / counts)) + 0.5 * law.rounded
