"""How far noise throws a weighted sum, against simulation."""

from __future__ import annotations

import numpy as np
import pytest

from discreet.mechanisms.gaussian import Gaussian
from discreet.mechanisms.laplace import Laplace
from discreet.statistics.noise import Spread


@pytest.mark.parametrize("weights", [[1.0], [1.0, -1.0], [0.2, 0.5, 3.0], [1.0, 1.0, 1.0, 0.0], [0.1] * 20])
@pytest.mark.parametrize("noise", [Laplace(), Gaussian()], ids=["laplace", "gaussian"])
def test_the_half_width_covers_as_it_says(noise: Laplace | Gaussian, weights: list[float]) -> None:
    rng = np.random.default_rng(0)
    draws = (
        rng.laplace(size=(200_000, len(weights)))
        if isinstance(noise, Laplace)
        else rng.normal(size=(200_000, len(weights))) * np.sqrt(2)
    )
    half = Spread(noise, np.sqrt(2)).half_width(weights)
    assert (np.abs(draws @ weights) <= half).mean() == pytest.approx(0.95, abs=0.004)


def test_no_weights_no_width() -> None:
    assert Spread(Laplace(), 1.0).half_width([0.0, 0.0]) == 0.0
