"""Estimators compared by what wrong records do to them, for a reader: as a table and as curves."""

from __future__ import annotations

import html
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.digits import exact
from discreet.core.grid import Array
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes


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
        The standard error of the estimator on a sample of so many records.
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

    @property
    def figures(self) -> tuple[float, ...]:
        """What a table shows of it."""
        errors = (self.sampling_error, self.privacy_error, self.least_error)
        return (self.value, self.sensitivity, self.place, *errors)


@dataclass(frozen=True)
class GrossErrors:
    """Estimators, compared by what wrong records do to them.

    Parameters
    ----------
    rows : tuple of GrossError
        One for each.
    epsilon : float
        For which errors were computed.
    records : int
        For which errors were computed.
    share : float
        Of wrong records.
    """

    rows: tuple[GrossError, ...]
    epsilon: float
    records: int
    share: float

    def __getitem__(self, name: str) -> GrossError:
        for row in self.rows:
            if row.name == name:
                return row
        raise KeyError(f"{name!r} is not among {', '.join(row.name for row in self.rows)}")

    @property
    def best(self) -> GrossError:
        """The estimator of least error; they should estimate the same thing for this to mean anything."""
        return min(self.rows, key=lambda row: row.error)

    def plot(self, axes: Axes | None = None) -> Axes:
        """Draw the influence functions.

        Parameters
        ----------
        axes : matplotlib Axes, optional
            Where to draw; new ones by default.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        """
        axes = drawn_on("influence functions", axes)
        for row in self.rows:
            axes.plot(row.points, row.influence, label=f"{row.name}, at most {row.sensitivity:.3g}")
        axes.axhline(0.0, color="0.7", linewidth=0.8)
        axes.set_xlabel("where the wrong records are")
        axes.set_ylabel("influence")
        axes.legend()
        return axes

    @property
    def title(self) -> str:
        """What the errors are for."""
        return f"{self.records:,} records, epsilon {exact(self.epsilon)}"

    def table(self) -> list[list[str]]:
        """A header and a row for each estimator."""
        head = ["estimator", "value", "gross error sensitivity", "reached at", "sampling ±", "privacy ±", "at least"]
        return [head, *([row.name, *(f"{figure:.4g}" for figure in row.figures)] for row in self.rows)]

    def __str__(self) -> str:
        rows = self.table()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        head, *body = self.table()
        lines = [("th", head), *(("td", row) for row in body)]
        cells = ("".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in row) for tag, row in lines)
        table = "".join(f"<tr>{row}</tr>" for row in cells)
        return f"<b>{html.escape(self.title)}</b><table class='discreet-gross-errors'>{table}</table>"
