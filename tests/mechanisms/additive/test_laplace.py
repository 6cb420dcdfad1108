"""Laplace noise: its price, its shape, its bound."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from discreet.accounting.accountant import pure_epsilon
from discreet.core.answer import Answer, whole_numbers
from discreet.core.bits import Bits
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss, PureLoss
from discreet.core.grid import Array, Grid
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.laplace import DiscreteLaplace, Laplace, LaplaceShare
from discreet.noise.deterministic import DeterministicBits
from discreet.noise.laplace import discrete_laplace, rounded_laplace
from tests.mechanisms.trial import MechanismTrial


@dataclasses.dataclass(frozen=True)
class UnitVariance(Laplace):
    """Noise of unit variance where unit scale is due: it spends sqrt(2) epsilon."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        scale = answer.scale(self.multiplier, "l1") / math.sqrt(2)
        return answer.noised(rounded_laplace(bits, answer.steps.shape, scale))


def test_the_price_is_pure_and_the_inverse_of_the_multiplier() -> None:
    assert Laplace(4.0).event == LaplaceLoss(4.0)
    assert pure_epsilon(Laplace(4.0).event) == pytest.approx(0.25)


def test_the_noise_has_the_scale_of_the_sensitivity() -> None:
    bound = Bound("l1", 3.0)
    answer = Answer(np.zeros(200_000, dtype=np.int64), Grid.of_radius(3.0), bound, Neighbors.ADD_REMOVE)
    stacked = dataclasses.replace(answer, steps=answer.steps[:, None])
    noise = Laplace(2.0).release(stacked, DeterministicBits(1))
    assert np.abs(noise).mean() == pytest.approx(6.0, rel=0.02)
    assert noise.std() == pytest.approx(Laplace(2.0).stddev(bound, 1, Neighbors.ADD_REMOVE), rel=0.02)


def test_a_vector_bounded_in_l2_gets_noise_for_its_l1_reach() -> None:
    answer = whole_numbers([0] * 100, Bound("l2", 2.0**20)).stacked(1000)
    noise = Laplace(1.0).release(answer, DeterministicBits(2))
    assert np.abs(noise).mean() == pytest.approx(10 * 2.0**20, rel=0.02)


def _loss(points: Array, shift: float) -> Array:
    return np.clip(2 * points - shift, -shift, shift)


@pytest.mark.parametrize(("first", "second"), [(0.5, 0.5), (0.1, 2.0), (3.0, 1.0), (5.0, 5.0)])
def test_a_split_shift_loses_no_more_than_a_whole_one(first: float, second: float) -> None:
    """The claim of laplace.md, by numerical integration of both hockey-stick divergences."""
    points = np.linspace(-20, 30, 1251)
    weights = 0.5 * np.exp(-np.abs(points)) * (points[1] - points[0])
    weights /= weights.sum()
    sums = _loss(points, first)[:, None] + _loss(points, second)[None, :]
    mass, ratios = weights[:, None] * weights[None, :], np.exp(sums)
    whole = first + second
    for epsilon in np.linspace(-0.9, 0.9, 7) * whole:
        pair = (mass * np.maximum(ratios - math.exp(epsilon), 0.0)).sum()
        scalar = (weights * np.maximum(np.exp(_loss(points, whole)) - math.exp(epsilon), 0.0)).sum()
        assert pair <= scalar * (1 + 5e-3) + 1e-9


def test_the_outputs_reachable_from_neighbors_are_the_same() -> None:
    """Mironov 2012: float noise leaves some outputs reachable from one neighbor alone; a grid does not."""
    pair = Laplace().worst_neighbors()
    for answer in (pair.first, pair.second):
        assert isinstance(answer, Answer)
        outputs = Laplace().release(answer.stacked(10_000), DeterministicBits(3))
        assert (outputs == np.round(outputs)).all()


@pytest.mark.parametrize("multiplier", [0.0, -1.0, math.inf, math.nan, 1e-13, "1"])
def test_a_multiplier_without_meaning_is_refused(multiplier: float) -> None:
    with pytest.raises(ParameterError, match="Nothing was released or spent"):
        Laplace(multiplier)


