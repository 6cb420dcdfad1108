"""Samples of at most so many records, so that every step has one shape and takes one time."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import ClassVar

from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.events import ApproximateLoss, Composed, Event
from discreet.core.mechanism import SecretSample
from discreet.noise.laplace import discrete_laplace

ASKED = "truncate samples"
SHARE = 2.0**-5  # of the budget's epsilon, for the test of the size
RISK = 2.0**-10  # of the budget's delta, for the test and for what is left out, each
UP = 1 + 2.0**-30  # rounding may only overstate


@dataclass(frozen=True)
class Truncation:
    """Look at no more than `most` records of a sample, once a paid test has shown that hardly any sample has more.

    With truncation a record may push another one out, which moves a sum by twice the clip. How often it does depends on
    the number of records, which is secret. So that number is tested first, with noise that never exceeds `slack`: who
    passes has at most `records`, for certain, and then a step pushes somebody out with a known small probability. Who
    does not pass is sampled without truncation, at no other price. The proof is in `truncation.md`.

    Parameters
    ----------
    most : int
        Public. Of a sample, how many records are looked at: the first ones.
    records : int
        Public. How many there are at most, where samples are truncated.
    epsilon : float
        Public. Of the test.
    slack : int
        Public. The greatest noise of the test; up to `records - 2 * slack` records always pass.

    Guarantee
    ---------
    `event` once, and `left_out` beside the price of each step on a Poisson sample, for add/remove neighbors: by the
    bound of Hoeffding 1963, Theorem 1, as `truncation.md` proves.

    Examples
    --------
    >>> found = Truncation.of(Budget(3.0, 1e-5), rate=1000 / 60_000, expected_size=60_000, steps=600)
    >>> found.most, found.records, found.slack
    (1242, 61773, 591)
    >>> found.left_out(1000 / 60_000)  # doctest: +ELLIPSIS
    ApproximateLoss(epsilon=0.0, delta=1.36...e-11)
    """

    most: int
    records: int
    epsilon: float
    slack: int
    calibrated: ClassVar[str] = "slack"

    def __post_init__(self) -> None:
        check_whole(ASKED, "most", self.most)
        check_whole(ASKED, "records", self.records)
        check_positive(ASKED, "epsilon", self.epsilon, least=2.0**-20)
        check_whole(ASKED, "slack", self.slack)

    @classmethod
    def of(cls, budget: Budget, *, rate: float, expected_size: int, steps: int) -> Truncation:
        """The smallest samples for which test and truncation take a thousandth of the budget's delta each."""
        if budget.delta == 0:
            raise ParameterError(ASKED, "the budget has no delta", "Give one, or sample without truncation.")
        epsilon = SHARE * min(budget.epsilon, 1.0)
        slack = math.ceil(math.log(1 / (RISK * budget.delta)) / epsilon)
        records = expected_size + 3 * slack
        low, high = math.floor(rate * records), records
        while high - low > 1:
            middle = (low + high) // 2
            found = cls(middle, records, epsilon, slack).left_out(rate).delta
            low, high = (low, middle) if steps * found <= RISK * budget.delta else (middle, high)
        return cls(high, records, epsilon, slack)

    @property
    def event(self) -> ApproximateLoss:
        """The price of the test: its noise is discrete Laplace noise given that it is within the slack."""
        fall = math.exp(-self.epsilon)
        edge = fall**self.slack * (1 - fall) / (1 + fall - 2 * fall ** (self.slack + 1))
        return ApproximateLoss(self.epsilon, min(1.0, edge * UP))

    def left_out(self, rate: float) -> ApproximateLoss:
        """What truncation adds to the price of a step: the record is drawn, and so are `most` others or more.

        The probability of so many others is at most exp(-n D), D being the divergence of coins of the shares
        most / n and rate (Hoeffding 1963, Theorem 1).
        """
        others = self.records - 1
        share = self.most / max(others, 1)
        if share > 1:
            return ApproximateLoss(0.0, 0.0)
        if share <= rate:
            return ApproximateLoss(0.0, rate)
        rest = (1 - share) * math.log((1 - share) / (1 - rate)) if share < 1 else 0.0
        divergence = share * math.log(share / rate) + rest
        return ApproximateLoss(0.0, min(rate, rate * math.exp(-others * divergence * (1 - 2.0**-40)) * UP))

    def release(self, answer: Answer, bits: Bits) -> bool:
        """Whether the number of records passes the test."""
        noise = self.slack + 1
        while abs(noise) > self.slack:
            noise = int(discrete_laplace(bits, (1,), 1 / self.epsilon)[0])
        return int(answer.steps[0]) + noise + self.slack <= self.records

    def worst_neighbors(self) -> NeighborPair:
        """Two numbers about which the test is least sure."""
        most, bound = self.records - self.slack, Bound("l1", 1.0)
        return NeighborPair(whole_numbers([most], bound), whole_numbers([most + 1], bound))


@dataclass(frozen=True)
class TruncatedSample(SecretSample):
    """A Poisson sample of which no more than so many records are looked at, if these pass the test.

    Parameters
    ----------
    rate, scheme
        Public. See `SecretSample`.
    truncation : Truncation
        Public. How many, and the test.
    """

    truncation: Truncation = field(kw_only=True)

    def event(self, event: Event) -> Event:  # type: ignore[override]
        """What a release with this event costs when it is asked of such a sample."""
        return Composed((super().event(event), self.truncation.left_out(self.rate)))
