"""Poisson samples under replace neighbors: the pair, and that no contributions do worse."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.special import ndtr

from discreet.accounting.accountant import delta, epsilon, epsilon_interval
from discreet.accounting.pairs.sampled_pairs import ReplacedPair, subset_witness
from discreet.accounting.pairs.tabulation import table_below
from discreet.accounting.renyi import renyi
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, Unaccountable
from discreet.core.events import Composed, GaussianLoss, LaplaceLoss, PureLoss, Repeated, Sampled, read, written
from discreet.core.neighbors import Neighbors
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.schema.schema import Schema
from discreet.trust.private_data import PrivateData
from tests.accounting import profiles

CASES = [(1.0, 0.5), (0.3, 0.1), (2.0, 0.01), (0.7, 0.9)]
Law = list[float]


def replaced(multiplier: float, rate: float) -> Sampled:
    return Sampled(GaussianLoss(multiplier), rate, "poisson_replace")


def exact(multiplier: float, rate: float, eps: float) -> float:
    """The hockey-stick divergence by the tails beyond the place where the loss is eps, found by bisection."""
    low, high = -1e3, 1e3

    def loss(x: float) -> float:
        z = x / (2 * multiplier**2)
        stay, come = math.log(1 - rate), math.log(rate) - 1 / (8 * multiplier**2)
        return float(np.logaddexp(stay, come + z) - np.logaddexp(stay, come - z))

    for _ in range(200):
        middle = (low + high) / 2
        low, high = (middle, high) if loss(middle) < eps else (low, middle)
    away, near, gone = (float(ndtr((shift - low) / multiplier)) for shift in (0.5, -0.5, 0.0))
    return rate * away + (1 - rate) * gone - math.exp(eps) * (rate * near + (1 - rate) * gone)


def test_one_release_costs_what_the_tails_say() -> None:
    for multiplier, rate in CASES:
        for eps in (0.01, 0.3, 1.0):
            wanted, found = exact(multiplier, rate, eps), delta(replaced(multiplier, rate), eps)
            assert wanted * (1 - 1e-9) - 1e-15 <= found <= wanted * 1.001 + 1e-9


def test_a_sample_of_all_is_the_plain_release() -> None:
    assert epsilon(replaced(1.0, 1.0), 1e-5) == epsilon(GaussianLoss(1.0), 1e-5)
    near = epsilon(Repeated(replaced(1.0, 1 - 1e-9), 10), 1e-5)
    assert near == pytest.approx(epsilon(Repeated(GaussianLoss(1.0), 10), 1e-5), rel=1e-4)


def test_the_pair_is_its_own_mirror_image_and_whole() -> None:
    edges = np.linspace(-2.0, 2.0, 41)
    for multiplier, rate in CASES:
        cells = ReplacedPair(multiplier, rate).cells(edges)
        np.testing.assert_allclose(cells.p, cells.q[::-1], rtol=1e-12, atol=1e-300)
        assert cells.p.sum() == pytest.approx(1.0, abs=1e-12)
        ratios = np.log(cells.p[1:-1] / cells.q[1:-1])
        assert (ratios >= edges[:-1] - 1e-9).all()
        assert (ratios <= edges[1:] + 1e-9).all()


def test_far_losses_keep_their_places() -> None:
    pair = ReplacedPair(0.05, 1e-6)
    losses = np.array([1e-8, 0.5, 30.0, 500.0, 900.0])
    found = [pair._loss(float(x)) for x in pair._places(losses)]
    np.testing.assert_allclose(found, losses, rtol=1e-9, atol=1e-13)
    np.testing.assert_array_equal(pair._places(-losses), -pair._places(losses))


def test_no_two_contributions_are_further_apart() -> None:
    """Hockey-stick divergences of mixtures at random places of the ball, by the same normal draws: none is greater."""
    generator = np.random.default_rng(4)
    z = generator.standard_normal((200_000, 2)) * 0.8
    z = np.concatenate([z, -z])

    def density(at: np.ndarray) -> np.ndarray:
        return np.exp((z @ at - at @ at / 2) / 0.8**2)

    def divergence(v: np.ndarray, w: np.ndarray, c: float) -> float:
        rest = (c - 1) * 0.7
        return float(np.maximum(0.3 * density(v) - 0.3 * c * density(w) - rest, 0).mean())

    for c in (0.8, 1.0, 1.5):
        worst = divergence(np.array([0.5, 0.0]), np.array([-0.5, 0.0]), c)
        for _ in range(12):
            v, w = generator.standard_normal((2, 2))
            v, w = (0.5 * generator.random() ** 0.3 * one / np.linalg.norm(one) for one in (v, w))
            assert divergence(v, w, c) <= worst + 0.004  # three standard errors of the means


def test_it_costs_more_than_add_remove_with_the_same_noise() -> None:
    steps, rate = 1000, 0.01
    one_added = epsilon(Repeated(Sampled(GaussianLoss(2.0), rate), steps), 1e-5)
    assert epsilon(Repeated(replaced(1.0, rate), steps), 1e-5) > 1.8 * one_added
    assert epsilon(Repeated(replaced(1.0, rate), steps), 1e-5) < epsilon(
        Repeated(Sampled(GaussianLoss(1.0), rate, "fixed_size"), steps), 1e-5
    )


def test_a_sample_that_is_shown_costs_more() -> None:
    """As where a loss of the same records is released without noise: then a record is in, and is seen to be in."""
    for multiplier, rate in CASES[:3]:
        shown = rate * delta(GaussianLoss(multiplier), 0.1)
        assert shown > 1.05 * delta(replaced(multiplier, rate), 0.1)


def test_bounds_from_above_and_below_are_close() -> None:
    found = epsilon_interval(Repeated(replaced(1.0, 0.05), 100), 1e-5)
    assert 0 < found.upper - found.lower < 1e-3 * found.upper


def test_renyi_divergence_is_at_most_that_of_two_half_steps() -> None:
    """The weak triangle inequality through the release without the record (Mironov 2017, Corollary 4)."""
    for multiplier, rate in CASES[:3]:
        for order in (2.0, 8.0):
            through = (
                (order - 0.5) / (order - 1) * renyi(Sampled(GaussianLoss(2 * multiplier), rate), 2 * order).divergence
            )
            through += renyi(Sampled(GaussianLoss(2 * multiplier), rate), 2 * order - 1).divergence
            assert renyi(replaced(multiplier, rate), order).divergence <= through * (1 + 1e-6)


def test_several_sums_of_one_sample_are_one() -> None:
    both = Sampled(Composed((GaussianLoss(1.0), GaussianLoss(2.0))), 0.1, "poisson_replace")
    assert epsilon(both, 1e-5) == pytest.approx(epsilon(replaced(1 / math.sqrt(1.25), 0.1), 1e-5), rel=1e-9)


def test_only_gaussian_noise_is_priced() -> None:
    for inner in (PureLoss(1.0), LaplaceLoss(1.0), Sampled(GaussianLoss(1.0), 0.5, "poisson_replace")):
        for ask in (lambda event: epsilon(event, 1e-5), lambda event: renyi(event, math.inf)):
            with pytest.raises(Unaccountable, match="Gaussian noise"):
                ask(Sampled(inner, 0.1, "poisson_replace"))


def test_accounts_of_the_other_relation_and_mixtures_refuse_it() -> None:
    account = MemoryLedger(Budget(5.0, 1e-5), Neighbors.ADD_REMOVE)
    with pytest.raises(Unaccountable, match="replace neighbors only"):
        account.reserve(replaced(2.0, 0.1), "test", request="test")
    with pytest.raises(Unaccountable, match="add/remove"):
        epsilon(Composed((replaced(2.0, 0.1), Sampled(GaussianLoss(2.0), 0.1))), 1e-5)
    data = PrivateData.of(np.zeros((5, 1)), Schema.numeric(0.0, 1.0, 1), Budget(5.0, 1e-5), neighbors=Neighbors.REPLACE)
    with pytest.raises(NotPermitted, match="balls around zero"):
        data.permit(replaced(2.0, 0.1), "test")


def test_the_event_survives_its_json() -> None:
    assert read(written(replaced(1.5, 0.2))) == replaced(1.5, 0.2)


def laws(multiplier: float, quiet: float, cells: int) -> tuple[Law, Law, Law]:
    """A, B and C of the witness, with the losses above `quiet` merged into cells."""
    losses = np.linspace(quiet, quiet + 12 / multiplier, cells)
    z = np.append(losses * multiplier, np.inf)
    p, q = (np.diff(-ndtr(shift - z)) for shift in (0.5 / multiplier, -0.5 / multiplier))
    rest, most = 1 - p.sum() - q.sum(), 1 - 2 * q.sum()
    return [*p, *q, rest], [*q, *p, rest], [*q, *q, most]


def worst(multiplier: float, quiet: float) -> float:
    """How far the profile of two of the laws exceeds the Gaussian one."""
    found = laws(multiplier, quiet, 200)
    return max(
        profiles.of_atoms(one, other, epsilon) - profiles.gaussian(multiplier, epsilon)
        for epsilon in np.linspace(0.0, 4 / multiplier, 101).tolist()
        for one in found
        for other in found
    )


def test_the_witness_keeps_the_gaussian_promise_and_only_just() -> None:
    for multiplier in (0.5, 1.0, 3.0, 20.0):
        quiet = subset_witness(multiplier, 0.1).quiet
        assert worst(multiplier, quiet) < 1e-12
        assert worst(multiplier, 0.9 * quiet) > 1e-5


def test_the_pair_is_that_of_samples_with_and_without_the_record() -> None:
    for multiplier, rate in ((1.0, 0.1), (0.7, 0.6)):
        pair = subset_witness(multiplier, rate)
        a, b, c = (np.array(law) for law in laws(multiplier, pair.quiet, 4000))
        one, other = ((1 - rate) * c + rate * law for law in (a, b))
        table = table_below(pair, 1e-3, -40.0)
        for level in (0.0, 0.05, 0.2, 0.6):
            exact = profiles.of_atoms(one.tolist(), other.tolist(), level)
            found = float(table.masses @ np.maximum(-np.expm1(level - table.losses), 0.0))
            assert found <= exact * (1 + 1e-5)
            assert found == pytest.approx(exact, rel=5e-3)


def test_samples_of_fixed_size_are_enclosed_within_a_hundredth() -> None:
    for rate, multiplier, times, tail in ((0.01, 1.0, 1000, 1e-5), (0.05, 3.0, 500, 1e-6), (0.1, 0.6, 10, 1e-8)):
        event = Repeated(Sampled(GaussianLoss(multiplier), rate, "fixed_size"), times)
        found = epsilon_interval(event, tail)
        assert 0.99 * found.upper <= found.lower <= found.upper
        assert math.isfinite(found.upper)
