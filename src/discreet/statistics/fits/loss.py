"""What every loss of an M-estimate knows: its value, its slope and its units."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Self

from discreet.core.grid import Array


class Loss(ABC):
    """A loss of responses and predictions."""

    binary = False  # whether responses are 0 and 1
    convex = True  # as a function of the prediction
    jumps = False  # whether its slope jumps

    @property
    @abstractmethod
    def title(self) -> str:
        """What it is called, as the beginning of a sentence."""

    @abstractmethod
    def of(self, response: Array, prediction: Array) -> Array:
        """The loss of each pair."""

    @abstractmethod
    def slope(self, response: Array, prediction: Array) -> Array:
        """How the loss of each pair changes with its prediction."""

    @property
    def complete(self) -> bool:
        """Whether nothing is left to be filled in."""
        return True

    def completed(self, deviation: float) -> Self:
        """The loss with what was left out, for residuals of this standard deviation where they are normal."""
        return self

    def in_units(self, unit: float, step: float) -> Self:
        """The loss of responses in such units, each spread evenly over a step."""
        return self
