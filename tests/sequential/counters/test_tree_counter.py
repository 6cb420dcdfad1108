"""Running sums by a tree: the price, the noise, the bound, what refuses."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.bound import Bound
from discreet.core.errors import ParameterError
from discreet.core.events import GaussianLoss, LaplaceLoss
from discreet.core.grid import Array
from discreet.core.neighbors import Neighbors
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.counters.tree_counter import OpenTree, TreeCounter, tree_factor
from tests.sequential.trial import CounterTrial, opened

TRIAL = CounterTrial(TreeCounter)

RUNS = 40_000


def used_nodes(horizon: int) -> Array:
    """The nodes whose noise is drawn, as rows of zeros and ones over the updates: what C of the factorisation is."""
    rows = np.zeros((horizon, horizon))
    for time in range(1, horizon + 1):
        rows[time - 1, time - (time & -time) : time] = 1.0
    return rows


def test_the_factor_is_the_farthest_that_any_unit_moves_all_nodes() -> None:
    """All units of up to three updates in streams of up to 12; a single update of the first kind attains it."""
    for horizon in range(1, 13):
        nodes = used_nodes(horizon)
        for k in range(1, min(3, horizon) + 1):
            moved = np.array([nodes[:, list(where)].sum(axis=1) for where in itertools.combinations(range(horizon), k)])
            for norm, order in (("l1", 1), ("l2", 2)):
                most = np.linalg.norm(moved, order, axis=1).max()
                factor = tree_factor(horizon.bit_length(), k, norm)  # type: ignore[arg-type]
                assert most <= factor
                assert k > 1 or most == pytest.approx(factor)


def releases(counter: OpenTree, first: float) -> Array:
    """Two releases of many streams whose first updates are this number and 0."""
    streams = np.arange(RUNS)
    return np.hstack([counter.add(np.full((RUNS, 1), value), streams) for value in (first, 0.0)])


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """The first of three updates is in both levels. Gaussian nodes are judged by their sum, Laplace nodes by their
    maximum, whose tail has the whole loss; an update of 1e9 is clipped."""
    for kind, view in ((Gaussian, np.sum), (Laplace, np.max)):
        claim = kind(1.0).event
        for multiplier, holds in ((1.0, True), (2 / 3, False)):
            counters = [opened(TreeCounter(3, kind(multiplier), streams=RUNS), DeterministicBits(i)) for i in (0, 1)]
            found = [view(releases(one, x), axis=1) for one, x in zip(counters, (0.0, 1e9), strict=True)]
            assert judged(claim, *found).holds is holds


def test_releases_are_exact_sums_and_the_noise_of_as_many_nodes_as_time_has_ones() -> None:
    """Deviations of 4,000 streams are known to 1.2 %; 6 % are allowed."""
    counter = opened(TreeCounter(20, Gaussian(2.0), Bound("l2", 3.0), size=2, streams=4000), DeterministicBits(0))
    assert counter.description.event == GaussianLoss(2.0)
    values, streams = np.random.default_rng(0).normal(size=(20, 2)) / 2, np.arange(4000)
    for time, value in enumerate(values, 1):
        errors = counter.add(np.tile(value, (4000, 1)), streams) - values[:time].sum(axis=0)
        assert counter.description.stddev(time) == pytest.approx(2.0 * 3.0 * math.sqrt(5 * time.bit_count()))
        np.testing.assert_allclose(errors.std(axis=0), counter.description.stddev(time), rtol=0.06)
        np.testing.assert_allclose(
            errors.mean(axis=0), 0.0, atol=5 * counter.description.stddev(time) / math.sqrt(4000)
        )


def test_streams_have_clocks_of_their_own() -> None:
    counter = opened(TreeCounter(4, Laplace(1e-4), streams=3), DeterministicBits(0))
    for streams in ([0, 2], [2], [2, 1]):
        found = counter.add(np.ones((len(streams), 1)), np.array(streams))
    np.testing.assert_allclose(found, [[3.0], [1.0]], atol=0.05)
    with pytest.raises(ParameterError, match="two updates at once"):
        counter.add(np.ones((2, 1)), np.array([1, 1]))
    assert counter.clock.tolist() == [1, 1, 3]


@pytest.mark.parametrize("streams", [[-1], [3], [2, -1], [2**40], [0.0], [True]])
def test_a_stream_that_is_not_there_is_refused(streams: list[Any]) -> None:
    """Counted from the end, it would be another one, and with that one itself two updates at once."""
    counter = opened(TreeCounter(4, Laplace(1.0), streams=3))
    with pytest.raises(ParameterError, match="from 0 to 2"):
        counter.add(np.ones((len(streams), 1)), np.array(streams))
    assert counter.clock.tolist() == [0, 0, 0]


def test_replacing_moves_a_signed_update_twice_as_far() -> None:
    bound = Bound("linf", 1.0)
    apart = [TreeCounter(8, Laplace(1.0), bound, neighbors=one).stddev(1) for one in Neighbors]
    assert apart[1] == pytest.approx(2 * apart[0])


def test_what_is_not_finite_counts_as_zero() -> None:
    counter = opened(TreeCounter(4, Laplace(1e-4)), DeterministicBits(0))
    assert float(counter.update(math.nan)) == pytest.approx(0.0, abs=0.05)
    assert float(counter.update(math.inf)) == pytest.approx(0.0, abs=0.05)
    assert counter.description.event == LaplaceLoss(1e-4)


def test_no_update_after_the_last_and_none_of_another_size() -> None:
    counter = opened(TreeCounter(2, Laplace(1.0), size=3))
    counter.update([0.0, 1.0, 0.5])
    with pytest.raises(ParameterError, match="updates of shape"):
        counter.update(np.ones(1))
    counter.update([0.0, 1.0, 0.5])
    with pytest.raises(ParameterError, match="all 2 updates"):
        counter.update([0.0, 1.0, 0.5])
    for horizon, contributions in ((0, 1), (4, 5), (2.5, 1)):
        with pytest.raises(ParameterError, match="tree counter"):
            TreeCounter(horizon, Laplace(1.0), contributions=contributions)  # type: ignore[arg-type]
