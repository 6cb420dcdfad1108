"""A budget: how much may be learned about anybody, in all."""

from __future__ import annotations

import math
from dataclasses import dataclass

from discreet.core.checks import is_number, shown
from discreet.core.errors import ParameterError


@dataclass(frozen=True)
class Budget:
    """The most that may ever be lost: (epsilon, delta).

    Parameters
    ----------
    epsilon : float
        Public. Positive and finite.
    delta : float
        Public. At least 0 and below 1; keep it far below one over the number of people.

    Examples
    --------
    >>> Budget(1.0, 1e-6)
    Budget(epsilon=1.0, delta=1e-06)
    """

    epsilon: float
    delta: float = 0.0

    def __post_init__(self) -> None:
        if not (
            (self.epsilon.__class__ is float or is_number(self.epsilon))
            and math.isfinite(self.epsilon)
            and self.epsilon > 0
        ):
            raise ParameterError(
                "budget", f"epsilon is {shown(self.epsilon)}", "Give a positive, finite epsilon.", epsilon=self.epsilon
            )
        if not ((self.delta.__class__ is float or is_number(self.delta)) and 0 <= self.delta < 1):
            raise ParameterError("budget", f"delta is {shown(self.delta)}", "Give a delta in [0, 1).", delta=self.delta)


def check_budget(asked: str, budget: object) -> None:
    """Refuse what is no budget, such as an epsilon alone.

    Examples
    --------
    >>> check_budget("account", Budget(1.0))
    """
    if not isinstance(budget, Budget):
        raise ParameterError(asked, f"its budget is {budget!r:.80}", "Give a Budget(epsilon, delta).", budget=budget)
