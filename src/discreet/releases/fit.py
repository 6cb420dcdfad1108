"""Released coefficients of a model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from discreet.core.grid import Array
from discreet.releases.columns import Columns, ConfidenceInterval, Series
from discreet.releases.drawing import draw_points
from discreet.releases.release import Release

if TYPE_CHECKING:
    from matplotlib.axes import Axes


@dataclass(frozen=True, kw_only=True)
class Fit(Release):
    """Released coefficients of a model, by name.

    Parameters
    ----------
    names : tuple of str
        Of the coefficients.
    values : array of shape (coefficients,)
        The coefficients; nan for no answer.
    standard_error : array of shape (coefficients,), optional
        The standard deviations of their errors, where they are known.
    low, high : array of shape (coefficients,), optional
        The ends of an interval for each.

    Examples
    --------
    >>> import numpy as np
    >>> from discreet.core.events import PureLoss
    >>> from discreet.core.neighbors import RECORD, Neighbors
    >>> from discreet.core.receipt import Receipt
    >>> receipt = Receipt("example", PureLoss(1.0), 1.0, 0.0, Neighbors.ADD_REMOVE, RECORD, True, "", "")
    >>> value, low, high = np.array([[2.0], [1.0], [3.0]])
    >>> fit = Fit(name="line", receipt=receipt, confidence=0.95, names=("age",), values=value, low=low, high=high)
    >>> print(fit)
    line: 2.0 ± 1.0 (95% for these data)
    >>> fit["age"]
    2.0
    """

    names: tuple[str, ...]
    values: Array
    standard_error: Array | None = None
    low: Array | None = None
    high: Array | None = None

    @property
    def _series(self) -> Series:
        return Series("value", self.values, self.standard_error, self.low, self.high)

    @property
    def interval(self) -> ConfidenceInterval[Array]:
        """The ends of the intervals; infinite where there are none."""
        return self._series.interval

    @property
    def coefficients(self) -> dict[str, float]:
        """The coefficients by name."""
        return dict(zip(self.names, self.values.tolist(), strict=True))

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise KeyError(f"{name!r} is not among {', '.join(self.names)}")
        return self.coefficients[name]

    def __float__(self) -> float:
        if len(self.names) > 1:
            raise TypeError(f"{self.name} has {len(self.names)} coefficients")
        return float(self.values[0])

    def tabulated(self) -> Columns:
        """A row for each coefficient."""
        return Columns({"coefficient": self.names}, (self._series,))

    def shown(self) -> Columns:
        """A row for each coefficient; the value alone, if there is one."""
        return Columns({}, (self._series,)) if len(self.names) == 1 else self.tabulated()

    def draw(self, ax: Axes) -> None:
        """A point with its interval for each coefficient."""
        draw_points(ax, list(self.names), self._series)