def test_noise_of_more_steps_than_can_be_drawn_comes_on_a_coarser_grid() -> None:
    answer = Answer(np.zeros(1, dtype=np.int64), Grid.of_radius(1.0), Bound("l1", 1.0), Neighbors.ADD_REMOVE)
    found = Laplace(2.0**30).release(answer.stacked(2000), DeterministicBits(7))
    step = 2.0 ** (31 - 40)
    assert (found == np.rint(found / step) * step).all()
    assert found.std() == pytest.approx(math.sqrt(2) * 2**30, rel=0.15)


@dataclasses.dataclass(frozen=True)
class OneSided(DiscreteLaplace):
    """Noise that never subtracts: some outputs rule a neighbor out."""

    def release(self, answer: Answer, bits: Bits) -> Array:
        noise = discrete_laplace(bits, answer.steps.shape, answer.scale(self.multiplier, "l1"))
        return answer.noised(np.abs(noise))


def test_the_price_is_pure_and_never_rounded_down() -> None:
    assert DiscreteLaplace(2.0).event == PureLoss(0.5)
    assert DiscreteLaplace(3.0).event.epsilon * 3 >= 1


def test_counts_stay_whole_and_the_ratio_of_neighbors_is_exact() -> None:
    noise = DiscreteLaplace(2.0).release(whole_numbers([0], Bound("l1", 1.0)).stacked(400_000), DeterministicBits(1))
    assert (noise == np.round(noise)).all()
    zero, one = (noise == 0).mean(), (noise == 1).mean()
    assert zero / one == pytest.approx(math.exp(0.5), rel=0.03)


def test_a_multiplier_of_zero_is_refused() -> None:
    with pytest.raises(ParameterError):
        DiscreteLaplace(0.0)


def law_of_sum(scale: float, parties: int) -> Array:
    """The masses of a sum of shares on -reach .. reach, from those of the Polya law."""
    reach = math.ceil(40 * scale)
    one = stats.nbinom.pmf(np.arange(reach + 1), 1 / parties, -math.expm1(-1 / scale))
    share = np.convolve(one, one[::-1])
    law = share
    for _ in range(parties - 1):
        law = np.convolve(law, share)
    middle = law.size // 2
    return np.asarray(law[middle - reach : middle + reach + 1], np.float64)


def shifted(law: Array, shift: int) -> tuple[Array, Array]:
    return np.concatenate([law, np.zeros(shift)]), np.concatenate([np.zeros(shift), law])


def divergence(first: Array, second: Array, epsilon: float) -> float:
    return float(np.maximum(first - math.exp(epsilon) * second, 0).sum())


def promised(loss: float, epsilon: float) -> float:
    """Of a real Laplace variable and its shift by `loss` scales, for orders from 0."""
    return max(0.0, -math.expm1((epsilon - loss) / 2))


def broken(law: Array, shift: int, loss: float) -> bool:
    first, second = shifted(law, shift)
    orders = np.linspace(0, 1.1 * loss, 400)
    return any(divergence(first, second, e) > promised(loss, e) + 1e-12 for e in orders)


CASES = [(1.0, 3, 1), (1.0, 3, 3), (0.25, 1, 2), (0.3, 2, 4), (2.5, 20, 2), (6.0, 40, 3), (0.1, 1, 5)]


