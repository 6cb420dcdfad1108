"""Estimators compared by what wrong records do to them, for a reader: as a table and as curves."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.core.grid import Array
from discreet.display.digits import exact
from discreet.display.notebook import carded
from discreet.display.plain import plain
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FIGURES = ("value", "sensitivity", "place", "sampling_error", "privacy_error", "least_error")


@dataclass(frozen=True)
class GrossError:
    """What wrong records do to one estimator.

    Parameters
    ----------
    name : str
        Of the estimator.
    value : float
        What it is without wrong records.
    points : array
        Where wrong records were put.
    influence : array
        By how much they moved it, for each share of them: the influence function.
    sensitivity : float
        The most that they moved it: its gross error sensitivity.
    place : float
        Where they were then.
    sampling_error : float
        The standard error of the estimator on a sample of that size.
    privacy_error : float
        About what privacy adds to it: the sensitivity, over epsilon times the number of records.
    least_error : float
        What privacy adds at the least, whatever the mechanism, to the expected absolute error on some data.
    """

    name: str
    value: float
    points: Array
    influence: Array
    sensitivity: float
    place: float
    sampling_error: float
    privacy_error: float
    least_error: float

    @property
    def error(self) -> float:
        """What to expect of both together."""
        return math.hypot(self.sampling_error, self.privacy_error)


@dataclass(frozen=True)
class GrossErrors:
    """Estimators, compared by what wrong records do to them.

    Parameters
    ----------
    rows : tuple of GrossError
        One for each.
    epsilon : float
        For which errors were computed.
    expected_size : int
        The number of records for which errors were computed.
    contamination : float
        The share of wrong records.
    """

    rows: tuple[GrossError, ...]
    epsilon: float
    expected_size: int
    contamination: float

    def __getitem__(self, name: str) -> GrossError:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is not among {', '.join(row.name for row in self.rows)}")

    @property
    def best(self) -> GrossError:
        """The estimator of least error; they should estimate the same thing for this to mean anything."""
        return min(self.rows, key=lambda row: row.error)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the influence functions.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which a notebook shows.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        """
        ax = drawn_on("influence functions", ax)
        for row in self.rows:
            ax.plot(row.points, row.influence, label=f"{row.name}, at most {row.sensitivity:.3g}")
        ax.axhline(0.0, color="0.7", linewidth=0.8)
        ax.set_xlabel("where the wrong records are")
        ax.set_ylabel("influence")
        ax.legend()
        return ax

    @property
    def title(self) -> str:
        """What the errors are for."""
        return f"{self.expected_size:,} records, epsilon {exact(self.epsilon)}"

    def tabulated(self) -> Columns:
        """A row for each estimator."""
        each = {name: np.array([getattr(row, name) for row in self.rows]) for name in FIGURES}
        labels = {"estimator": [row.name for row in self.rows]}
        return Columns(labels, tuple(Series(name, values) for name, values in each.items()))

    def to_dict(self) -> dict[str, Any]:
        """The table as plain numbers and lists."""
        return self.tabulated().to_dict()

    def to_pandas(self) -> Any:
        """The table as a pandas data frame."""
        return self.tabulated().to_pandas("gross errors")

    def __str__(self) -> str:
        return f"{plain(self.title)}\n{self.tabulated().text()}"

    def _repr_html_(self) -> str:
        return carded(self.tabulated().html(self.title))
