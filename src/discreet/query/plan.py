"""Everything that a report will release, and its price, before any data."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.ranks.quantiles import Quantiles
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.tables.contingency import ONE_CELL
from discreet.schema.schema import Category, Schema, Text

QUANTILES = (0.05, 0.25, 0.5, 0.75, 0.95)
HALVING: dict[type[Additive], float] = {
    Laplace: 0.25,
    Gaussian: 1.0,
}  # epsilon of halving records, times the multiplier


@dataclass(frozen=True)
class Plan:
    """Noisy sums, key selections and searches for quantiles, with one multiplier for all, which calibration sets.

    Parameters
    ----------
    sums, selections, searches : int
        Public. How many there are of each.
    levels : int
        Public. How many quantiles, and ends of their intervals, each search finds.
    family : Laplace or Gaussian
        Public. The noise of the sums.
    delta : float
        Public. The chance that any key selection names a value held by one unit alone; they share it evenly.
    multiplier : float
        Public. Noise in units of sensitivity.

    Examples
    --------
    >>> Plan(sums=3, selections=0, multiplier=2.0).event
    Repeated(event=LaplaceLoss(multiplier=2.0), times=3)
    """

    sums: int
    selections: int
    searches: int = 0
    levels: int = 3
    family: type[Additive] = Laplace
    delta: float = 0.0
    multiplier: float = 1.0
    calibrated: ClassVar[str] = "multiplier"

    @property
    def noise(self) -> Additive:
        """What is added to each sum."""
        return self.family(self.multiplier)

    @property
    def selection(self) -> KeySelection:
        """What names the values of each text column."""
        return KeySelection(self.multiplier, self.delta / self.selections)

    @property
    def search(self) -> Quantiles:
        """What finds the quantiles of each column of numbers: its levels and bounds are to be set."""
        each = Quantiles(1.0, self.levels * (0.0,))
        return dataclasses.replace(each, epsilon=each.depth * HALVING[self.family] / self.multiplier)

    @property
    def event(self) -> Event:
        """The price of everything together."""
        events: list[Event] = []
        if self.sums:
            events.append(Repeated(self.noise.event, self.sums))
        if self.searches:
            events.append(Repeated(self.search.event, self.searches))
        if self.selections:
            events.append(Repeated(self.selection.event, self.selections))
        return events[0] if len(events) == 1 else Composed(tuple(events))


def planned(
    schema: Schema,
    budget: Budget,
    neighbors: Neighbors = Neighbors.ADD_REMOVE,
    unit: Unit = RECORD,
    quantiles: int = len(QUANTILES),
) -> Plan:
    """The plan of a report with the least noise that the budget allows.

    The so many quantiles of a column of numbers, with the ends of their intervals, are searched for at about the price
    of one sum; none, where only sums can be asked.

    With delta 0 the noise of sums is Laplace, else Laplace or Gaussian, whichever is less: Laplace for a few sums,
    Gaussian for many. Key selection takes a quarter of delta: a ledger keeps part of its own for losses such as that of
    Gaussian noise, and two reports should find room in the rest.

    Examples
    --------
    >>> from discreet.schema.schema import Number
    >>> round(planned(Schema({"age": Number(0, 120)}), Budget(1.0)).multiplier, 3)
    3.0
    """
    texts = [name for name, column in schema.columns.items() if isinstance(column, Text)]
    if texts and budget.delta == 0:
        raise ParameterError(
            f"report on column {texts[0]!r}",
            "it is text, whose values only the data know, and naming them needs a positive delta",
            "Give --delta (for example 1e-6, far below one over the number of people),"
            " or make the column a category with its values listed in the schema.",
            column=texts[0],
        )
    numbers = len(schema.features)
    sums = 2 * numbers + sum(isinstance(column, Category) for column in schema.columns.values())
    families: tuple[type[Additive], ...] = (Laplace, Gaussian) if budget.delta > 0 and sums else (Laplace,)
    searches = numbers if quantiles else 0
    plans = [
        calibrate(Plan(sums, len(texts), searches, 3 * quantiles, family, budget.delta / 4), budget)
        for family in families
    ]
    bound = ONE_CELL.times(unit.rows)
    return min(plans, key=lambda plan: plan.noise.stddev(bound, 2, neighbors))
