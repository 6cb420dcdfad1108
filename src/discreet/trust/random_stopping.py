"""The best of a random number of private trials: random stopping, by a curator."""

from __future__ import annotations

import math
import time
from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, ClassVar, TypeVar

import numpy as np

from discreet.accounting.renyi import renyi
from discreet.core.answer import NeighborPair, Records
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, is_number, shown
from discreet.core.errors import NotPermitted, ParameterError, UnplannedRelease
from discreet.core.events import Event, RenyiLoss, written
from discreet.core.mechanism import Mechanism
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.exponential import ORDERS
from discreet.noise.bernoulli import bernoulli
from discreet.noise.uniform import uniform_integers
from discreet.questions.question import Question
from discreet.schema.schema import Schema
from discreet.trust.curator import Curator
from discreet.trust.permit import KEPT, Permit, releases
from discreet.trust.sources.matrix import Matrix

ASKED = "random stopping"
SHOWN = 2.0**-20  # the probability that the number of trials shows in how many are made
LONGEST = 7 * 86_400.0  # seconds
SLACK = 1 + 2.0**-40  # above the rounding of the sums below
Release = TypeVar("Release")


@dataclass(frozen=True)
class Trial:
    """What one trial found, made of releases alone."""

    score: float  # the higher, the better
    candidate: int  # which candidate was tried
    found: Mapping[str, Any]  # what is kept of it, if it is the best


class TrialPermit(Permit):
    """Access to the records of a curator for one trial: to releases that cost no more than it may."""

    def __init__(self, trust: Curator, price: Event) -> None:
        self._promise: Curator = trust
        self._unspent: Counter[Event] = releases(price)

    def ask(self, question: Question, mechanism: Mechanism[Release]) -> Release:
        """Release the answer to a question, inside the trial."""
        self._unspent -= self._check_unspent(mechanism.event)
        return self._trust.ask(question, mechanism)

    def check_pays(self, event: Event) -> None:
        """Refuse what a trial does not pay for any more."""
        self._check_unspent(event)

    def _check_unspent(self, event: Event) -> Counter[Event]:
        cost = releases(event)
        if not cost <= self._unspent:
            obstacle = f"a trial does not pay for another {written(event)}"
            raise UnplannedRelease(ASKED, obstacle, "Put it into its price.", KEPT)
        return cost

    def random_state(self, given: Any) -> Any:
        """A seed for public choices: the one that was given."""
        return given


