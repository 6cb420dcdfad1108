"""Private key selection: which values of a column may be named, and how often each occurs."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import LEAST_SCALE, KeyedAnswer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Composed, LaplaceLoss
from discreet.core.grid import upwards
from discreet.core.neighbors import Neighbors
from discreet.core.parameters import CheckedParameters
from discreet.noise.laplace import rounded_laplace


@dataclass(frozen=True)
class KeySelection(CheckedParameters):
    """Release each key whose noisy count passes a threshold, with that count, in alphabetical order.

    The threshold is so high that the keys that one unit alone brings pass it with probability at most delta in all.
    The other keys, and how many they are, stay secret.

    Parameters
    ----------
    multiplier : float
        Public. Laplace noise scale in units of the l1 sensitivity of the counts.
    delta : float
        Public. The chance that a key held by one unit alone is named.

    Guarantee
    ---------
    `LaplaceLoss(multiplier)` for the counts of the keys that both neighbors hold, composed with
    `ApproximateLoss(0, delta)` for the keys that one holds alone. Korolova, Kenthapadi, Mishra and Ntoulas 2009,
    Theorem 1, with a unit of up to `rows` rows: it holds at most that many keys alone, each at most that often, and
    rounded Laplace noise passes t with probability exp(-(t - 1/2) / scale) / 2. Where the second data set has keys of
    its own, its mass on the common ones shrinks by at most 1 - delta, which costs no more than delta.

    Examples
    --------
    >>> KeySelection(multiplier=1.0, delta=1e-6).threshold(rows=1, neighbors=Neighbors.ADD_REMOVE)
    15
    """

    multiplier: float = 1.0
    delta: float = 1e-6
    calibrated: ClassVar[str] = "multiplier"

    def __post_init__(self) -> None:
        check_positive("KeySelection", "multiplier", self.multiplier)
        if not 0 < self.delta < 0.5:
            raise ParameterError(
                "KeySelection",
                f"delta is {self.delta}",
                "Naming keys that only the data know needs 0 < delta < 0.5; or list the categories in the schema.",
                delta=self.delta,
            )

    @property
    def event(self) -> Composed:
        return Composed((LaplaceLoss(self.multiplier), ApproximateLoss(0.0, self.delta)))

    def scale(self, rows: int, neighbors: Neighbors) -> float:
        """The noise scale, in rows, rounded up."""
        return max(upwards(Fraction(self.multiplier) * rows * neighbors.reach), LEAST_SCALE)

    def threshold(self, rows: int, neighbors: Neighbors) -> int:
        """The least noisy count that names its key, rounded up."""
        margin = self.scale(rows, neighbors) * math.log(rows / (2 * self.delta)) * (1 + 1e-12)
        return math.ceil(rows + 0.5 + max(0.0, margin))

    def release(self, answer: KeyedAnswer, bits: Bits) -> dict[str, int]:
        """The keys that pass, with their noisy counts."""
        noisy = answer.counts + rounded_laplace(bits, answer.counts.shape, self.scale(answer.rows, answer.neighbors))
        named = np.flatnonzero(noisy >= self.threshold(answer.rows, answer.neighbors))
        return {answer.keys[i]: int(noisy[i]) for i in named}

    def worst_neighbors(self) -> NeighborPair:
        """A common key that one more row holds."""
        first, second = np.array([100], dtype=np.int64), np.array([101], dtype=np.int64)
        neighbors = Neighbors.ADD_REMOVE
        return NeighborPair(KeyedAnswer(("a",), first, 1, neighbors), KeyedAnswer(("a",), second, 1, neighbors))
