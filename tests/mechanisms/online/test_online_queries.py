"""Online queries: any of them at a fixed price, an exact histogram that cannot get out, and an end."""

from __future__ import annotations

import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from numpy.typing import NDArray

from discreet.core.answer import Answer, NeighborPair
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import NotPermitted
from discreet.core.events import Composed, LaplaceLoss, PureLoss, Repeated
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.online.multiplicative_weights import MultiplicativeWeights
from discreet.mechanisms.online.online_queries import MEASURED, TESTED, UNCHECKED, OnlineMechanism, OnlineQueries
from discreet.mechanisms.online.queries import Queries, distance
from discreet.noise.deterministic import DeterministicBits
from tests.conformance.audits import Audit
from tests.mechanisms.trial import MechanismTrial

FOUR = Queries(np.zeros(4, dtype=bool))
FIRST, SECOND, ALL = Queries([1, 0, 0, 0]), Queries([0, 1, 0, 0]), Queries([1, 1, 1, 1])


def histogram(counts: list[int], neighbors: Neighbors = Neighbors.ADD_REMOVE) -> Answer:
    return Answer(np.array(counts), Grid(0), Bound("l1", 1.0, nonnegative=True), neighbors)


def opened(counts: list[int], updates: int = 2, threshold: float = 100.0, epsilon: float = 10.0) -> OnlineQueries:
    return OnlineQueries(
        MultiplicativeWeights(epsilon, updates, FOUR, threshold), histogram(counts), DeterministicBits(5)
    )


