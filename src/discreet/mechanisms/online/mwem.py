"""MWEM: a public histogram that answers many counting queries at once, made from few noisy answers."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.checks import check_positive, check_whole
from discreet.core.events import Composed, Repeated
from discreet.core.grid import Array, Steps
from discreet.core.parameters import CheckedParameters
from discreet.mechanisms.additive.laplace import Laplace
from discreet.mechanisms.online.multiplicative_weights import WeightedHistogram
from discreet.mechanisms.online.queries import TWO_CELLS, ExactCounts, Queries, distance, one_more
from discreet.mechanisms.selection.exponential import Exponential

TOTAL, FARTHEST = -1, -2
MOST_ROUNDS = 2**10


@dataclass(frozen=True)
class MWEM(CheckedParameters):
    """Measure the queries that a public histogram answers worst, one by one, and reweight it towards each answer.

    The total is measured first. Then, in each round, the exponential mechanism chooses a query by how far the public
    histogram is from its exact answer, and that answer is measured. Last, beyond the published mechanism, the error of
    the final histogram on the query that it answers worst is measured: an error bar for all queries at once. Each of
    these parts has the same epsilon. Released are the choices and the noisy answers; `histogram` computes the
    public histogram from them, which answers every query.

    Parameters
    ----------
    epsilon : float
        Public. Pure epsilon of everything.
    rounds : int
        Public. How many queries are measured.
    queries : Queries
        Public. What the histogram should answer well.

    Guarantee
    ---------
    Laplace noise for the total and the farthest distance and, `rounds` times, an `Exponential`
    choice and a `Laplace` answer, composed adaptively (Dwork and Roth 2014, Theorem 3.16). Hardt, Ligett and McSherry
    2012. One record moves an exact answer by at most 1, and so its distance from a public guess, and the greatest of
    these distances.

    Examples
    --------
    >>> from discreet.accounting.accountant import epsilon
    >>> round(epsilon(MWEM(epsilon=1.0, rounds=10).event, 0.0), 9)
    1.0
    """

    epsilon: float = 1.0
    rounds: int = 1
    queries: Queries = TWO_CELLS
    calibrated: ClassVar[str] = "epsilon"

    def __post_init__(self) -> None:
        check_positive("MWEM", "epsilon", self.epsilon, least=2.0**-30)
        check_whole("MWEM", "rounds", self.rounds, most=MOST_ROUNDS)

    @property
    def choice(self) -> Exponential:
        """The choice of a query."""
        return Exponential(self.epsilon / (2 * self.rounds + 2))

    @property
    def noise(self) -> Laplace:
        return Laplace((2 * self.rounds + 2) / self.epsilon)

    @property
    def event(self) -> Composed:
        measured = self.noise.event
        return Composed((Repeated(measured, self.rounds + 2), Repeated(self.choice.event, self.rounds)))

    def release(self, answer: Answer, bits: Bits) -> Array:
        """Two rows: what was measured, and the noisy values; a pair for each stacked answer.

        That is the total (-1), the queries by their places, and the farthest distance (-2).
        """
        exact = ExactCounts(answer)
        answers, fit = exact.to(self.queries), _Progress(self, self.noise.release(exact.total, bits)[..., 0])
        for _ in range(self.rounds):
            place = self.choice.release(distance(answers, fit.weighted.answers(self.queries)), bits)
            fit.learn(place, self._measured(answers, np.take_along_axis(answers.steps, place[..., None], -1), bits))
        apart = distance(answers, self.queries.answers(fit.histogram))
        farthest = self._measured(apart, apart.steps.max(axis=-1, keepdims=True), bits)
        places, values = [*fit.places, np.full_like(fit.places[0], FARTHEST)], [*fit.values, farthest]
        return np.stack([np.stack(places, axis=-1), np.stack(values, axis=-1)], axis=-2)

    def _measured(self, answers: Answer, steps: Steps, bits: Bits) -> Array:
        return self.noise.release(dataclasses.replace(answers, steps=steps), bits)[..., 0]

    def histogram(self, release: Array) -> Array:
        """The public histogram of a release, which anybody can compute from it."""
        fit = _Progress(self, release[..., 1, 0])
        for number in range(1, self.rounds + 1):
            fit.learn(release[..., 0, number].astype(np.int64), release[..., 1, number])
        return fit.histogram

    def worst_neighbors(self) -> NeighborPair:
        """One record more in the first cell."""
        return one_more(self.queries.cells)


class _Progress:
    """What is public after each round: what was measured, and the histograms made of it."""

    def __init__(self, mechanism: MWEM, total: Array) -> None:
        self._weights, self._skipped = mechanism.queries.weights, mechanism.rounds // 2
        self.weighted = WeightedHistogram(total, np.ones((*total.shape, mechanism.queries.cells)))
        self.places, self.values = [np.full(total.shape, TOTAL)], [total]
        self._sum = np.zeros_like(self.weighted.shares)

    def learn(self, place: Steps, value: Array) -> None:
        self.places.append(place)
        self.values.append(value)
        self.weighted.learn(self._weights[place], value)
        if len(self.places) - 1 > self._skipped:
            self._sum += self.weighted.counts

    @property
    def histogram(self) -> Array:
        """The mean over the later half of the rounds: less noisy than the last, and nearer than the mean over all."""
        return self._sum / (len(self.places) - 1 - self._skipped)
