"""A private number for every pair of columns, with error bars and a receipt."""

from __future__ import annotations

import dataclasses
import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.digits import error_bar, exact, number
from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 8  # columns, when it is printed


@dataclass(frozen=True)
class PairTable:
    """Released covariances or correlations.

    Parameters
    ----------
    name : {"covariance", "correlation"}
        What it is.
    columns : tuple of str
        The columns.
    matrix : array of shape (n, n)
        The value of each pair; noise may keep it from being positive semidefinite.
    errors : array of shape (n, n)
        Half-widths of intervals around these that each hold the exact value with the given confidence.
    units : array of shape (n,)
        What the noise on each column is measured in: half the distance between its bounds.
    confidence : float
        Of each interval.
    population : bool
        Whose exact value the intervals hold: the population's, or that of these data.
    receipt : Receipt
        What it cost.
    """

    name: str
    columns: tuple[str, ...]
    matrix: Array
    errors: Array
    units: Array
    confidence: float
    population: bool
    receipt: Receipt

    def projected(self) -> PairTable:
        """The nearest table that is positive semidefinite, as the exact one is: post-processing.

        Nearest in units that make the noise on all columns alike; by its eigenvalues, of which negative ones are raised
        to zero (Higham 1988, Theorem 2.1). Correlations are then scaled to be one on the diagonal. On the whole a
        covariance matrix comes closer to the exact one by this, not farther away; the error bars are left as they are.

        Examples
        --------
        >>> from discreet.core.neighbors import RECORD, Neighbors
        >>> from discreet.core.events import PureLoss
        >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
        >>> noisy = np.array([[1.0, 1.2], [1.2, 1.0]])
        >>> PairTable("covariance", ("x", "y"), noisy, noisy, np.ones(2), 0.95, False, receipt).projected().matrix
        array([[1.1, 1.1],
               [1.1, 1.1]])
        """
        scale = np.ones(len(self.columns)) if self.name == "correlation" else self.units
        values, vectors = np.linalg.eigh(self.matrix / np.outer(scale, scale))
        nearest = (vectors * np.maximum(values, 0.0)) @ vectors.T
        if self.name == "correlation":
            scale = 1 / np.sqrt(np.diag(nearest))
        return dataclasses.replace(self, matrix=nearest * np.outer(scale, scale))

    def frame(self) -> Any:
        """The values as a pandas data frame, with the columns' names on both sides."""
        try:
            import pandas
        except ImportError as why:
            raise MissingExtra(
                f"{self.name} as a data frame",
                "pandas is not installed",
                "Run: pip install 'discreet[frames]'.",
                "What was released is in `matrix`.",
            ) from why
        return pandas.DataFrame(self.matrix, index=list(self.columns), columns=list(self.columns))

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the value of each pair as a colour, which is white at zero.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones by default.
        """
        axes = drawn_on(f"a {self.name}", axes)
        most = 1.0 if self.name == "correlation" else max(float(np.abs(self.matrix).max()), 1e-300)
        image = axes.imshow(self.matrix, cmap="RdBu_r", vmin=-most, vmax=most)
        axes.figure.colorbar(image, ax=axes, label=self.name)
        axes.set_xticks(range(len(self.columns)), self.columns, rotation=45, ha="right")
        axes.set_yticks(range(len(self.columns)), self.columns)
        return axes

    def __str__(self) -> str:
        whose = "the population" if self.population else "these data"
        title = f"{self.name} of {len(self.columns)} columns ({100 * self.confidence:.10g}%, each, for {whose})"
        shown = range(min(len(self.columns), SHOWN))
        rows = [["", *self.columns[:SHOWN]], *([self.columns[i], *(self._cell(i, j) for j in shown)] for i in shown)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([title, *lines, *(["..."] if len(self.columns) > SHOWN else [])])

    def _cell(self, i: int, j: int) -> str:
        value, error = float(self.matrix[i, j]), float(self.errors[i, j])
        return exact(value) if error == 0 else f"{number(value, error)} ± {error_bar(error)}"

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"
