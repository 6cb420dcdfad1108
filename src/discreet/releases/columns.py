"""A small table of labels and numbers with error bars, and its forms: text, HTML, a data frame, plain lists."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, NamedTuple, TypeVar

import numpy as np
from numpy.typing import ArrayLike

from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.display.digits import error_bar, exact, number
from discreet.display.notebook import grid
from discreet.display.plain import plain
from discreet.schema.dates import Temporal

MOST_ROWS = 40  # of a table that is printed
KEPT = "The release is as it was."
Ends = TypeVar("Ends", float, Array)


class ConfidenceInterval(NamedTuple, Generic[Ends]):
    """The ends of an interval, or of one for each of many numbers."""

    low: Ends
    high: Ends


def in_words(value: float, low: float | None = None, high: float | None = None) -> str:
    """A value with its interval, without digits that the interval makes worthless.

    Examples
    --------
    >>> in_words(3.14159, 3.0, 3.28318), in_words(3.14159, 3.1, 3.25), in_words(2.5), in_words(math.nan)
    ('3.14 ± 0.15', '3.142 [3.100, 3.250]', '2.5', 'no answer')
    """
    if math.isnan(value):
        return "no answer"
    if low is None or high is None or low == high or (math.isnan(low) and math.isnan(high)):
        return exact(value if value == round(value) else float(f"{value:.6g}"))
    half = (high - low) / 2
    if not math.isfinite(half):
        return f"{exact(float(f'{value:.4g}'))} [{exact(low)}, {exact(high)}]"
    if math.isclose(high - value, value - low, rel_tol=1e-6):
        return f"{number(value, half)} ± {error_bar(half)}"
    return f"{number(value, half)} [{number(low, half)}, {number(high, half)}]"


@dataclass(frozen=True)
class Series:
    """A column of numbers with their errors, as far as these are known.

    Parameters
    ----------
    name : str
        Of the column.
    values : array of shape (rows,)
        The numbers.
    standard_error : array of shape (rows,), optional
        The standard deviations of their errors.
    low, high : array of shape (rows,), optional
        The ends of an interval for each.
    kind : Date or Datetime, optional
        What the numbers stand for, where they are times: they are printed as such.

    Examples
    --------
    >>> Series.around("count", np.array([12.0, 30.0]), 5.0).texts()
    ['12.0 ± 5.0', '30.0 ± 5.0']
    """

    name: str
    values: Array
    standard_error: Array | None = None
    low: Array | None = None
    high: Array | None = None
    kind: Temporal | None = field(default=None, kw_only=True)

    @classmethod
    def around(cls, name: str, values: Array, half_width: ArrayLike, standard_error: ArrayLike | None = None) -> Series:
        """With intervals that reach equally far to both sides: one half-width for all, or one for each."""
        half = np.broadcast_to(np.asarray(half_width, dtype=np.float64), values.shape)
        errors = None if standard_error is None else np.broadcast_to(np.asarray(standard_error), values.shape)
        return cls(name, values, errors, values - half, values + half)

    @property
    def interval(self) -> ConfidenceInterval[Array]:
        """The ends of each interval; infinite where there is none."""
        endless = np.full(self.values.shape, math.inf)
        return ConfidenceInterval(
            -endless if self.low is None else self.low, endless if self.high is None else self.high
        )

    def numbers(self, prefix: str = "") -> dict[str, Array]:
        """The values and what is known of their errors, by the names of columns."""
        errors = {"standard_error": self.standard_error, "low": self.low, "high": self.high}
        return {self.name: self.values} | {prefix + name: one for name, one in errors.items() if one is not None}

    def at(self, rows: slice) -> Series:
        """Some of the rows."""
        errors = (None if one is None else one[rows] for one in (self.standard_error, self.low, self.high))
        return Series(self.name, self.values[rows], *errors, kind=self.kind)

    def texts(self) -> list[str]:
        """Each value with its interval, for a reader."""
        if self.low is None or self.high is None:
            return [self._text(value) for value in self.values.tolist()]
        ends = zip(self.values.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        return [self._text(*each) for each in ends]

    def _text(self, value: float, low: float | None = None, high: float | None = None) -> str:
        if self.kind is None or math.isnan(value):
            return in_words(value, low, high)
        ends = "" if low is None or high is None else f" [{self.kind.shown(low)}, {self.kind.shown(high)}]"
        return f"{self.kind.shown(value)}{ends}"


@dataclass(frozen=True)
class Columns:
    """Labels and numbers, a row for each.

    Parameters
    ----------
    labels : mapping of str to sequences
        What each row is about: texts or public numbers, by the names of the columns. May be empty.
    series : tuple of Series
        The numbers.

    Examples
    --------
    >>> wards = Columns({"ward": ("a", "b")}, (Series.around("count", np.array([12.0, 300.0]), 20.0),))
    >>> print(wards.text())
    ward     count
       a   12 ± 20
       b  300 ± 20
    >>> wards.to_dict()
    {'labels': {'ward': ['a', 'b']}, 'numbers': {'count': [12.0, 300.0], 'low': [-8.0, 280.0], 'high': [32.0, 320.0]}}
    """

    labels: Mapping[str, Sequence[str] | Array]
    series: tuple[Series, ...]

    def __len__(self) -> int:
        return len(self.series[0].values)

    def at(self, rows: slice) -> Columns:
        """Some of the rows."""
        labels = {name: each[rows] for name, each in self.labels.items()}
        return Columns(labels, tuple(one.at(rows) for one in self.series))

    def numbers(self) -> dict[str, Array]:
        """All columns of numbers; with several series, their errors begin with their names."""
        alone = len(self.series) == 1
        return {k: v for one in self.series for k, v in one.numbers("" if alone else f"{one.name}_").items()}

    def to_dict(self) -> dict[str, Any]:
        """Plain lists, by the names of the columns; plain numbers, where there is one row without labels."""
        numbers = {name: each.tolist() for name, each in self.numbers().items()}
        if not self.labels:
            return {name: each[0] for name, each in numbers.items()}
        return {"labels": {name: np.asarray(each).tolist() for name, each in self.labels.items()}, "numbers": numbers}

    def to_pandas(self, name: str) -> Any:
        """A data frame; its index is the labels or, where there are none, this name."""
        try:
            import pandas
        except ImportError as why:
            raise MissingExtra(
                f"{name} as a data frame", "pandas is not installed", "Run: pip install 'discreet[frames]'.", KEPT
            ) from why
        labels, names = [np.asarray(each) for each in self.labels.values()], list(self.labels)
        if len(labels) < 2:
            index = pandas.Index(labels[0], name=names[0]) if labels else [name] * len(self)
        else:
            index = pandas.MultiIndex.from_arrays(labels, names=names)
        return pandas.DataFrame(self.numbers(), index=index)

    def rows(self) -> list[list[str]]:
        """A header, and the texts of each row; labels may come from records, so none of them rewrites a terminal."""
        texts = [
            [plain(one) if isinstance(one, str) else f"{one:.4g}" for one in each] for each in self.labels.values()
        ]
        texts += [one.texts() for one in self.series]
        head = map(plain, (*self.labels, *(one.name for one in self.series)))
        return [[*head], *map(list, zip(*texts, strict=True))]

    def text(self) -> str:
        """Aligned text, of the first rows."""
        shown = self.at(slice(MOST_ROWS)).rows()
        widths = [max(map(len, column)) for column in zip(*shown, strict=True)]
        lines = ["  ".join(f"{cell:>{width}}" for cell, width in zip(row, widths, strict=True)) for row in shown]
        return "\n".join([*lines, *self._rest])

    def html(self, title: str) -> str:
        """A table, of the first rows."""
        head, *body = self.at(slice(MOST_ROWS)).rows()
        return grid(title, head, body, len(self.labels)) + "".join(f"<p>{line}</p>" for line in self._rest)

    @property
    def _rest(self) -> list[str]:
        return [f"... and {len(self) - MOST_ROWS:,} more"] if len(self) > MOST_ROWS else []
