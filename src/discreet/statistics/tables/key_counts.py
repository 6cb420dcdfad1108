"""How often each value of a text column occurs, for the values that may be named."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import Any

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.receipt import Receipt
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.key_counts import KeyCounts
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.trust.as_private import Bounds, as_private


@dataclass(frozen=True)
class NamedCounts:
    """Values that were common enough to be named, with noisy counts; the others, if any, stay secret."""

    column: str
    counts: dict[str, int]
    error: float
    threshold: int
    confidence: float
    receipt: Receipt

    def __str__(self) -> str:
        rows = [f"{name:>20} {count:>12,}" for name, count in self.counts.items()]
        return "\n".join([f"{self.column}, each ± {self.error:.0f} ({self.confidence:.0%})", *rows])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"


def key_counts(
    data: Any,
    column: str,
    *,
    bounds: Bounds | None = None,
    epsilon: float = 1.0,
    delta: float = 1e-6,
    key: str | None = None,
) -> NamedCounts:
    """Release the frequent values of a text column, with their counts.

    Parameters
    ----------
    data : PrivateData, or data frame
        The records.
    column : str
        Public. A text column of the schema.
    bounds : Schema, optional
        Public. For a data frame: which of its columns are text.
    epsilon, delta : float
        Public. What this may cost. Delta must be positive: it is the chance that a value of one unit alone is named.
    key : str, optional
        Public. Makes a retry safe; see `PrivateData.permit`.

    Guarantee
    ---------
    The event on the receipt, one `KeySelection`.

    Examples
    --------
    >>> from discreet.core.schema import Schema, Text
    >>> towns = {"town": ["Rome"] * 500 + ["Nowhere"]}
    >>> list(key_counts(towns, "town", bounds=Schema({"town": Text()}), epsilon=1.0, delta=1e-6).counts)
    ['Rome']
    """
    budget = Budget(epsilon, delta)
    private = as_private(data, budget, bounds)
    private.schema.text(column)
    if delta == 0:
        raise ParameterError(
            f"values of {column}",
            "naming values that only the data know needs a positive delta",
            "Give delta, or list the categories in the schema.",
        )
    selection = calibrate(KeySelection(delta=delta / 2), budget)
    with private.permit(selection.event, f"values of {column}", key=key) as permit:
        counts = permit.ask(KeyCounts(column), selection)
    scale = selection.scale(private.unit.rows, private.neighbors)
    error = Spread(Laplace(selection.multiplier), 2**0.5 * scale).half_width([1.0])
    threshold = selection.threshold(private.unit.rows, private.neighbors)
    return NamedCounts(column, counts, error, threshold, CONFIDENCE, permit.receipt)
