"""How far a training run is, and what that cost."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property

from discreet.accounting.accountant import epsilon
from discreet.deep.training.training_plan import TrainingPlan


@dataclass(frozen=True)
class Step:
    """What is public after a step.

    Parameters
    ----------
    number, of : int
        How many steps were made, and how many are planned.
    charged : float
        The epsilon that the account has paid so far, for everything that was asked of the data, these steps included.
    plan : TrainingPlan
        What is made.
    delta : float
        That of the account.

    Examples
    --------
    >>> from discreet.core.budget import Budget
    >>> plan = TrainingPlan.of(Budget(3.0, 1e-5), batch=400, expected_size=4000, epochs=5)
    >>> step = Step(10, plan.steps, 3.0, plan, 1e-5)
    >>> print(step)
    step 10 of 50; epsilon 3 at delta 1e-05 is charged
    >>> step.epsilon < 3.0
    True
    """

    number: int
    of: int
    charged: float
    plan: TrainingPlan = field(repr=False)
    delta: float = field(repr=False)

    @cached_property
    def epsilon(self) -> float:
        """What the steps so far cost by themselves, at the delta of the account: if training stopped here."""
        return epsilon(self.plan.opened(self.plan.event_of(self.number)), self.delta) if self.number else 0.0

    def __str__(self) -> str:
        return f"step {self.number} of {self.of}; epsilon {self.charged:.4g} at delta {self.delta:g} is charged"
