"""How often each value of a text column occurs, for the values that may be named."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Unpack

import numpy as np

from discreet.accounting.calibration import calibrate
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.tables.key_counts import KeyCounts
from discreet.releases.columns import Columns
from discreet.releases.declaration import Refusal
from discreet.releases.records_of import RecordsOf
from discreet.releases.spread import CONFIDENCE, Spread
from discreet.releases.statistic import OfTheseData, statistic
from discreet.releases.table import Tabular
from discreet.statistics.tables.contingency import count_series

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


@statistic(
    delta=1e-6,
    no_by="its values make groups already, and only the data know which there are",
    no_population=Refusal(LISTED, "List the values in the schema, and ask `histogram`."),
    needs_delta=Refusal(
        "naming values that only the data know needs a positive delta",
        "Give delta, or list the categories in the schema.",
    ),
    curator="values that are not public are named by whoever holds the exact counts",
)
def key_counts(
    records: RecordsOf, column: str, *, confidence: float = CONFIDENCE, **_: Unpack[OfTheseData]
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
    confidence : float
        Public. Of each interval.

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
    of = records.opened_anywhere()
    of.schema.text(column)
    of.data.check_counts_keys(f"values of {column}")
    selection = calibrate(KeySelection(delta=of.budget.delta / 2), of.budget)
    with of.data.permit(selection.event, f"values of {column}", key=of.key) as permit:
        counts = permit.ask(KeyCounts(column), selection)
    scale = selection.scale(of.data.unit.rows, of.data.neighbors)
    spread = Spread(Laplace(selection.multiplier), 2**0.5 * scale)
    return NamedCounts(
        name=column,
        receipt=permit.receipt,
        confidence=confidence,
        counts=counts,
        stddev=spread.stddev,
        half_width=spread.half_width([1.0], confidence),
        threshold=selection.threshold(of.data.unit.rows, of.data.neighbors),
    )
