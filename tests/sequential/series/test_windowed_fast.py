"""FAST without an end: no window has more samples than its noise is for."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.budget import Budget
from discreet.core.errors import NotPermitted, ParameterError
from discreet.core.events import LaplaceLoss
from discreet.core.neighbors import Neighbors, Unit
from discreet.ledger.memory_ledger import MemoryLedger
from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.mechanisms.additive.laplace import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential import PIDController, WindowedFAST, resume_stream, save_stream
from tests.sequential.series.test_fast import EACH, RUNS, VALUES, SampledTrial, evidence, measured
from tests.sequential.trial import opened

TRIAL = SampledTrial(WindowedFAST, VALUES, (1, 2), (2,))


def test_no_window_has_more_samples_than_were_paid_for() -> None:
    """50 series that leap at random, at equal intervals and by controllers that hurry; all windows of 1 to 10 times."""
    rng, hurried = np.random.default_rng(0), PIDController(gain=0.0, leeway=1e6)
    options: list[dict[str, Any]] = [{"sampling": "fixed"}, {}, {"controller": hurried}]
    for window, samples in ((1, 1), (5, 2), (10, 3), (10, 10)):
        for more in options:
            stream = opened(WindowedFAST(window, Laplace(0.01), samples, series=50, **more), DeterministicBits(0))
            taken = []
            for _ in range(5 * window):
                stream.update(rng.random(50) < 0.5, np.arange(50))
                taken.append(np.isfinite(stream.measured))
            sums = np.cumsum(np.vstack([np.zeros((1, 50)), *taken]), axis=0)
            assert (sums[window:] - sums[:-window]).max() == samples


def test_an_audit_of_a_window_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """Somebody who is there at three consecutive times after the first, with at most two samples among them."""
    there = np.array([0.0, 1.0, 1.0, 1.0])
    for multiplier, holds in ((1.0, True), (2 / 3, False)):
        found = []
        for seed, values in enumerate(([0.0] * 4, there.tolist())):
            noise = Laplace(multiplier)
            described = WindowedFAST(3, noise, 2, sampling="fixed", series=RUNS, step_variance=1.0)
            stream = opened(described, DeterministicBits(seed))
            found.append(evidence(measured(stream, values), noise, there))
        assert len(EACH) == len(found[0])
        assert judged(LaplaceLoss(1.0), *found).holds is holds


def test_noise_is_that_of_the_samples_of_a_window() -> None:
    for noise, expected in ((Laplace(1.0), 4 * np.sqrt(2)), (Gaussian(1.0), 2.0)):
        stream = opened(WindowedFAST(9, noise, 4, series=RUNS), DeterministicBits(0))
        stream.update(np.zeros(0), np.zeros(0, int))
        assert stream.measured.std() == pytest.approx(expected, rel=0.05)
        assert stream.description.event == noise.event


def test_one_that_is_resumed_goes_on_and_a_window_is_no_larger_unit(tmp_path: Path) -> None:
    ledger, described, bits = MemoryLedger(Budget(1.0)), WindowedFAST(6, Laplace(1.0), 2), DeterministicBits(0)
    whole, first = opened(described, DeterministicBits(0)), described.open(ledger, "visits", bits=bits)
    visits = [np.ones(100 + 5 * time) for time in range(30)]
    expected = [whole.update(one) for one in visits]
    found = [first.update(one) for one in visits[:14]]
    save_stream(first, tmp_path / "state")
    again = resume_stream(described, tmp_path / "state", bits=bits)
    found += [again.update(one) for one in visits[14:]]
    np.testing.assert_array_equal(found, expected)
    assert len(ledger.entries()) == 1
    users = MemoryLedger(Budget(1.0), Neighbors.ADD_REMOVE, Unit("user", column="who", rows=2))
    with pytest.raises(NotPermitted, match="has at most 2 rows of each"):
        described.open(users, "visits")


def test_more_samples_than_times_are_refused() -> None:
    with pytest.raises(ParameterError, match="samples is 7"):
        WindowedFAST(6, Laplace(1.0), 7)
