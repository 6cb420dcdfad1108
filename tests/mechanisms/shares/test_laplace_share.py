"""Shares of Laplace noise: the honest ones alone keep the promise, exactly computed."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from scipy import stats

from discreet.core.answer import whole_numbers
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.mechanisms.shares.laplace_share import LaplaceShare
from discreet.noise.deterministic import DeterministicBits


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