@pytest.mark.parametrize(("loss", "reach", "honest"), CASES)
def test_the_sum_of_the_honest_shares_is_dominated_by_the_promise(loss: float, reach: int, honest: int) -> None:
    """A scalar that moves by the whole sensitivity, and by less."""
    share = LaplaceShare(1 / loss, honest)
    law = law_of_sum(share.scale(reach / loss), honest)
    assert law.sum() == pytest.approx(1, abs=1e-12)
    for shift in {reach, reach // 2, 1}:
        assert not broken(law, shift, loss)


@pytest.mark.parametrize(("loss", "reach", "honest"), CASES)
def test_without_the_inflation_the_promise_is_broken(loss: float, reach: int, honest: int) -> None:
    assert broken(law_of_sum(reach / loss, honest), reach, loss)


@pytest.mark.parametrize(("scale", "shift"), [(0.4, 1), (1.5, 2), (3.0, 7)])
def test_the_least_loss_that_dominates_is_the_proof_s(scale: float, shift: int) -> None:
    """n / t + 2 ln cosh(1 / 2t), no less: reached at the order (n - 1) / t."""
    law = law_of_sum(scale, 1)
    loss = shift / scale + 2 * math.log(math.cosh(0.5 / scale))
    assert not broken(law, shift, loss)
    found = divergence(*shifted(law, shift), (shift - 1) / scale)
    assert found == pytest.approx(promised(loss, (shift - 1) / scale), abs=1e-12)
    assert found > promised(loss - 1e-6, (shift - 1) / scale)


@pytest.mark.parametrize("shifts", [(1, 1), (1, 2), (2, 2), (1, 4), (1, 1, 1)])
@pytest.mark.parametrize("scale", [0.7, 2.0])
def test_a_vector_is_dominated_by_a_scalar_that_moves_as_far(shifts: tuple[int, ...], scale: float) -> None:
    """Losses add up, so only their law on each side matters."""
    law = law_of_sum(scale, 1)
    whole = shifted(law, sum(shifts))
    first, second = np.ones(1), np.ones(1)
    assert law.size > 50
    for shift in shifts:
        near = slice(law.size // 2 - 12, law.size // 2 + 13)  # the loss is constant beyond; the rest is added on
        ends = [np.concatenate([[p[: near.start].sum()], p[near], [p[near.stop :].sum()]]) for p in shifted(law, shift)]
        first, second = np.outer(first, ends[0]).ravel(), np.outer(second, ends[1]).ravel()
    for epsilon in np.linspace(0, 1.1 * sum(shifts) / scale, 60):
        assert divergence(first, second, epsilon) <= divergence(*whole, epsilon) + 1e-12


def test_the_shares_add_up_to_the_scale_of_the_mechanism() -> None:
    answer = whole_numbers([0], Bound("l1", 2.0**20)).stacked(20_000)
    share = LaplaceShare(1.5, honest=4)
    total = sum(share.masked(answer, DeterministicBits(seed)) for seed in range(4))
    reals = share.prepared(answer).grid.values(np.asarray(total)).ravel() / (1.5 * 2**20)
    assert stats.kstest(reals, stats.laplace.cdf).pvalue > 1e-4


def test_a_party_adds_to_its_own_sum_modulo_the_word() -> None:
    answer = whole_numbers([0, 0], Bound("l1", 2.0**30))
    far = dataclasses.replace(answer, steps=np.array([2**63 - 1, -(2**63)]))
    share = LaplaceShare(1.0, 1)
    noise, masked = (share.masked(own, DeterministicBits(5)) for own in (answer, far))
    assert masked.dtype == np.int64
    assert np.array_equal(masked - far.steps, noise)
    assert np.any((masked > 0) != (far.steps > 0))


def test_noise_far_wider_than_the_grid_is_drawn_on_a_coarser_one() -> None:
    answer = whole_numbers([2**50], Bound("l1", 2.0**50))
    masked = LaplaceShare(1.0, 2).masked(answer, DeterministicBits(1))
    assert 0 < abs(masked[0]) < 2**45


def test_the_inflation_vanishes_on_a_fine_grid() -> None:
    share = LaplaceShare(1.0, 5)
    assert 0 < share.inflation(2.0**30) < 1e-18
    assert share.scale(2.0**30) > 2.0**30
    assert share.inflation(1.0) == pytest.approx((math.sqrt(2) - 1) / 2)


def test_too_few_honest_parties_or_too_coarse_a_grid_are_refused() -> None:
    for honest in (0, 2**20 + 1):
        with pytest.raises(ParameterError, match="collude"):
            LaplaceShare(1.0, honest)
    with pytest.raises(ParameterError, match="finer grid"):
        LaplaceShare(1.0, 4).scale(1.0)


def test_a_count_gets_its_noise_on_a_finer_grid() -> None:
    answer = whole_numbers([3], Bound("l1", 1.0))
    share = LaplaceShare(1.0, 2)
    masked = share.masked(answer, DeterministicBits(1))
    assert share.prepared(answer).grid.exponent == -23
    assert abs(share.prepared(answer).grid.values(masked)[0] - 3) < 40


TRIAL = MechanismTrial(twins=[UnitVariance(), OneSided()])
