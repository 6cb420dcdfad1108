"""Gittins' index against the published table, and as an agent."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.gittins import GittinsIndex, gittins_table


def test_indices_are_those_of_the_published_tables() -> None:
    """Of Gittins, Glazebrook and Weber 2011, whose priors Beta(a, b) are a - 1 successes and b - 1 failures."""
    for discount, successes, failures, published in (
        (0.5, 0, 0, 0.5590),
        (0.9, 0, 0, 0.7029),
        (0.9, 1, 0, 0.8001),
        (0.9, 0, 1, 0.5001),
        (0.9, 0, 2, 0.3796),
        (0.9, 1, 1, 0.6346),
        (0.99, 0, 0, 0.8699),
        (0.99, 0, 1, 0.7005),
        (0.99, 1, 1, 0.7844),
    ):
        assert gittins_table(discount, 300)[successes, failures] == pytest.approx(published, abs=5e-4)


def test_an_index_exceeds_the_posterior_mean_and_approaches_it() -> None:
    table = gittins_table(0.9, 100)
    pulls = np.add.outer(np.arange(101), np.arange(101))
    excess = table - (np.arange(101)[:, None] + 1) / (pulls + 2)
    assert np.nanmin(excess) > 0
    assert excess[50, 50] < 0.005
    assert np.isnan(table[pulls > 100]).all()


def test_an_agent_looks_its_index_up_and_beyond_the_table_takes_the_mean() -> None:
    agent = GittinsIndex(2, discount=0.9, depth=3)
    table = gittins_table(0.9, 3)
    for response, index in ((1.0, table[1, 0]), (0.0, table[1, 1]), (1.0, table[2, 1]), (1.0, 4 / 6)):
        agent.partial_fit(0, response)
        np.testing.assert_allclose(agent.index(), [[index, table[0, 0]]])
    with pytest.raises(ParameterError, match="Gittins index: response"):
        agent.partial_fit(0, 0.5)
    for discount, depth in ((1.0, 10), (0.9, 0)):
        with pytest.raises(ParameterError, match="Gittins index"):
            GittinsIndex(2, discount=discount, depth=depth)
