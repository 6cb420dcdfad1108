"""What reports cost each person: devices pay by themselves, before anybody collects."""

from __future__ import annotations

from typing import Protocol

from discreet.core.events import Event
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt


class Reporting(Protocol):
    """A randomizer, or whatever else devices report by."""

    @property
    def event(self) -> Event: ...

    @property
    def epsilon(self) -> float: ...


def device_receipt(
    purpose: str, reporting: Reporting, *, simulated: bool, delta: float = 0.0, account: str = ""
) -> Receipt:
    """What the reports cost each person, if the devices have drawn them as they should.

    Parameters
    ----------
    purpose : str
        Public. What was estimated.
    reporting : Reporting
        Public. How each device reported.
    simulated : bool
        Public. Whether one process stood for all devices, so that nothing was hidden from it.
    delta : float
        Public. Of the reports.
    account : str
        Public. Whose account paid, in words, in the place of a key.
    """
    return Receipt(
        purpose, reporting.event, reporting.epsilon, delta, Neighbors.REPLACE, RECORD, not simulated, account, ""
    )
