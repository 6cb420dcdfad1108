"""Estimated shares of the values of a domain, from reports that people randomised themselves."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from scipy.special import ndtri

from discreet.core.events import PureLoss
from discreet.core.grid import Array, Steps
from discreet.core.neighbors import RECORD, Neighbors
from discreet.core.receipt import Receipt
from discreet.releases.columns import Columns, Series
from discreet.releases.table import Tabular

if TYPE_CHECKING:
    from discreet.local.oracle import Oracle


@dataclass(frozen=True, kw_only=True)
class Frequencies(Tabular):
    """The share of each value among n people, unbiased, with standard errors and intervals.

    Shares may be negative and need not add up to 1: sums of them over any set of values are unbiased too. See
    `local.consistency` for estimates that are shares of a whole.

    Parameters
    ----------
    labels : tuple of str
        The values.
    shares, errors : array of shape (d,)
        The estimates and their standard errors.
    n : int
        The number of reports.
    """

    labels: tuple[str, ...]
    shares: Array
    errors: Array
    n: int
    tally: Steps
    oracle: Any

    @classmethod
    def of(
        cls,
        oracle: Oracle,
        tally: Steps,
        shares: Array,
        errors: Array,
        n: int,
        confidence: float,
        population: bool,
        simulated: bool,
    ) -> Frequencies:
        """The result of an oracle."""
        name = f"frequencies from {n} reports"
        assert isinstance(oracle.event, PureLoss)
        receipt = Receipt(
            f"{name} by {oracle.kind}",
            oracle.event,
            oracle.event.epsilon,
            0.0,
            Neighbors.REPLACE,
            RECORD,
            secret=not simulated,
            key="",
            head="",
        )
        return cls(
            name=name,
            receipt=receipt,
            confidence=confidence,
            population=population,
            labels=oracle.labels,
            shares=shares,
            errors=errors,
            n=n,
            tally=tally,
            oracle=oracle,
        )

    @cached_property
    def _columns(self) -> Columns:
        assert self.confidence is not None
        half = ndtri((1 + self.confidence) / 2) * self.errors
        return Columns({"value": self.labels}, (Series.around("frequency", self.shares, half, self.errors),))

    def tabulated(self) -> Columns:
        """The values and their shares."""
        return self._columns
