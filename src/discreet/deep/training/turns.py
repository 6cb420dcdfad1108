"""Groups of records that take turns."""

from __future__ import annotations

import numpy as np

from discreet.core.bits import Bits
from discreet.core.grid import Steps
from discreet.core.held import Held, exclusive
from discreet.noise.choice import uniform_below


class Turns(Held):
    """Every record is in one of so many groups, by a secret coin of its own; step after step the next group is asked.

    Parameters
    ----------
    size : int
        How many records there are: secret.
    count : int
        Public. How many groups.
    bits : Bits
        Where coins come from.
    """

    def __init__(self, size: int, count: int, bits: Bits) -> None:
        self._groups, self._count, self._step = uniform_below(bits, np.full(size, count)), count, 0

    @exclusive
    def next(self) -> Steps:
        """The places of the records of the group whose turn it is."""
        found = np.flatnonzero(self._groups == self._step % self._count)
        self._step += 1
        return found