class Nothing:
    """Believes that there are no records, whatever it learns."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape

    def guesses(self, query: Queries) -> Array:
        return np.zeros(self.shape)

    def doubts(self, query: Queries, guesses: Array, exact: Answer) -> Answer:
        return distance(exact, guesses[..., None])

    def learn(self, query: Queries, measured: Array, where: NDArray[np.bool_]) -> None:
        pass


@dataclasses.dataclass(frozen=True)
class Doubter(OnlineMechanism):
    """Nothing but tests and measured answers."""

    threshold: float = 0.0

    @property
    def threshold_of_doubt(self) -> float:
        return self.threshold

    def hypothesis(self, total: Array, bits: Bits) -> Nothing:
        return Nothing(total.shape)


FIRST_AGAIN_AND_AGAIN = Queries([*5 * [[1, 0]], [0, 1]])
TRIAL = MechanismTrial(
    audits=[
        Audit(
            "tests, of which all but the last rise",
            Doubter(2.6, queries=FIRST_AGAIN_AND_AGAIN),
            NeighborPair(*(histogram([0 + more, 1 - more], Neighbors.REPLACE) for more in (0, 1))),
            claim=PureLoss(1.3),
            view=lambda release: release[:, 1, 1:],
            runs=120_000,
        ),
        *(
            Audit(
                f"what is measured, {neighbors.value}",
                Doubter(3.0, 2, Queries([1, 0]), -100.0),
                NeighborPair(histogram([1, 0], neighbors), histogram([2, 0], neighbors)),
                claim=LaplaceLoss(2.0),
                view=lambda release: release[:, 0, 1],
            )
            for neighbors in Neighbors
        ),
    ]
)


def test_the_price_is_that_of_all_tests_and_all_noise_whatever_is_asked() -> None:
    event = MultiplicativeWeights(epsilon=0.8, updates=3).event
    assert event == Composed((PureLoss(0.4), Repeated(LaplaceLoss(10.0), 4)))
    assert MultiplicativeWeights(epsilon=0.8, updates=3).opening.event == event


@pytest.mark.parametrize("neighbors", list(Neighbors))
def test_good_guesses_are_given_and_bad_ones_replaced_by_noisy_answers(neighbors: Neighbors) -> None:
    mechanism = MultiplicativeWeights(10.0, 2, FOUR, 100.0)
    talk = OnlineQueries(mechanism, histogram([1000, 0, 500, 500], neighbors), DeterministicBits(5))
    replies = [talk.ask(query) for query in (ALL, FIRST, FIRST, SECOND, SECOND, Queries([0, 0, 1, 0]))]
    assert [int(reply.sources) for reply in replies] == [TESTED, MEASURED, TESTED, MEASURED, UNCHECKED, UNCHECKED]
    np.testing.assert_allclose([float(reply.values) for reply in replies], [2000, 1000, 1000, 0, 0, 500], atol=60)


def test_measured_answers_have_the_laplace_noise_that_is_paid_for() -> None:
    mechanism = MultiplicativeWeights(1.0, 1, FOUR, 0.0)
    talk = OnlineQueries(mechanism, histogram([10**6, 0, 0, 0]).stacked(4000), DeterministicBits(3))
    reply = talk.ask(FIRST)
    assert (reply.sources == MEASURED).all()
    for noisy in (reply.values, talk.transcript[:, 0, 0]):  # the sample variance is within a fifth, five deviations
        assert np.std(noisy - 10**6) == pytest.approx(math.sqrt(2) * 4, rel=0.2)


def test_a_query_may_depend_on_the_answers_before_it_and_be_linear() -> None:
    talk = opened([4000, 3000, 2000, 1000])
    first = float(talk.ask(FIRST).values)
    second = talk.ask(Queries([1, 0.5, 0, 0]) if first > 3000 else SECOND)
    assert float(second.values) == pytest.approx(5500, abs=300)


def test_the_transcript_has_the_total_every_reply_and_its_name() -> None:
    talk = opened([1000, 0, 0, 0])
    replies = [talk.ask(FIRST, name=17), talk.ask(SECOND, name=2**47 + 1)]
    rows = talk.transcript
    assert rows.shape == (3, 3)
    assert rows[0, 1:].tolist() == [float(reply.values) for reply in replies]
    assert rows[1, 0] == MEASURED
    assert rows[2].tolist() == [0, 17, 2**47 + 1]


def test_reading_the_transcript_as_an_array_ends_the_queries() -> None:
    talk = opened([1000, 0, 0, 0])
    talk.ask(FIRST)
    assert "over" not in repr(talk)
    assert np.asarray(talk).shape == (3, 2)
    assert repr(talk) == "OnlineQueries(1 queries answered, over)"
    with pytest.raises(NotPermitted, match="these online queries have ended"):
        talk.ask(FIRST)


def test_it_is_neither_copied_nor_pickled_and_does_not_show_what_it_holds() -> None:
    talk = opened([123456, 0, 0, 0])
    for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="neither copied nor pickled"):
            attempt(talk)
    assert "123456" not in repr(talk)


def test_a_batch_is_online_queries_with_these() -> None:
    queries = Queries(np.eye(4))
    mechanism = MultiplicativeWeights(1.0, 2, queries, 20.0)
    answer = histogram([500, 300, 100, 0]).stacked(6)
    batch = mechanism.release(answer, DeterministicBits(9))
    talk = OnlineQueries(mechanism, answer, DeterministicBits(9))
    for place in range(4):
        talk.ask(queries[place])
    np.testing.assert_array_equal(batch, talk.transcript[:, :2])
    assert batch.shape == (6, 2, 5)
    assert ((batch[:, 1, 1:] == MEASURED).sum(axis=1) <= 2).all()


def test_of_stacked_answers_each_has_its_own_updates() -> None:
    """About half are measured at the first query, and nothing is tested or measured for those any more."""
    mechanism = Doubter(4.0, 1, Queries([[1, 0]] * 4), threshold=2.0)
    sources = mechanism.release(histogram([2, 0]).stacked(400), DeterministicBits(2))[:, 1, 1:]
    assert 50 < (sources[:, 0] == MEASURED).sum() < 350
    assert ((sources == MEASURED).sum(axis=1) <= 1).all()
