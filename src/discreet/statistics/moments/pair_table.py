"""A private number for every pair of columns, with intervals and a receipt."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from discreet.core.grid import Array
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 8  # columns, when it is printed


@dataclass(frozen=True, kw_only=True)
class PairTable(Release):
    """Released covariances or correlations.

    Parameters
    ----------
    name : {"covariance", "correlation"}
        What it is.
    columns : tuple of str
        The columns.
    values : array of shape (n, n)
        The value of each pair; noise may keep it from being positive semidefinite.
    standard_error : array of shape (n, n)
        The standard deviations of their errors; infinite where noise hides them.
    low, high : array of shape (n, n)
        The ends of intervals that each hold the exact value with the given confidence.
    units : array of shape (n,)
        What the noise on each column is measured in: half the distance between its bounds.
    """

    columns: tuple[str, ...]
    values: Array
    standard_error: Array
    low: Array
    high: Array
    units: Array

    @property
    def interval(self) -> ConfidenceInterval[Array]:
        """The ends of the intervals."""
        return ConfidenceInterval(self.low, self.high)

    def projected(self) -> PairTable:
        """The nearest table that is positive semidefinite, as the exact one is: post-processing.

        Nearest in units that make the noise on all columns alike; by its eigenvalues, of which negative ones are raised
        to zero (Higham 1988, Theorem 2.1). Correlations are then scaled to be one on the diagonal. On the whole a
        covariance matrix comes closer to the exact one by this, not farther away; the intervals are left as they are.

        Examples
        --------
        >>> from discreet.core.events import PureLoss
        >>> from discreet.core.neighbors import RECORD, Neighbors
        >>> from discreet.core.receipt import Receipt
        >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
        >>> noisy = np.array([[1.0, 1.2], [1.2, 1.0]])
        >>> errors = {"standard_error": noisy, "low": noisy - 1, "high": noisy + 1, "units": np.ones(2)}
        >>> table = PairTable(
        ...     name="covariance", columns=("x", "y"), values=noisy, **errors, confidence=0.95, receipt=receipt
        ... )
        >>> table.projected().values
        array([[1.1, 1.1],
               [1.1, 1.1]])
        """
        scale = np.ones(len(self.columns)) if self.name == "correlation" else self.units
        values, vectors = np.linalg.eigh(self.values / np.outer(scale, scale))
        nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
        if self.name == "correlation":
            scale = 1 / np.sqrt(np.diag(nearest))
        return dataclasses.replace(self, values=nearest * np.outer(scale, scale))

    def tabulated(self) -> Columns:
        """A row for each pair."""
        first, second = np.triu_indices(len(self.columns))
        names, pairs = np.array(self.columns), (self.values, self.standard_error, self.low, self.high)
        labels = {"column": names[first], "with": names[second]}
        return Columns(labels, (Series(self.name, *(each[first, second] for each in pairs)),))

    def shown(self) -> Columns:
        """A matrix of the first columns."""
        some = slice(SHOWN)
        series = (
            Series(name, self.values[:, j], None, self.low[:, j], self.high[:, j])
            for j, name in enumerate(self.columns[some])
        )
        return Columns({"": self.columns}, tuple(series)).at(some)

    def draw(self, ax: Axes) -> None:
        """The value of each pair as a colour, which is white at zero."""
        most = 1.0 if self.name == "correlation" else max(float(np.abs(self.values).max()), 1e-300)
        image = ax.imshow(self.values, cmap="RdBu_r", vmin=-most, vmax=most)
        ax.figure.colorbar(image, ax=ax, label=self.name)
        ax.set_xticks(range(len(self.columns)), self.columns, rotation=45, ha="right")
        ax.set_yticks(range(len(self.columns)), self.columns)