@dataclass(frozen=True)
class RandomStopping:
    """Try candidates that are drawn at random, each privately; stop with a fixed chance after each; release the best.

    What the other trials found, and how many there were, stays with the curator: the number and the best score together
    would cost far more than the best score alone. So neither the work nor the moment of the result shows the number. By
    default idle trials, which count for nothing, follow the last until there are as many as `trials` says; or the
    result waits for a moment that is fixed before. A ledger keeps days and no hours, and of a commit that of its
    reservation.

    Parameters
    ----------
    trial : callable
        Public. A candidate and a permit in, a `Trial` out, which follows from what the permit releases.
    prices : tuple of Event
        Public. What a trial of each candidate costs, by itself.
    schema : Schema
        Public. Of the columns that are given to trials, in their order.
    stop : float
        Public. The chance to stop after a trial: there are 1 / stop of them on average.
    release_after : float, optional
        Public. Instead of idle trials: how many seconds after its start the search hands out its result. It must be
        long enough for any likely number of trials: a result that is late shows about how many there were. With 0 it
        is handed out at once: for a curator whom nobody can time.

    Guarantee
    ---------
    A `RenyiLoss`. A trial of a random candidate has at most the divergence of the dearest. If a trial has divergence e
    at order a and e' at order b, the release has, at order a, at most
    e + 2 (1 - 1/b) e' + 2 ln(1/stop) / b + ln(1/stop) / (a - 1): Papernot and Steinke 2022, Theorem 2 with eta = 1, for
    the best b; and three times the epsilon of a trial, where this is pure: Liu and Talwar 2019, Theorem 3.4.

    That is about the result. The number of trials is drawn without looking at records. With idle trials it shows in the
    time only if it is above `trials`, which has a probability of 2**-20 at most, whatever the records are. How long a
    trial of each candidate takes is not hidden.

    Examples
    --------
    >>> from discreet.core.events import PureLoss
    >>> from discreet.schema.schema import Number
    >>> stopping = RandomStopping(len, (PureLoss(0.25),), Schema({"x": Number(0, 1)}), 0.1)
    >>> round(stopping.event.values[-1], 6)
    0.75
    """

    trial: Callable[[int, Permit], Trial]
    prices: tuple[Event, ...]
    schema: Schema
    stop: float
    release_after: float | None = None
    calibrated: ClassVar[str] = "stop"

    def __post_init__(self) -> None:
        check_wait(ASKED, self.release_after)
        priced = isinstance(self.prices, tuple) and all(isinstance(price, Event) for price in self.prices)
        if not (priced and self.prices and is_number(self.stop) and 0 < self.stop < 1):
            candidates = f"{len(self.prices)} candidates" if priced else "prices that are no tuple of events"
            obstacle = f"there are {candidates}, and the chance to stop is {shown(self.stop)}"
            raise ParameterError(ASKED, obstacle, "Give at least one candidate, and a chance between 0 and 1.")

    @property
    def event(self) -> RenyiLoss:
        """The price of the search."""
        return stopped(self.prices, self.stop)

    @property
    def trials(self) -> int:
        """How many trials are made at least, with idle ones: more are needed with a probability of 2**-20 at most."""
        return math.ceil(math.log(SHOWN) / math.log1p(-self.stop))

    def release(self, answer: Records, bits: Bits) -> Trial:
        """The best trial; the first of them, among equals."""
        if answer.rows != 1:
            raise NotPermitted(ASKED, f"a unit has {answer.rows} rows", "Keep one row of each unit.", KEPT)
        begun, trust = time.monotonic(), Curator(Matrix(answer.values, self.schema), answer.neighbors, bits=bits)
        best, made = self._tried(trust, bits), 1
        while not bernoulli(bits, 1, self.stop)[0]:
            found = self._tried(trust, bits)
            best, made = found if found.score > best.score else best, made + 1
        self._wait(begun, made, trust, bits)
        return best

    def _wait(self, begun: float, made: int, trust: Curator, bits: Bits) -> None:
        """Let neither work nor time show how many trials were made."""
        if self.release_after is not None:
            time.sleep(max(0.0, begun + self.release_after - time.monotonic()))
            return
        for _ in range(self.trials - made):
            self._tried(trust, bits)

    def worst_neighbors(self) -> NeighborPair:
        """No record, and a single one."""
        rows = np.zeros((1, len(self.schema.columns)))
        return NeighborPair(*(Records(some, 1, Neighbors.ADD_REMOVE) for some in (rows[:0], rows)))

    def _tried(self, trust: Curator, bits: Bits) -> Trial:
        candidate = int(uniform_integers(bits, 1, len(self.prices))[0])
        return self.trial(candidate, TrialPermit(trust, self.prices[candidate]))


def check_wait(asked: str, seconds: float | None) -> None:
    """Refuse what is no time to wait."""
    if seconds is not None:
        check_positive(asked, "release_after", seconds, 0.0, LONGEST)


@lru_cache(maxsize=256)
def stopped(prices: tuple[Event, ...], stop: float) -> RenyiLoss:
    """What random stopping costs, for trials of these prices; see `RandomStopping`."""
    curve = {order: max(_divergence(price, order) for price in prices) for order in ORDERS}
    trials = math.log(1 / stop)

    others = [2 * (1 - 1 / order) * curve[order] + 2 * trials / order for order in ORDERS]
    rest = min(2 * trials, *others)  # the first is that of order 1
    found = {order: (curve[order] + rest + trials / (order - 1)) * SLACK for order in ORDERS}
    if math.isinf(curve[math.inf]):
        del found[math.inf]
    orders = [order for order in found if math.isfinite(found[order])]
    return RenyiLoss(tuple(orders), tuple(found[order] for order in orders))


def _divergence(price: Event, order: float) -> float:
    """The Renyi divergence of one trial."""
    found = renyi(price, order)
    if found.delta > 0:
        raise ParameterError(ASKED, "a trial has a delta of its own", "Use learners with noise that has none.")
    return found.divergence
