"""A released robust regression: its coefficients, their intervals and what it cost."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.releases.fit import Fit


@dataclass(frozen=True, kw_only=True)
class RobustRegression(Fit):
    """A released regression: the target is about the intercept plus the slopes times the columns.

    The coefficients are the slopes, in the units of the columns, then the intercept: the target where all columns are
    0. They are nan where there is no answer; that costs the same, and asking again costs it again. Intervals of slopes
    are infinite where there are too few records; the intercept has none.

    Parameters
    ----------
    target : str
        What is explained.
    blocks : int
        How many blocks the records were dealt into, each time.
    """

    target: str
    blocks: int

    @property
    def columns(self) -> tuple[str, ...]:
        """What explains the target."""
        return self.names[:-1]

    @property
    def slopes(self) -> Array:
        """One for each column."""
        return self.values[:-1]

    @property
    def intercept(self) -> float:
        """The target where all columns are 0."""
        return float(self.values[-1])

    @property
    def answered(self) -> bool:
        """Whether there is an answer."""
        return not np.isnan(self.intercept)

    def predict(self, rows: Any) -> Array:
        """The target for given values of the columns; no cost, as nothing private is used.

        Parameters
        ----------
        rows : array of shape (n, columns), or mapping or data frame
            Values in the order of `columns`, or by their names.
        """
        named = isinstance(rows, Mapping) or hasattr(rows, "columns")
        values = np.column_stack([rows[name] for name in self.columns]) if named else np.asarray(rows)
        if values.ndim != 2 or values.shape[1] != len(self.columns):
            remedy = f"Give a column each for {', '.join(self.columns)}."
            raise ParameterError("predict", f"the shape of its rows is {values.shape}", remedy)
        return self.intercept + values.astype(np.float64) @ self.slopes
