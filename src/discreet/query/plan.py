"""Everything that a report will release, and its price, before any data."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from discreet.accounting.calibration import calibrate
from discreet.core.budget import Budget
from discreet.core.errors import ParameterError
from discreet.core.events import Composed, Event, Repeated
from discreet.core.neighbors import RECORD, Neighbors, Unit
from discreet.core.schema import Category, Number, Schema, Text
from discreet.mechanisms.additive.additive_noise import Additive
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.selection.key_selection import KeySelection
from discreet.questions.contingency import ONE_CELL

SUMS = {Number: 2, Category: 1, Text: 0}


@dataclass(frozen=True)
class Plan:
    """Noisy sums and key selections, all with the same multiplier, which calibration sets.

    Parameters
    ----------
    sums, selections : int
        Public. How many there are of each.
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
    family: type[Additive] = Laplace
    delta: float = 0.0
    multiplier: float = 1.0
    knob: ClassVar[str] = "multiplier"

    @property
    def noise(self) -> Additive:
        """What is added to each sum."""
        return self.family(self.multiplier)

    @property
    def selection(self) -> KeySelection:
        """What names the values of each text column."""
        return KeySelection(self.multiplier, self.delta / self.selections)

    @property
    def event(self) -> Event:
        """The price of everything together."""
        events: list[Event] = []
        if self.sums:
            events.append(Repeated(self.noise.event, self.sums))
        if self.selections:
            events.append(Repeated(self.selection.event, self.selections))
        return events[0] if len(events) == 1 else Composed(tuple(events))


def planned(schema: Schema, budget: Budget, neighbors: Neighbors = Neighbors.ADD_REMOVE, unit: Unit = RECORD) -> Plan:
    """The plan of a report with the least noise that the budget allows.

    With delta 0 the noise of sums is Laplace, else Laplace or Gaussian, whichever is less: Laplace for a few sums,
    Gaussian for many. Key selection takes a quarter of delta: a ledger keeps part of its own for losses such as that of
    Gaussian noise, and two reports should find room in the rest.

    Examples
    --------
    >>> round(planned(Schema({"age": Number(0, 120)}), Budget(1.0)).multiplier, 3)
    2.0
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
    sums = sum(SUMS[type(column)] for column in schema.columns.values())
    families: tuple[type[Additive], ...] = (Laplace, Gaussian) if budget.delta > 0 and sums else (Laplace,)
    plans = [calibrate(Plan(sums, len(texts), family, budget.delta / 4), budget) for family in families]
    bound = ONE_CELL.times(unit.rows)
    return min(plans, key=lambda plan: plan.noise.stddev(bound, 2, neighbors))
