"""Sums of episodes: the price, that they are forgotten, what refuses."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.audit.trial import judged
from discreet.core.errors import ParameterError
from discreet.core.events import LaplaceLoss
from discreet.noise.deterministic import DeterministicBits
from discreet.sequential.bandits.episode_sums import EpisodeSums

RUNS = 40_000


def test_an_audit_stands_and_refutes_two_thirds_of_the_noise() -> None:
    """Episodes of two rewards, of which the first differs, and then another one: all responses added up."""
    claim = EpisodeSums(1.0).event
    assert claim == LaplaceLoss(1.0)
    for epsilon, holds in ((1.0, True), (1.5, False)):
        found = []
        for seed, first in enumerate((0.0, 1e9)):
            curator = EpisodeSums(epsilon, runs=RUNS, bits=DeterministicBits(seed))
            assert np.isnan(curator.privatise(np.full(RUNS, first), last=False)).all()
            found.append(curator.privatise(np.full(RUNS, 0.5)))
        assert judged(claim, *found).holds is holds


def test_a_sum_is_given_out_once_and_forgotten() -> None:
    curator, last = EpisodeSums(1e6, runs=2, bits=DeterministicBits(0)), [[False, True], [True, False], [True, True]]
    found = [curator.privatise(np.array([1.0, 0.5]), last=np.array(one)) for one in last]
    np.testing.assert_allclose(found, [[np.nan, 0.5], [2.0, np.nan], [1.0, 1.0]], atol=1e-3)


def test_parameters_that_cannot_be_are_refused() -> None:
    with pytest.raises(ParameterError, match="numbers of shape"):
        EpisodeSums(1.0, runs=2).privatise(1.0)
    for epsilon, runs in ((0.0, None), (1.0, 0)):
        with pytest.raises(ParameterError, match="sums of episodes"):
            EpisodeSums(epsilon, runs=runs)
