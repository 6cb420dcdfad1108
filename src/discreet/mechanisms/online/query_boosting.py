"""Boosting for queries: several public histograms, each made for the queries that those before it answer badly."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import Composed, Event, Repeated
from discreet.core.grid import Array, Steps, upwards
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.multiplicative_weights import WeightedHistogram
from discreet.mechanisms.online.mwem import FARTHEST, TOTAL
from discreet.mechanisms.online.queries import TWO_CELLS, ExactCounts, Queries, distance, one_more
from discreet.mechanisms.selection.exponential import Exponential

FEWEST_ROUNDS, MOST_ROUNDS = 2, 2**7
CHOICES = 0.5  # the part of epsilon for choosing queries
FARTHEST_OFF = 2.0**52  # steps: errors of 128 rounds add up within int64
FITS = 3  # all answers of a round are fitted at once
STRENGTH = math.log(3) / 2  # of reweighting, for histograms that answer three quarters of the weight well


@dataclass(frozen=True)
class QueryBoosting(CheckedParameters):
    """Measure queries drawn by their weights, make a histogram of the answers, and reweight the queries; so each round.

    A query that the histogram of a round answers to within a tolerance loses weight, one that is farther off than the
    tolerance and a margin gains it, by a factor of 3 against the former, and between the two the exponent is linear.
    The answer to a query is the median of those of all histograms. `MWEM` usually needs less epsilon for the same
    error; this is the mechanism that was published first.

    The total is measured before all, and last, beyond the published mechanism, the greatest error of all medians: an
    error bar for all queries at once. Released are the queries that were drawn and the noisy answers.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything.
    rounds : int
        Public. How many histograms.
    sample : int
        Public. How many queries are drawn in each round.
    queries : Queries
        Public. What should be answered well.

    Guarantee
    ---------
    `Laplace` noise for all that is measured, and an `Exponential` choice for each query that is drawn after the first
    round, composed adaptively. Dwork, Rothblum and Vadhan 2010, Section 3. After t rounds the logarithm of a query's
    weight is, up to a constant, in proportion to the sum over these rounds of its error, less the tolerance and cut to
    the margin. One record moves an error by 1 at most, whatever the public histogram is, and so this sum by t: drawing
    by weight is the exponential mechanism with scores of sensitivity t, and costs in proportion to t. The first draw
    depends on nothing. The margin is so wide that all draws cost half of epsilon together.

    Examples
    --------
    >>> from discreet.accounting.accountant import epsilon
    >>> round(epsilon(QueryBoosting(epsilon=1.0, rounds=3, sample=2).event, 0.0), 9)
    1.0
    """

    epsilon: float = 1.0
    rounds: int = 3
    sample: int = 4
    queries: Queries = TWO_CELLS
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("QueryBoosting", "epsilon", self.epsilon, least=2.0**-30)
        check_whole("QueryBoosting", "rounds", self.rounds, least=FEWEST_ROUNDS, most=MOST_ROUNDS)
        check_whole("QueryBoosting", "sample", self.sample, most=2**10)

    def choice(self, past: int) -> Exponential:
        steps = self.sample * self.rounds * (self.rounds - 1) // 2  # the sum of `past` over all choices
        return Exponential(CHOICES * self.epsilon * past / steps)

    @property
    def noise(self) -> Laplace:
        return Laplace((self.rounds * self.sample + 2) / ((1 - CHOICES) * self.epsilon))

    @property
    def event(self) -> Composed:
        measured: Event = Repeated(self.noise.event, self.rounds * self.sample + 2)
        choices = (Repeated(self.choice(past).event, self.sample) for past in range(1, self.rounds))
        return Composed((measured, *choices))

    @property
    def tolerance(self) -> float:
        """In records: what the noise of all answers of a round stays within half of the time, about."""
        return self.noise.multiplier * math.log(2 * self.sample)

    @property
    def margin(self) -> float:
        """In records: over which weights grow by the whole strength, in the steps that the choices pay for."""
        return 4 * STRENGTH / self.choice(1).epsilon

    def release(self, answer: Answer, bits: Bits) -> Array:
        """Two rows: what was measured, and the noisy values; a pair for each stacked answer.

        That is the total (-1), the queries of all rounds by their places, and the greatest error (-2).
        """
        exact = ExactCounts(answer)
        answers, total = exact.to(self.queries), self.noise.release(exact.total, bits)
        scores = dataclasses.replace(answers, steps=np.zeros_like(answers.steps))
        places, values, found = [np.full(total.shape, TOTAL)], [total], []
        for past in range(self.rounds):
            drawn = self._drawn(scores, past, bits)
            measured = self._measured(answers, np.take_along_axis(answers.steps, drawn, -1), bits)
            places.append(drawn)
            values.append(measured)
            found.append(self._synopsis(total[..., 0], drawn, measured))
            scores = self._reweighted(scores, distance(answers, found[-1]))
        apart = distance(answers, np.median(found, axis=0))
        places.append(np.full(total.shape, FARTHEST))
        values.append(self._measured(apart, apart.steps.max(axis=-1, keepdims=True), bits))
        return np.stack([np.concatenate(places, axis=-1), np.concatenate(values, axis=-1)], axis=-2)

    def _drawn(self, scores: Answer, past: int, bits: Bits) -> Steps:
        """Places of queries, with scores that move by `past` times what an error does."""
        steps = np.repeat(scores.steps[..., None, :], self.sample, axis=-2)
        moved = Bound("linf", upwards(max(past, 1) * Fraction(scores.sensitivity("linf"))))
        many = dataclasses.replace(scores, steps=steps, bound=moved, slack=0.0)
        return self.choice(max(past, 1)).release(many, bits)  # the first scores are all 0: a fair draw, at no price

    def _reweighted(self, scores: Answer, errors: Answer) -> Answer:
        """The errors beyond the tolerance, up to the margin, in addition to those of the rounds before."""
        unit = errors.sensitivity("linf") / errors.grid.step
        tolerance, margin = (math.ceil(min(records * unit, FARTHEST_OFF)) for records in (self.tolerance, self.margin))
        return dataclasses.replace(errors, steps=scores.steps + np.clip(errors.steps - tolerance, 0, margin))

    def _measured(self, answers: Answer, steps: Steps, bits: Bits) -> Array:
        return self.noise.release(dataclasses.replace(answers, steps=steps[..., None]), bits)[..., 0]

    def _synopsis(self, total: Array, places: Steps, values: Array) -> Array:
        """The answers of a histogram that was made of what one round has measured."""
        weighted = WeightedHistogram(total, np.ones((*total.shape, self.queries.cells)))
        for place, value in zip(np.moveaxis(places, -1, 0), np.moveaxis(values, -1, 0), strict=True):
            weighted.note(self.queries.weights[place], value)
        weighted.fit(FITS)
        return weighted.answers(self.queries)

    def answers(self, release: Array) -> Array:
        """The answers to all queries, which anybody can compute from a release."""
        places, values = release[..., 0, 1:-1].astype(np.int64), release[..., 1, 1:-1]
        rounds = (slice(start, start + self.sample) for start in range(0, self.rounds * self.sample, self.sample))
        found = [self._synopsis(release[..., 1, 0], places[..., one], values[..., one]) for one in rounds]
        return np.asarray(np.median(found, axis=0))

    def worst_neighbors(self) -> NeighborPair:
        """One record more in the first cell."""
        return one_more(self.queries.cells)
