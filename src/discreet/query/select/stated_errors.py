"""The price and its shares for errors that are stated, one for each statistic."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from discreet.core.errors import NotPermitted
from discreet.display.plain import plain

ASKED = "stated errors"
CLOSE = 1.02  # so near the least price
Errors = Mapping[str, float]
Planned = Callable[[float, Mapping[str, float]], Errors]
"""The errors to expect, at a price and with these weights."""


@dataclass(frozen=True)
class StatedErrors:
    """What to pay, and how to share it, so that each statistic is as near as was asked: of public facts alone.

    Parameters
    ----------
    epsilon : float
        The price of all of them together.
    weights : dict of str to float
        The share of each.
    """

    epsilon: float
    weights: dict[str, float]

    @classmethod
    def of(cls, wanted: Errors, alone: Mapping[str, float], planned: Planned, most: float) -> StatedErrors:
        """From the price that each statistic has by itself.

        Parameters
        ----------
        wanted : mapping of str to float
            Public. The errors.
        alone : mapping of str to float
            Public. The least epsilon for each of them, if nothing else were asked.
        planned : callable
            The errors to expect of all of them.
        most : float
            Public. The greatest epsilon that is tried.
        """
        if out := [name for name, epsilon in alone.items() if math.isinf(epsilon)]:
            obstacle = f"{out[0]} is farther off than {wanted[out[0]]:g} at every price"
            raise NotPermitted(ASKED, obstacle, "State a larger error, or ask of more records.")
        weights = {name: epsilon**1.5 for name, epsilon in alone.items()}  # shares of epsilon are powers 2/3 of these

        def good(epsilon: float) -> bool:
            errors = planned(epsilon, weights)
            return all(errors.get(name, 0.0) <= most for name, most in wanted.items())

        low, high = max(alone.values()) / 2, math.fsum(alone.values())
        while not good(high):
            low, high = high, 2 * high
            if high > most:
                raise NotPermitted(ASKED, "no price gives all of these errors together", "State larger ones.")
        while high > CLOSE * low:
            middle = math.sqrt(low * high)
            low, high = (low, middle) if good(middle) else (middle, high)
        return cls(high, weights)

    def __str__(self) -> str:
        shares = ", ".join(f"{plain(name)} {weight:.3g}" for name, weight in self.weights.items())
        return f"epsilon {self.epsilon:.3g}, shared by weights ({shares}); nothing was asked"
