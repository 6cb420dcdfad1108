"""How often each value of a text column occurs, for the values that may be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.parameters import checked
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.tables.key_counts import KeyCounts
from discreet.releases.columns import Columns
from discreet.releases.release import check_confidence, check_population
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.table import Tabular
from discreet.statistics.tables.count_table import count_series
from discreet.trust.as_private import Bounds, as_private

LISTED = "what is listed depends on the sample"


@dataclass(frozen=True, kw_only=True)
class NamedCounts(Tabular):
    """Values that were common enough to be named, with noisy counts; the others, if any, stay secret.

    Parameters
    ----------
    counts : dict of str to int
        The noisy counts of the values that are named.
    stddev, half_width : float
        The standard deviation of the noise on each count, and how far it moves it with the given confidence.
    threshold : int
        The least noisy count of a value that is named.
    """

    counts: dict[str, int]
    stddev: float
    half_width: float
    threshold: int

    def tabulated(self) -> Columns:
        """A row for each value."""
        counts = np.array(list(self.counts.values()), dtype=np.float64)
        series = count_series(counts, self.stddev, self.half_width, self.confidence or 0.0, self.population)
        return Columns({self.name: tuple(self.counts)}, (series,))


@checked
def key_counts(
    data: Any,
    column: str,
    *,
    bounds: Bounds | None = None,
    confidence: float = CONFIDENCE,
    population: bool = False,
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
    population : bool
        Public. Refused if True: which values are named depends on the sample, and no interval knows that.
    epsilon, delta : float
        Public. What this may cost. Delta must be positive: it is the chance that a value of one unit alone is named.
    confidence, key
        Public. As for `mean`.

    Guarantee
    ---------
    The event on the receipt, one `KeySelection`.

    Examples
    --------
    >>> from discreet.schema.schema import Schema, Text
    >>> towns = {"town": ["Rome"] * 500 + ["Nowhere"]}
    >>> list(key_counts(towns, "town", bounds=Schema({"town": Text()}), epsilon=1.0, delta=1e-6).counts)
    ['Rome']
    """
    check_confidence(f"values of {column}", confidence)
    check_population(f"values of {column}", population, LISTED, "List the values in the schema, and ask `histogram`.")
    budget = Budget(epsilon, delta)
    private = as_private(data, budget, bounds)
    private.schema.text(column)
    if delta == 0:
        obstacle = "naming values that only the data know needs a positive delta"
        raise ParameterError(f"values of {column}", obstacle, "Give delta, or list the categories in the schema.")
    selection = calibrate(KeySelection(delta=delta / 2), budget)
    with private.permit(selection.event, f"values of {column}", key=key) as permit:
        counts = permit.ask(KeyCounts(column), selection)
    scale = selection.scale(private.unit.rows, private.neighbors)
    spread = Spread(Laplace(selection.multiplier), 2**0.5 * scale)
    return NamedCounts(
        name=column,
        receipt=permit.receipt,
        confidence=confidence,
        counts=counts,
        stddev=spread.stddev,
        half_width=spread.half_width([1.0], confidence),
        threshold=selection.threshold(private.unit.rows, private.neighbors),
    )
