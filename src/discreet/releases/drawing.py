"""Axes to draw a release on, and what is drawn: points, bars, bands."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.releases.columns import KEPT, Columns, ConfidenceInterval, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def drawn_on(what: str, ax: Axes | None = None) -> Axes:
    """The axes that are given, or those of a new figure.

    Parameters
    ----------
    what : str
        What is drawn, for an error.
    ax : matplotlib Axes, optional
        Where to draw.

    Raises
    ------
    MissingExtra
        matplotlib is not installed.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> ax = Figure().add_subplot()
    >>> drawn_on("a line", ax) is ax
    True
    """
    if ax is not None:
        return ax
    try:
        from matplotlib import pyplot
    except ImportError as why:
        raise MissingExtra(f"draw {what}", "matplotlib is not installed", "Install discreet[plots].", KEPT) from why
    return pyplot.subplots(layout="constrained")[1]


def draw_points(ax: Axes, names: list[str], series: Series) -> None:
    """A point with its interval for each number, the first at the top."""
    places = np.arange(len(names))
    ax.errorbar(series.values, places, xerr=_bars(series), fmt="o", capsize=4)
    ax.set_yticks(places, names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.set_xlabel(series.name)


def draw_bars(ax: Axes, columns: Columns, series: Series) -> None:
    """A bar with its interval for each number."""
    names = [", ".join(row[: len(columns.labels)]) for row in columns.rows()[1:]]
    ax.bar(np.arange(len(names)), series.values, yerr=_bars(series))
    ax.set_xticks(np.arange(len(names)), names, rotation=45 if len(names) > 6 else 0)
    ax.set_xlabel(", ".join(columns.labels))
    ax.set_ylabel(series.name)


def draw_band(ax: Axes, points: Array, values: Array, band: ConfidenceInterval[Array], stepped: bool = False) -> None:
    """A line in its band; where the band is infinite, up to the highest value."""
    low, high = (np.where(np.isfinite(end), end, limit) for end, limit in zip(band, (0.0, values.max()), strict=True))
    ax.fill_between(points, low, high, alpha=0.3, step="mid" if stepped else None)
    ax.plot(points, values, drawstyle="steps-mid" if stepped else "default")


def _bars(series: Series) -> Array | None:
    """How far intervals reach to both sides; nothing is drawn for infinite ones."""
    if series.low is None or series.high is None:
        return None
    reach = np.stack([series.values - series.low, series.high - series.values])
    return np.where(np.isfinite(reach), np.maximum(reach, 0.0), np.nan)
