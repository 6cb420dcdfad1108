"""A released robust regression: its coefficients, their intervals and what it cost."""

from __future__ import annotations

import html
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.digits import exact
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.releases.columns import in_words
from discreet.releases.release import promise


@dataclass(frozen=True)
class RobustRegression:
    """A released regression: the target is about `intercept` plus `coef` times the columns.

    Parameters
    ----------
    target : str
        What is explained.
    columns : tuple of str
        What explains it.
    slopes : array
        One for each column, in the columns' own units; nan where there is no answer. That costs the same, and asking
        again costs it again.
    intercept : float
        The target where all columns are 0; nan where a slope has no answer.
    low, high : array or None
        The ends of an interval around each slope, for the population's; None where there are none. Infinite, where the
        records are too few for anything to be said.
    confidence : float or None
        Of each interval.
    blocks : int
        How many blocks the records were dealt into, each time.
    receipt : Receipt
        What it cost.
    """

    target: str
    columns: tuple[str, ...]
    slopes: Array
    intercept: float
    low: Array | None
    high: Array | None
    confidence: float | None
    blocks: int
    receipt: Receipt

    @property
    def coef(self) -> dict[str, float]:
        """The slope of each column, by name."""
        return dict(zip(self.columns, self.slopes.tolist(), strict=True))

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return not np.isnan(self.intercept)

    def interval(self, column: str) -> tuple[float, float] | None:
        """The interval of a column's slope; None where there is none."""
        place = self.columns.index(column)
        return None if self.low is None or self.high is None else (float(self.low[place]), float(self.high[place]))

    def predict(self, rows: Any) -> Array:
        """The target for given values of the columns; no cost, as nothing private is looked at.

        Parameters
        ----------
        rows : array of shape (n, columns), or mapping or data frame
            Values in the order of `columns`, or by their names.
        """
        named = isinstance(rows, Mapping) or hasattr(rows, "columns")
        values = np.column_stack([rows[name] for name in self.columns]) if named else np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            raise ParameterError(
                "predict",
                f"the shape of its rows is {values.shape}",
                f"Give a column each for {', '.join(self.columns)}.",
            )
        return self.intercept + values.astype(np.float64) @ self.slopes

    def rows(self) -> list[tuple[str, str]]:
        """Name and value with interval, for a reader."""
        found = [(name, _said(value, self.interval(name))) for name, value in self.coef.items()]
        return [*found, ("intercept", _said(self.intercept, None))]

    def __str__(self) -> str:
        width = max(len(name) for name, _ in self.rows())
        lines = (f"{name:>{width}}  {text}" for name, text in self.rows())
        return "\n".join([f"robust regression of {self.target}{promise(self.confidence, True)}", *lines])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(text)}</td></tr>" for name, text in self.rows()
        )
        title = html.escape(str(self).splitlines()[0])
        return f"<b>{title}</b><table class='discreet-regression'>{body}</table>{self.receipt._repr_html_()}"


def _said(value: float, interval: tuple[float, float] | None) -> str:
    """A value with its interval; where that is infinite, or there is none, with four digits."""
    if np.isnan(value):
        return "no answer"
    if interval is not None and np.isfinite(interval[1] - interval[0]):
        return in_words(value, *interval)
    return exact(float(f"{value:.4g}")) + ("" if interval is None else " [-inf, inf]")
