"""Estimated shares of the values of a domain, from reports that people randomised themselves."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from scipy.special import ndtri

from discreet.accounting import accountant
from discreet.accounting.shuffling import shuffled, shuffled_response
from discreet.core.checks import check_one_of, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array, Steps
from discreet.local.device_receipt import device_receipt
from discreet.releases.columns import Columns, Series
from discreet.releases.table import Table, Tabular

if TYPE_CHECKING:
    from discreet.local.oracle import Oracle


METHODS = ("norm_sub", "norm_mul", "ibu")
ROUNDS = 1000
STILL = 1e-7  # change of the shares, all together, at which updates end


def norm_sub(shares: Array) -> Array:
    """The nearest shares of a whole, in the Euclidean distance: a constant is subtracted, and what is negative is 0.

    Norm-Sub of Wang et al. 2020 (consistency), which is the projection onto the probability simplex; the constant is
    found by sorting.

    Examples
    --------
    >>> norm_sub(np.array([0.8, 0.5, -0.4, 0.1]))
    array([0.65, 0.35, 0.  , 0.  ])
    """
    falling = np.sort(shares)[::-1]
    excess = (np.cumsum(falling) - 1) / np.arange(1, len(falling) + 1)
    return np.maximum(shares - excess[np.flatnonzero(falling > excess)[-1]], 0.0)


def norm_mul(shares: Array) -> Array:
    """Shares with negative ones set to 0 and the others scaled; equal ones where none is positive.

    Examples
    --------
    >>> norm_mul(np.array([0.75, 0.5, -0.4]))
    array([0.6, 0.4, 0. ])
    """
    positive = np.maximum(shares, 0.0)
    total = positive.sum()
    return positive / total if total > 0 else np.full(len(shares), 1 / len(shares))


def bayesian_update(oracle: Oracle, tally: Steps) -> Array:
    """The shares that make the reports most likely, by iterative Bayesian updates from equal shares.

    Each update is a step of expectation maximisation: the shares of all values among the people, given the reports and
    the shares before. Agrawal and Aggarwal 2001; ElSalamouny and Palamidessi 2020.

    Raises
    ------
    ParameterError
        The tally of this oracle does not determine the likelihood.
    """
    from discreet.local.oracles.generalized_randomized_response import CodeOracle

    if not isinstance(oracle, CodeOracle):
        raise ParameterError(
            "iterative Bayesian updates",
            f"the tally of {type(oracle).__name__} does not determine the likelihood of its reports",
            "Use norm_sub, or GeneralizedRandomizedResponse, HadamardResponse or ProjectiveGeometry.",
            "The estimates are as they were.",
        )
    seen, shares = tally / tally.sum(), np.full(oracle.size, 1 / oracle.size)
    for _ in range(ROUNDS):
        weights = seen / (oracle.low + (oracle.high - oracle.low) * oracle.scattered(shares))
        updated = shares * (oracle.low * weights.sum() + (oracle.high - oracle.low) * oracle.gathered(weights))
        updated = norm_mul(updated)
        if np.abs(updated - shares).sum() < STILL:
            return updated
        shares = updated
    return shares


@dataclass(frozen=True, kw_only=True)
class Frequencies(Tabular):
    """The share of each value among n people, unbiased, with standard errors and intervals.

    Shares may be negative and need not add up to 1, so that sums of them over any set of values are unbiased too;
    `consistent` makes them shares of a whole.

    Parameters
    ----------
    oracle : Oracle
        Whose reports they are estimated from.
    n : int
        The number of reports.
    tally : array
        Of the reports.
    shares, errors : array of shape (d,)
        The estimates and their standard errors.

    Examples
    --------
    >>> from discreet.local.aggregator import Aggregator
    >>> from discreet.local.oracles.generalized_randomized_response import GeneralizedRandomizedResponse
    >>> from discreet.noise.deterministic import DeterministicBits
    >>> randomizer = GeneralizedRandomizedResponse(epsilon=2.0, domain=("no", "yes"))
    >>> votes = Aggregator(randomizer, simulated=True)
    >>> votes.add(randomizer.reports(["yes"] * 700 + ["no"] * 300, DeterministicBits(1)))
    >>> found = votes.estimate()
    >>> bool(abs(found.shares[1] - 0.7) < 0.1)
    True
    """

    oracle: Oracle
    n: int
    tally: Steps
    shares: Array
    errors: Array

    @cached_property
    def _columns(self) -> Columns:
        half = 0.0 if self.confidence is None else ndtri((1 + self.confidence) / 2) * self.errors
        return Columns({"value": self.oracle.labels}, (Series.around("frequency", self.shares, half, self.errors),))

    def tabulated(self) -> Columns:
        """The values and their shares."""
        return self._columns

    def consistent(self, method: str = "norm_sub") -> Table:
        """Shares that are not negative and add up to 1: post-processing, which costs nothing.

        Parameters
        ----------
        method : {"norm_sub", "norm_mul", "ibu"}
            "norm_sub": the nearest such shares, best for most data. "norm_mul": negative ones are set to 0 and the
            others scaled. "ibu": maximum likelihood, by iterative Bayesian updates, for oracles that report codes.
            See `local.consistency`.

        Returns
        -------
        Table
            Without intervals: these estimates are biased, and less so is not known.
        """
        check_one_of("consistent frequencies", "method", method, METHODS)
        if method == "ibu":
            found = bayesian_update(self.oracle, self.tally)
        else:
            found = (norm_sub if method == "norm_sub" else norm_mul)(self.shares)
        return Table(
            name=f"{self.name}, {method}",
            receipt=self.receipt,
            confidence=None,
            labels={"value": self.oracle.labels},
            series=(Series("frequency", found),),
        )

    def shuffled(self, delta: float = 1e-6, honest: int | None = None) -> Frequencies:
        """The same, with the receipt that holds where reports reach the collector in random order, without names.

        Parameters
        ----------
        delta : float
            Public. The delta of the promise.
        honest : int, optional
            Public. How many of the people neither collude with the collector nor publish their reports; by default all.
        """
        people = self.n if honest is None else honest
        check_whole("shuffled frequencies", "honest", people, most=self.n)
        if not 0 < delta < 1:
            raise ParameterError("shuffled frequencies", f"delta is {delta}", "Give a delta in (0, 1).", delta=delta)
        binary = self.oracle.kind == "grr" and self.oracle.size == 2
        event = (shuffled_response if binary else shuffled)(self.oracle.epsilon, people)
        cost = min(accountant.epsilon(event, delta), self.oracle.epsilon)
        receipt = dataclasses.replace(
            self.receipt,
            purpose=f"{self.receipt.purpose}, shuffled among {people}",
            event=event,
            epsilon=cost,
            delta=delta,
        )
        return dataclasses.replace(self, receipt=receipt)


def frequencies_of(
    oracle: Oracle, tally: Steps, n: int, *, confidence: float, population: bool, simulated: bool
) -> Frequencies:
    """The estimates of an oracle with their errors."""
    found = oracle.frequencies(tally, n)
    shares = np.clip(found, 0.0, 1.0)
    variances = oracle.estimated_variances(tally, n, found) + population * shares * (1 - shares) / n
    name = f"frequencies from {n} reports"
    return Frequencies(
        name=name,
        receipt=device_receipt(f"{name} by {oracle.kind}", oracle, simulated=simulated, account="of each device"),
        confidence=confidence,
        population=population,
        oracle=oracle,
        n=n,
        tally=tally,
        shares=found,
        errors=np.sqrt(variances),
    )
