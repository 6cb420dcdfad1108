"""The index of UCB1."""

from __future__ import annotations

import math

import numpy as np

from discreet.sequential.bandits.ucb1 import UCB1


def test_the_index_is_the_mean_and_hoeffdings_margin() -> None:
    agent = UCB1(2).partial_fit(0, 1.0).partial_fit(1, 0.5).partial_fit(0, 0.0)
    margins = [math.sqrt(2 * math.log(4) / 2), math.sqrt(2 * math.log(4) / 1)]
    np.testing.assert_allclose(agent.index(), [[0.5 + margins[0], 0.5 + margins[1]]])
