"""Released numbers in rows with labels."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.grid import Array
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.drawing import draw_bars, drawn_on
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Tabular(Release):
    """A release of rows with labels, whatever its columns are computed from; see `Table` for one that has them."""

    @property
    def values(self) -> Array:
        """The numbers of the first column."""
        return self.tabulated().series[0].values

    @property
    def standard_error(self) -> Array | None:
        """The standard deviations of their errors, where they are known."""
        return self.tabulated().series[0].standard_error

    @property
    def interval(self) -> ConfidenceInterval[Array]:
        """The ends of their intervals."""
        return self.tabulated().series[0].interval

    def __getitem__(self, name: str) -> Series:
        """A column of numbers by its name."""
        columns = {one.name: one for one in self.tabulated().series}
        if name not in columns:
            raise KeyError(f"{name!r} is not among {', '.join(columns)}")
        return columns[name]

    def __len__(self) -> int:
        return len(self.tabulated())

    def draw(self, ax: Axes) -> None:
        """A bar with its interval for each row, of the first column of numbers."""
        columns = self.tabulated()
        draw_bars(ax, columns, columns.series[0])

    def plot(self, ax: Axes | None = None, column: str | None = None) -> Axes:
        """Draw a bar with its interval for each row.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which a notebook shows.
        column : str, optional
            Which column of numbers; by default the first.
        """
        if column is None:
            return super().plot(ax)
        series = self[column]
        ax = drawn_on(self.name, ax)
        draw_bars(ax, self.tabulated(), series)
        return ax


@dataclass(frozen=True, kw_only=True)
class Table(Tabular):
    """Released numbers in rows with labels.

    Parameters
    ----------
    labels : mapping of str to sequences
        What each row is about: texts or public numbers, by the names of their columns.
    series : tuple of Series
        One or several columns of numbers with their intervals.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> from discreet.core.receipt import Receipt
    >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    >>> counts = Series.around("count", np.array([12.0, 300.0]), 20.0)
    >>> table = Table(name="wards", receipt=receipt, confidence=0.95, labels={"ward": ("a", "b")}, series=(counts,))
    >>> print(table)
    wards (95% for these data)
    ward     count
       a   12 ± 20
       b  300 ± 20
    >>> table["count"].values, table.interval.low
    (array([ 12., 300.]), array([ -8., 280.]))
    """

    labels: Mapping[str, Sequence[str] | Array]
    series: tuple[Series, ...]

    def tabulated(self) -> Columns:
        """The labels and the numbers."""
        return Columns(self.labels, self.series)
