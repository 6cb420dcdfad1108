"""Released answers to many counting queries, with error bars and, mostly, a synthetic histogram."""

from __future__ import annotations

import html
from dataclasses import dataclass

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.questions.domain import Condition, Domain

SHOWN = 12  # queries that are printed


@dataclass(frozen=True)
class WorkloadAnswers:
    """Released answers to counting queries.

    Parameters
    ----------
    labels : tuple of str
        The queries.
    values : array
        How many records each counts: noisy, possibly negative.
    errors : array
        Half-widths of intervals that hold the exact answers with the given confidence.
    together : bool
        Whether that is the confidence that all intervals hold at once. Otherwise it is that of each by itself.
    method : {"queries", "cells", "mwem"}
        Noise was added to each query, or to each cell of the table; or a table was made by MWEM.
    domain : Domain
        The table's cells.
    table : array or None
        A synthetic histogram with these cells, from which further queries can be answered at no cost; none if noise was
        added to each query.
    confidence : float
        Of the intervals.
    receipt : Receipt
        What all of it cost.
    """

    labels: tuple[str, ...]
    values: Array
    errors: Array
    together: bool
    method: str
    domain: Domain
    table: Array | None
    confidence: float
    receipt: Receipt

    def count(self, condition: Condition) -> float:
        """The answer of the synthetic histogram to any query. It has no error bar."""
        if self.table is None:
            raise ParameterError("query", "there is no table", 'Use method="cells" or method="mwem".')
        return float(self.table.ravel() @ self.domain.where(condition))

    def __str__(self) -> str:
        scope = "all at once" if self.together else "each"
        width = max(len(label) for label in self.labels[:SHOWN])
        rows = [
            f"{label:>{width}} {value:>12,.0f} ± {error:,.0f}"
            for label, value, error in zip(self.labels[:SHOWN], self.values, self.errors, strict=False)
        ]
        rest = [f"... and {len(self.labels) - SHOWN} more"] if len(self.labels) > SHOWN else []
        return "\n".join([f"{len(self.labels)} queries ({self.confidence:.0%}, {scope})", *rows, *rest])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"


def in_words(condition: Condition) -> str:
    """A condition for a reader.

    Examples
    --------
    >>> in_words({"age": (20, 40), "sex": ["f", "m"]})
    'age in [20, 40), sex f or m'
    """
    parts = []
    for column, wanted in condition.items():
        if not isinstance(wanted, str) and len(wanted) == 2 and not isinstance(wanted[0], str):
            parts.append(f"{column} in [{wanted[0]:.6g}, {wanted[1]:.6g})")
        else:
            parts.append(f"{column} {wanted if isinstance(wanted, str) else ' or '.join(wanted)}")
    return ", ".join(parts) or "everybody"
