"""Streams without an end."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from functools import partial

import numpy as np
import pytest

from discreet.core.bound import Norm
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.counters.doubling_counter import DoublingCounter, Kind, spread
from discreet.sequential.counters.square_root_counter import SquareRootCounter
from discreet.sequential.counters.square_root_factor import square_root_factor
from discreet.sequential.counters.tree_counter import TreeCounter, tree_factor
from tests.sequential.trial import TIMES, CounterTrial, opened

VALUES = {"first": (8, 16), "kind": ("square_root", "tree")}
TRIAL = CounterTrial(DoublingCounter, VALUES, {"first": TIMES, "kind": "tree"})


def tree_of(levels: int, norm: Norm, contributions: int) -> float:
    return tree_factor(levels, contributions, norm)


def test_contributions_to_several_counters_move_no_more_than_the_noise_is_for() -> None:
    """All ways to divide up to five contributions among three counters, in units of their noise."""
    families: list[tuple[int, list[Callable[[int], float]]]] = [
        (2, [square_root_factor(length).norm for length in (8, 16, 32)]),
        (2, [partial(tree_of, levels, "l2") for levels in (2, 3, 4)]),
        (1, [partial(tree_of, levels, "l1") for levels in (2, 3, 4)]),
    ]
    for k, (order, factors) in itertools.product(range(1, 6), families):
        made_for = [factor(k) * spread(factor, k, order) for factor in factors]
        for parts in itertools.product(range(k + 1), repeat=3):
            if sum(parts) <= k:
                each = zip(factors, parts, made_for, strict=True)
                moved = [factor(j) / one if j else 0.0 for factor, j, one in each]
                assert np.linalg.norm(moved, order) <= 1 + 1e-12


def test_sums_go_on_over_all_counters_with_the_noise_of_each() -> None:
    """After 4 + 8 + 3 updates of 2,000 numbers; deviations are known to 1.6 %, and 8 % are allowed."""
    kinds: list[Kind] = ["square_root", "tree"]
    for kind in kinds:
        described = DoublingCounter(Gaussian(1.0), size=2000, first=4, kind=kind)
        counter = opened(described, DeterministicBits(0))
        assert described.event == GaussianLoss(1.0)
        for time in range(1, 16):
            errors = counter.update(np.ones(2000)) - time
            assert counter.clock == time
        assert errors.std() == pytest.approx(described.stddev(15), rel=0.08)
        assert abs(errors.mean()) < 5 * described.stddev(15) / np.sqrt(2000)
        assert described.stddev(15) > described.stddev(4) > 0


def test_each_counter_has_the_noise_of_one_by_itself() -> None:
    alone = SquareRootCounter(4, Gaussian(1.0)), TreeCounter(4, Gaussian(1.0))
    kinds: list[Kind] = ["square_root", "tree"]
    for one, kind in zip(alone, kinds, strict=True):
        assert DoublingCounter(Gaussian(1.0), first=4, kind=kind).stddev(3) == one.stddev(3)


def test_users_of_several_contributions_get_more_noise() -> None:
    one, three = (DoublingCounter(Laplace(1.0), kind="tree", first=8, contributions=k).stddev(1) for k in (1, 3))
    assert three == pytest.approx(3 * one)


def test_what_cannot_be_is_refused() -> None:
    with pytest.raises(ParameterError, match="Give Gaussian noise"):
        DoublingCounter(Laplace(1.0))
    for first, contributions, kind in ((0, 1, "tree"), (4, 5, "tree"), (4, 1, "list")):
        with pytest.raises(ParameterError, match="doubling counter"):
            DoublingCounter(Gaussian(1.0), first=first, contributions=contributions, kind=kind)  # type: ignore[arg-type]
