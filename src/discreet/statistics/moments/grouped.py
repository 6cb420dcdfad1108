"""Private count, sum and mean of a column in every group of a category, from one bounded sum.

A record adds the Bernstein mass of its value (see `moments`) to the numbers of its group. The mass is one, whatever the
number of groups, so all groups together cost what one of them would; and count, sum and mean of a group come from
the same numbers.
"""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.core.budget import Budget
from discreet.core.digits import error_bar, number
from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.core.schema import Number
from discreet.questions.grouped_moments import grouped_moments_of
from discreet.releases.ask import asked
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.trust.as_private import Bounds, as_private

SHARES = 64  # places between the bounds at which the error of a mean is looked up


@dataclass(frozen=True)
class GroupedEstimate:
    """Released counts, sums and means, one of each for every group.

    Parameters
    ----------
    column, by : str
        The column, and the category that it is grouped by.
    labels : tuple of str
        The groups: all that the schema lists, the empty ones too.
    counts, sums, means : array
        Noisy values. Counts may be negative; means stay inside the column's bounds.
    count_error, sum_error : float
        Half-width of an interval that holds a group's exact count, or sum, with the given confidence.
    mean_errors : array
        The same for each mean: wide where a group is small. There noise may hide it, and the interval holds more often.
    confidence : float
        Of each interval.
    receipt : Receipt
        What all of it cost.
    """

    column: str
    by: str
    labels: tuple[str, ...]
    counts: Array
    sums: Array
    means: Array
    count_error: float
    sum_error: float
    mean_errors: Array
    confidence: float
    receipt: Receipt

    def frame(self) -> Any:
        """All of it as a pandas data frame, a row for each group."""
        try:
            import pandas
        except ImportError as why:
            raise MissingExtra(
                f"{self.column} by {self.by} as a data frame",
                "pandas is not installed",
                "Run: pip install 'discreet[frames]'.",
                "What was released is in `counts`, `sums` and `means`.",
            ) from why
        columns = {
            "count": self.counts,
            "count_error": self.count_error,
            "sum": self.sums,
            "sum_error": self.sum_error,
            "mean": self.means,
            "mean_error": self.mean_errors,
        }
        return pandas.DataFrame(columns, index=pandas.Index(self.labels, name=self.by))

    def rows(self) -> list[tuple[str, str, str, str]]:
        """Label, count, sum and mean of each group, for a reader."""
        return [
            (
                label,
                number(float(self.counts[i]), self.count_error),
                number(float(self.sums[i]), self.sum_error),
                f"{number(float(self.means[i]), float(self.mean_errors[i]))} ± {error_bar(float(self.mean_errors[i]))}",
            )
            for i, label in enumerate(self.labels)
        ]

    @property
    def title(self) -> str:
        """What it is, and how far counts and sums may be off."""
        bars = f"counts ± {error_bar(self.count_error)}, sums ± {error_bar(self.sum_error)}"
        return f"{self.column} by {self.by}, {bars} ({self.confidence:.0%})"

    def __str__(self) -> str:
        rows = [(self.by, "count", "sum", "mean"), *self.rows()]
        widths = [max(len(row[i]) for row in rows) for i in range(4)]
        lines = ("  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{html.escape(text)}</th>" for text in (self.by, "count", "sum", "mean"))
        body = "".join(
            "<tr>" + "".join(f"<td>{html.escape(text)}</td>" for text in row) + "</tr>" for row in self.rows()
        )
        table = f"<table class='discreet-groups'><tr>{head}</tr>{body}</table>"
        return f"<b>{html.escape(self.title)}</b>{table}{self.receipt._repr_html_()}"


def grouped(
    data: Any,
    column: str,
    *,
    by: str,
    bounds: Bounds | None = None,
    epsilon: float = 1.0,
    delta: float = 0.0,
    key: str | None = None,
) -> GroupedEstimate:
    """Release count, sum and mean of a column in every group.

    Parameters
    ----------
    data : PrivateData, or data frame
        The records.
    column : str
        Public. A numeric column.
    by : str
        Public. A column with public categories: the groups.
    bounds : Schema, optional
        Public. For a data frame: its bounds and categories.
    epsilon, delta : float
        Public. What all of this may cost together. With delta 0 the noise is Laplace; else whichever of Laplace and
        Gaussian is less.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Returns
    -------
    GroupedEstimate
        A row for every listed group, the empty ones too; records without group or value are in none.

    Guarantee
    ---------
    The event on the receipt, one `Laplace` or `Gaussian` release of all groups together, for the data set's own
    neighbors: a record is in one group only, and its mass there is one.

    Examples
    --------
    >>> from discreet.core.schema import Category
    >>> schema = Schema({"ward": Category(("a", "b", "c")), "age": Number(0, 100)})
    >>> visits = {"ward": ["a"] * 600 + ["b"] * 400, "age": [30.0] * 600 + [70.0] * 400}
    >>> found = grouped(visits, "age", by="ward", bounds=schema, epsilon=1.0)
    >>> found.labels
    ('a', 'b', 'c')
    >>> bool(found.means[0] < 50 < found.means[1])
    True
    """
    budget = Budget(epsilon, delta)
    private = as_private(data, budget, bounds)
    limits, labels = private.schema.number(column), private.schema.category(by).values
    question = grouped_moments_of(private.schema, by, column, 1)
    released = asked(private, question, budget, f"{column} by {by}", key)
    return _estimated(column, by, labels, limits, released.values, released.spread, released.receipt)


def _estimated(
    column: str, by: str, labels: tuple[str, ...], limits: Number, released: Array, spread: Spread, receipt: Receipt
) -> GroupedEstimate:
    """Count, sum and mean from the noisy mass at both ends of a column's bounds: post-processing."""
    masses = released.reshape(len(labels), 2)
    ends = np.array([limits.lower, limits.upper], dtype=np.float64)
    counts = masses.sum(axis=1)
    sizes = np.maximum(counts, 1.0)
    shares = np.clip(masses[:, 1] / sizes, 0.0, 1.0)
    width = float(ends[1] - ends[0])
    return GroupedEstimate(
        column,
        by,
        labels,
        counts,
        masses @ ends,
        np.clip(ends[0] + width * shares, *ends),
        spread.half_width([1.0, 1.0]),
        spread.half_width(ends),
        np.minimum(width * _share_errors(shares, spread) / sizes, width),
        CONFIDENCE,
        receipt,
    )


def _share_errors(shares: Array, spread: Spread) -> Array:
    """How far noise moves (1 - a) times the upper mass less a times the lower one, at each share a.

    That is by what a mean is off, times its count (Fieller 1954). It grows from the middle to the ends, so the next
    place towards the nearer end is never too small.
    """
    at = [spread.half_width([place / SHARES, 1 - place / SHARES]) for place in range(SHARES // 2 + 1)]
    return np.array(at)[np.floor(SHARES * np.minimum(shares, 1 - shares)).astype(np.intp)]
