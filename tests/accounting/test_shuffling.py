"""Amplification by shuffling: exact for few people, between an attack and a theorem for many."""

from __future__ import annotations

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy.stats import binom

from discreet.accounting.accountant import delta, epsilon, pure_epsilon
from discreet.accounting.shuffling import shuffled, shuffled_response, shuffling_theorem
from discreet.audit.lower_bound import lower_bound
from discreet.core.answer import whole_numbers
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import Repeated
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.selection.randomized_response import RandomizedResponse
from discreet.noise.deterministic import DeterministicBits


def counted(local: float, people: int, chance: float, at: float) -> float:
    """The hockey-stick divergence of the two counts, number of clones by number of clones."""
    own, total = 1 / (1 + math.exp(-local)), 0.0
    for clones in range(people):
        sides = np.arange(clones + 2)
        here, there = binom.pmf(sides - 1, clones, 0.5), binom.pmf(sides, clones, 0.5)
        p, q = own * here + (1 - own) * there, (1 - own) * here + own * there
        total += binom.pmf(clones, people - 1, chance) * np.maximum(p - math.exp(at) * q, 0.0).sum()
    return total


@pytest.mark.parametrize(("local", "people"), [(1.0, 1), (0.3, 7), (1.0, 40), (3.0, 150)])
def test_the_table_is_just_above_the_exact_counts(local: float, people: int) -> None:
    for event, chance in (
        (shuffled(local, people), math.exp(-local)),
        (shuffled_response(local, people), 2 / (1 + math.exp(local))),
    ):
        for share in (0.0, 0.1, 0.4, 0.8):
            exact = counted(local, people, chance, share * local)
            assert exact * (1 - 1e-9) <= delta(event, share * local) <= exact * 1.05 + 1e-12


def multisets(laws: np.ndarray, inputs: tuple[int, ...]) -> dict[tuple[int, ...], float]:
    """The probability of every multiset of reports."""
    found: Counter[tuple[int, ...]] = Counter()
    for reports in itertools.product(range(laws.shape[1]), repeat=len(inputs)):
        chance = math.prod(laws[held, report] for held, report in zip(inputs, reports, strict=True))
        found[tuple(sorted(reports))] += chance
    return dict(found)


def randomisers() -> list[np.ndarray]:
    """Three answers told truly or at random; and random ones with factors e between any two rows at most."""
    truth = np.full((3, 3), 1.0) + (math.e - 1) * np.eye(3)
    generator = np.random.default_rng(8)
    noisy = [np.exp(generator.uniform(-0.25, 0.25, (3, 4))) for _ in range(3)]
    return [table / table.sum(axis=1, keepdims=True) for table in [truth, *noisy]]


@pytest.mark.parametrize("laws", randomisers(), ids=["response", "random", "random", "random"])
def test_the_theorem_holds_for_every_multiset_of_reports_of_few_people(laws: np.ndarray) -> None:
    """The reduction itself, against randomisers whose reports are counted one by one."""
    local = float(np.log(laws[:, None] / laws[None]).max())
    for people in (2, 4):
        event = shuffled(local, people)
        for others in itertools.combinations_with_replacement(range(3), people - 1):
            first, second = (multisets(laws, (held, *others)) for held in (0, 1))
            for share in (0.0, 0.2, 0.5):
                exact = sum(max(0.0, p - math.exp(share * local) * second[reports]) for reports, p in first.items())
                assert exact <= delta(event, share * local) * (1 + 1e-9)


def test_alone_a_report_costs_what_it_costs() -> None:
    assert pure_epsilon(shuffled(0.7, 1)) == pytest.approx(0.7)
    assert epsilon(shuffled(0.7, 1), 1e-9) == pytest.approx(0.7, rel=1e-6)


@pytest.mark.parametrize(
    ("local", "people", "chance"),
    [(0.1, 10**4, 1e-6), (1.0, 10**4, 1e-6), (2.0, 10**5, 1e-8), (4.0, 10**6, 1e-6), (0.5, 3000, 1e-4)],
)
def test_the_computed_price_is_below_the_closed_form(local: float, people: int, chance: float) -> None:
    promise = shuffling_theorem(local, people, chance)
    assert epsilon(shuffled_response(local, people), chance) < epsilon(shuffled(local, people), chance)
    assert epsilon(shuffled(local, people), chance) < 0.5 * promise.epsilon


def test_more_people_hide_better_as_one_over_their_square_root() -> None:
    prices = [epsilon(shuffled(1.0, people), 1e-6) for people in (10**3, 10**4, 10**5, 10**6)]
    assert prices == sorted(prices, reverse=True)
    assert prices[2] / prices[3] == pytest.approx(math.sqrt(10), rel=0.25)


def attack(local: float, people: int, runs: int) -> np.ndarray:
    """The number of ones among shuffled responses, for somebody who holds 0 and for one who holds 1."""
    mechanism, bound = RandomizedResponse(local), Bound("linf", 1.0)
    ones = []
    for held in (0, 1):
        answers = [whole_numbers([value], bound, Neighbors.REPLACE) for value in (held, 0)]
        person = mechanism.release(answers[0].stacked(runs), DeterministicBits(held))
        others = mechanism.release(answers[1].stacked(runs * (people - 1)), DeterministicBits(2 + held))
        ones.append(person + others.reshape(runs, -1).sum(axis=1))
    return np.array(ones)


def test_an_attack_on_shuffled_responses_stays_below() -> None:
    """What the audit shows with confidence 1 - 1e-6, from the counts of 200 000 rounds on either side."""
    local, people = 2.0, 60
    none, one = attack(local, people, 200_000)
    for chance in (0.001, 0.01, 0.05):
        shown = lower_bound(none, one, delta=chance).epsilon
        response, general = (epsilon(event(local, people), chance) for event in (shuffled_response, shuffled))
        assert 0.4 * response < shown <= response <= general


def test_rounds_of_shuffled_reports_compose() -> None:
    event = shuffled(1.0, 10_000)
    assert epsilon(event, 1e-6) < epsilon(Repeated(event, 10), 1e-6) < 6 * epsilon(event, 1e-6)


@pytest.mark.parametrize(("local", "people"), [(0.0, 10), (-1.0, 10), (math.nan, 10), (50.0, 10), (1.0, 0), (1.0, 1.5)])
def test_numbers_without_meaning_are_refused(local: float, people: int) -> None:
    for asked in (shuffled, shuffled_response):
        with pytest.raises(ParameterError, match="shuffling"):
            asked(local, people)


def test_the_closed_form_refuses_what_it_does_not_cover() -> None:
    with pytest.raises(ParameterError, match="covers at most"):
        shuffling_theorem(2.0, 500, 1e-6)
    with pytest.raises(ParameterError, match="delta"):
        shuffling_theorem(1.0, 10_000, 0.0)
