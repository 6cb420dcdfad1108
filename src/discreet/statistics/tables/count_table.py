"""A released table of counts, for a reader: as text, as HTML, as a data frame."""

from __future__ import annotations

import html
from dataclasses import dataclass
from itertools import product
from typing import Any

from discreet.core.digits import error_bar, number
from discreet.core.errors import MissingExtra
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.domain import Domain

MOST_ROWS, MOST_COLUMNS = 40, 12  # of a table that is printed whole


@dataclass(frozen=True)
class CountTable:
    """Noisy counts of all combinations of the cells of some columns.

    Parameters
    ----------
    domain : Domain
        The columns, one axis each, and their cells; with no column, the number of records.
    counts : array
        Noisy counts, possibly negative; axis i is column i.
    error : float
        Half-width of an interval that holds a cell's exact count with the given confidence.
    confidence : float
        Of each interval.
    receipt : Receipt
        What it cost.
    """

    domain: Domain
    counts: Array
    error: float
    confidence: float
    receipt: Receipt

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns."""
        return self.domain.columns

    @property
    def labels(self) -> tuple[tuple[str, ...], ...]:
        """The names of each column's cells."""
        return self.domain.labels

    @property
    def title(self) -> str:
        """What it counts, and how far each count may be off."""
        what = " by ".join(self.columns) or "all records"
        return f"{what}, each ± {error_bar(self.error)} ({self.confidence:.0%})"

    def frame(self) -> Any:
        """The table as a pandas data frame, a row for each cell."""
        try:
            import pandas
        except ImportError as why:
            raise MissingExtra(
                f"{self.title} as a data frame",
                "pandas is not installed",
                "Run: pip install 'discreet[frames]'.",
                "What was released is in `counts`.",
            ) from why
        index = pandas.MultiIndex.from_product(self.labels, names=self.columns) if self.columns else None
        return pandas.DataFrame({"count": self.counts.ravel(), "error": self.error}, index=index)

    def rows(self) -> list[list[str]]:
        """A header and a row for each combination of all columns but the last, which runs from left to right."""
        down, across = (self.columns[:-1], self.labels[-1]) if len(self.columns) > 1 else (self.columns, ("count",))
        flat = self.counts.reshape(-1, len(across))
        names = product(*self.labels[: len(down)])
        whole = bool((self.counts == self.counts.round()).all())
        body = [
            [*name, *(f"{count:,.0f}" if whole else number(float(count), self.error) for count in counts)]
            for name, counts in zip(names, flat, strict=True)
        ]
        return [[*down, *across], *body]

    def __str__(self) -> str:
        if self._large:
            return f"{self.title}: {self.counts.size:,} cells. Ask for a marginal of them, or for `frame()`."
        rows = self.rows()
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ("  ".join(f"{text:>{width}}" for text, width in zip(row, widths, strict=True)) for row in rows)
        return "\n".join([self.title, *lines])

    def _repr_html_(self) -> str:
        if self._large:
            return f"<p>{html.escape(str(self))}</p>{self.receipt._repr_html_()}"
        head, *body = self.rows()
        table = "".join([_row("th", head), *(_row("td", row) for row in body)])
        title = f"<b>{html.escape(self.title)}</b>"
        return f"{title}<table class='discreet-counts'>{table}</table>{self.receipt._repr_html_()}"

    @property
    def _large(self) -> bool:
        across = len(self.labels[-1]) if len(self.columns) > 1 else 1
        return across > MOST_COLUMNS or self.counts.size > MOST_ROWS * across


def _row(tag: str, texts: list[str]) -> str:
    return "<tr>" + "".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in texts) + "</tr>"
