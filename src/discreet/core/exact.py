"""Exact sums that go on. Secret: only streams may import this module, and what leaves an exact sum has noise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

from discreet.core.errors import ParameterError
from discreet.core.grid import Steps
from discreet.core.held import Secret, unheld

Sums = TypeVar("Sums")
Release = TypeVar("Release")


@unheld("part")
class Exact(Secret, Generic[Sums]):
    """What updates add up to, exactly: it changes by updates, and nothing leaves it without noise.

    Parameters
    ----------
    held : array, or whatever keeps the sums
        Secret. Nobody else has it.

    Examples
    --------
    >>> import numpy as np
    >>> sums = Exact(np.array([3, 4]))
    >>> sums.change(lambda held: held + 1)
    >>> sums.noised(lambda held: held[:1], np.array([-2]))
    array([2])
    """

    def __init__(self, held: Sums) -> None:
        self._held = held

    def change(self, by: Callable[[Sums], Sums]) -> None:
        """Take an update that nothing is released of."""
        self._held = by(self._held)

    def noised(self, sums: Callable[[Sums], Steps], noise: Steps) -> Steps:
        """Some sums, in steps of the grid of the noise, each with a number of the noise added."""
        exact = sums(self._held)
        if exact.shape != noise.shape:
            obstacle = f"sums of shape {exact.shape} and noise of shape {noise.shape}"
            raise ParameterError("noise on exact sums", obstacle, "Draw a number for each sum.")
        return exact + noise

    def drawn(self, release: Callable[[Sums], Release]) -> Release:
        """What a mechanism makes of the sums whose noise is not added: coins with their bias."""
        return release(self._held)

    def saved(self) -> Sums:
        """What is held, for a file that is as secret as the updates."""
        return self._held
