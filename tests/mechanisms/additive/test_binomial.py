"""Binomial noise: the fewest coins, its price against exact sums, its shape, its shares, and what refuses."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import binom

from discreet.accounting.accountant import delta
from discreet.accounting.calibration import calibrate
from discreet.core.answer import Answer, NeighborPair, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import LossTable, Repeated
from discreet.core.grid import Array, Grid, Steps
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.binomial import Binomial, BinomialShare, loss_of
from discreet.mechanisms.additive.bounded_noise import BoundedNoise
from discreet.mechanisms.additive.share_of import is_shared, share_of
from discreet.noise.coin_sums import MOST, coin_sums
from discreet.noise.deterministic import DeterministicBits
from discreet.questions.tables.contingency import contingency_of
from discreet.schema.schema import Number, Schema
from discreet.trust.private_data import PrivateData
from tests.conformance.audits import Audit, counted
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class FewCoins(Binomial):
    """Two thirds of the deviation that is paid for."""

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return coin_sums(bits, shape, 2 * round(self.coins / 4.5))


@dataclasses.dataclass(frozen=True)
class SignedCoins(Binomial):
    """Coins of -1 and 1, as many as have the same deviation: the parity of their sum is public."""

    def noise(self, bits: Bits, shape: tuple[int, ...], scale: float) -> Steps:
        return 2 * coin_sums(bits, shape, self.coins // 4)


def moved(first: list[int], second: list[int], moves: float, neighbors: Neighbors) -> NeighborPair:
    bound = Bound("l1", moves, nonnegative=True)
    return NeighborPair(*(whole_numbers(counts, bound, neighbors) for counts in (first, second)))


TRIAL = MechanismTrial(
    twins=[FewCoins(), SignedCoins()],
    audits=[
        Audit("one count", Binomial(), Binomial().worst_neighbors()),
        Audit(
            "one cell for another",
            Binomial(3.0, 2),
            moved([1, 0], [0, 1], 1.0, Neighbors.REPLACE),
            claim=Repeated(loss_of(Binomial(3.0, 2).coins, 1), 2),
        ),
        Audit("three rows of a unit", Binomial(2.0, 3), moved([0], [3], 3.0, Neighbors.ADD_REMOVE)),
    ],
    alone="its price is for the steps that one unit moves a count by, and an answer that moves farther is refused",
)
NUMBERS = (0.1, 0.5, 1.0, 2.0)


def hockey_stick(coins: int, move: list[int], at: float) -> float:
    """By enumeration of all outcomes, for a vector of counts that moves by `move`."""
    heads = [np.arange(coins + one + 1) for one in move]
    p, q = (
        np.prod(np.meshgrid(*(binom.pmf(k - shift * one, coins, 0.5) for k, one in zip(heads, move, strict=True))), 0)
        for shift in (1, 0)
    )
    return float(np.maximum(p - math.exp(at) * q, 0).sum())


@pytest.mark.parametrize(("coins", "moves"), [(2, 1), (32, 1), (80, 1), (268, 1), (80, 2), (300, 3)])
def test_the_price_is_the_hockey_stick_divergence_of_all_numbers_of_heads(coins: int, moves: int) -> None:
    for at in (0.0, *NUMBERS):
        exact = hockey_stick(coins, [moves], at)
        assert exact * (1 - 1e-12) <= delta(loss_of(coins, moves), at) <= exact * (1 + 2e-3) + 1e-12


@given(st.integers(1, 10).map(lambda half: 2 * half), st.lists(st.integers(1, 3), min_size=2, max_size=3))
@settings(max_examples=30, deadline=None)
def test_a_vector_is_dominated_by_a_scalar_that_moves_as_far(coins: int, move: list[int]) -> None:
    for at in (0.0, *NUMBERS):
        assert hockey_stick(coins, move, at) <= hockey_stick(coins, [sum(move)], at) + 1e-12


def test_shorter_moves_and_more_coins_cost_less() -> None:
    for at, (one, other) in itertools.product(NUMBERS, [((80, 2), (80, 1)), ((80, 1), (82, 1)), ((80, 3), (200, 3))]):
        assert delta(loss_of(*one), at) > delta(loss_of(*other), at)


@pytest.mark.parametrize(
    ("epsilon", "price", "coins"),
    [(0.1, 1e-6, 5280), (0.5, 1e-6, 268), (1.0, 1e-6, 80), (2.0, 1e-6, 32), (1.0, 1e-9, 136)],
)
def test_as_many_coins_are_tossed_as_exact_sums_ask_for(epsilon: float, price: float, coins: int) -> None:
    """Even numbers; two less would not be enough. Calibration goes to within a millionth of epsilon."""
    found = calibrate(Binomial, Budget(epsilon, price)).coins
    assert found in (coins, coins + 2)
    assert hockey_stick(coins, [1], epsilon) <= price < hockey_stick(coins - 2, [1], epsilon)


def test_the_noise_has_the_deviation_that_is_stated_and_its_intervals_hold() -> None:
    noise = Binomial.of_coins(80)
    draws = noise.release(counted([100]).stacked(50_000), DeterministicBits(1)) - 100
    stddev = noise.stddev(Bound("l1", 1.0, nonnegative=True), 1, Neighbors.ADD_REMOVE)
    assert draws.std() == pytest.approx(stddev, rel=0.02)
    for confidence in (0.5, 0.9, 0.99):
        assert (np.abs(draws) <= noise.law.half_width(stddev, [1.0], confidence)).mean() > confidence - 0.01
    again = noise.law.drawn(DeterministicBits(2), (50_000,), stddev, Grid(0))
    assert again.std() == pytest.approx(stddev, rel=0.02)


@pytest.mark.parametrize("honest", [1, 3, 7, 100])
def test_the_coins_of_honest_parties_are_as_many_as_were_paid_for(honest: int) -> None:
    share = Binomial.of_coins(80).share(honest)
    assert share.coins * honest >= 80 > (share.coins - 2) * honest
    assert share.coins % 2 == 0
    own = share.masked(counted([5, 0]).stacked(20_000), DeterministicBits(honest))
    assert own.var(axis=0) == pytest.approx([share.coins / 4] * 2, rel=0.06)
    assert own.mean(axis=0) == pytest.approx([5, 0], abs=0.1)


def test_a_party_reads_the_coins_off_the_promise() -> None:
    for coins, moves in ((2, 1), (80, 1), (5280, 1), (90, 3), (MOST, 1), (300, 64)):
        event = Binomial.of_coins(coins, moves).event
        assert share_of(event, 3) == BinomialShare(coins, moves, 3)
    other = BoundedNoise(3.0).event
    assert not is_shared(other)
    with pytest.raises(NotPermitted, match="not that of binomial noise"):
        share_of(other, 3)
    forged = dataclasses.replace(Binomial.of_coins(80).event, remove=LossTable(0, (1.0,)))
    assert not is_shared(forged)


def test_long_tables_have_coins_too() -> None:
    """What the bound has more for rounding is no step."""
    bound, noise = Bound("l1", 1.0, nonnegative=True), Binomial.of_coins(80)
    long = Answer(np.zeros(10**6, np.int64), Grid(0), bound, Neighbors.ADD_REMOVE)
    assert 1 < long.sensitivity("l1") < 1 + 1e-9
    assert noise.share(3).prepared(long) is long
    assert noise.stddev(bound, 10**6, Neighbors.ADD_REMOVE) == np.sqrt(80) / 2


def test_an_answer_that_moves_farther_than_was_paid_for_is_refused() -> None:
    fine = Answer(np.zeros(1, np.int64), Grid(-1), Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    for answer in (counted([1, 0], Neighbors.REPLACE), fine, whole_numbers([1], Bound("l1", 2.0))):
        for release in (Binomial().release, Binomial().share(2).masked):
            with pytest.raises(ParameterError, match="one unit moves the answer by up to 2 grid steps, and 1 are paid"):
                release(answer, DeterministicBits(1))


def test_numbers_of_coins_that_cannot_be_are_refused() -> None:
    for make in (
        lambda: Binomial.of_coins(81),
        lambda: Binomial.of_coins(0),
        lambda: Binomial(1e6),
        lambda: Binomial(1.0, 0),
        lambda: Binomial(1.0, 65),
        lambda: BinomialShare(80, 1, 0),
    ):
        with pytest.raises(ParameterError):
            make()


def test_no_output_tells_the_parity_of_a_count() -> None:
    """Both parities come with nearly one half; with coins of -1 and 1 one of them never comes."""

    def odd(noise: Binomial) -> Array:
        return noise.release(counted([7]).stacked(10_000), DeterministicBits(3)) % 2

    assert odd(Binomial.of_coins(80)).mean() == pytest.approx(0.5, abs=0.02)
    assert odd(SignedCoins()).mean() in (0.0, 1.0)


def test_a_table_of_replaced_records_is_refused_before_it_is_paid_for() -> None:
    schema = Schema({"age": Number(0, 100)})
    question = contingency_of(schema, ("age",), (4,))
    data = PrivateData.of({"age": np.arange(100.0)}, schema, Budget(100.0, 0.1), neighbors=Neighbors.REPLACE)
    with pytest.raises(NotPermitted, match=r"moves two counts\. Nothing was released or spent\. .*moves=2"):
        data.permit(Binomial.of_coins(80).event, "table")
    assert not data.ledger.entries()
    noise = Binomial.of_coins(80, moves=2)
    with data.permit(noise.event, "table") as permit:
        assert permit.ask(question, noise).shape == (4,)
