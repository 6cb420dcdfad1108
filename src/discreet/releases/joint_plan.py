"""Several releases that share one budget in fixed proportions."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import Any, ClassVar

from discreet.core.events import Composed, Event


def priced(mechanism: Any, factor: float) -> Any:
    """The same mechanism at so many times the price: that much more epsilon, or that much less noise.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> priced(Laplace(6.0), 2.0)
    Laplace(multiplier=3.0)
    """
    value = getattr(mechanism, mechanism.knob)
    return dataclasses.replace(
        mechanism, **{mechanism.knob: value * factor if mechanism.knob == "epsilon" else value / factor}
    )


@dataclass(frozen=True)
class Together:
    """Mechanisms that are paid for together, with one knob for all.

    Parameters
    ----------
    parts : tuple
        Public. The mechanisms, as they are at `epsilon` 1.
    epsilon : float
        Public. How many times that price they have.

    Examples
    --------
    >>> from discreet.mechanisms.additive.laplace import Laplace
    >>> from discreet.accounting.calibration import calibrate
    >>> from discreet.core.budget import Budget
    >>> halves = calibrate(Together((Laplace(2.0), Laplace(2.0))), Budget(0.5))
    >>> [round(part.multiplier, 4) for part in halves.mechanisms]
    [4.0, 4.0]
    """

    parts: tuple[Any, ...]
    epsilon: float = 1.0
    knob: ClassVar[str] = "epsilon"

    @property
    def mechanisms(self) -> tuple[Any, ...]:
        """The mechanisms at their price."""
        return tuple(priced(part, self.epsilon) for part in self.parts)

    @property
    def event(self) -> Event:
        """What all of them cost."""
        events = tuple(mechanism.event for mechanism in self.mechanisms)
        return Composed(events) if len(events) > 1 else events[0]
