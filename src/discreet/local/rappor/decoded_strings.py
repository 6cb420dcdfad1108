"""Strings that were found in RAPPOR reports, and how many clients have each."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.core.grid import Array
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import draw_points
from discreet.releases.table import Tabular

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class DecodedStrings(Tabular):
    """The candidates that clients are shown to have, the most common first.

    Estimates, errors and p-values are those of least squares. Intervals are for one string at a time, and for the
    population that clients are a sample of.

    Parameters
    ----------
    found : tuple of str
        The strings whose null hypothesis, that nobody has them, is rejected.
    counts, errors, p_values : array
        The number of clients that have each, its standard error, and the one-sided p-value.
    n : int
        The number of reports.
    candidates : int
        The number of candidates that were tested.
    dispersion : float
        The variance of residuals in units of the known noise; clearly above 1 if common strings are not candidates.
    split : bool
        Whether candidates were chosen in other cohorts than they were tested in.

    Examples
    --------
    >>> from discreet.local.rappor.decoding import decoded
    >>> from discreet.local.rappor.rappor import Rappor
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> rappor = Rappor(f=0.25, p=0.25, q=0.75)
    >>> reports = rappor.reports(["cat"] * 6000 + ["dog"] * 4000, DeterministicBits(1))
    >>> found = decoded(rappor, rappor.tallied(reports), candidates=["cat", "cow", "dog"], simulated=True)
    >>> found.found, found.candidates
    (('cat', 'dog'), 3)
    """

    found: tuple[str, ...]
    counts: Array
    errors: Array
    p_values: Array
    n: int
    candidates: int
    dispersion: float
    split: bool

    @property
    def other(self) -> float:
        """The estimated number of clients with other strings."""
        return max(0.0, self.n - float(self.counts.sum()))

    @cached_property
    def _columns(self) -> Columns:
        assert self.confidence is not None
        half = ndtri((1 + self.confidence) / 2) * self.errors
        counts = Series.around("count", self.counts, half, self.errors)
        share = Series.around("share", self.counts / self.n, half / self.n)
        return Columns({"string": self.found}, (counts, share, Series("p_value", np.asarray(self.p_values))))

    def tabulated(self) -> Columns:
        """The strings with their counts, shares and p-values."""
        return self._columns

    def draw(self, ax: Axes) -> None:
        """A point with its interval for each string, the most common at the top."""
        draw_points(ax, list(self.found), self._columns.series[0])
