"""Regret: its summary, its drawing, its lower bound."""

from __future__ import annotations

import math

import numpy as np
import pytest
from matplotlib.figure import Figure

from discreet.core.errors import ParameterError
from discreet.sequential.bandits.simulators.regret import Regret, local_lower_bound, plot_lower_bound


def test_a_drawing_has_the_mean_in_a_band_beside_the_lower_bound() -> None:
    regret = Regret("an agent", np.array([10, 20]), np.array([[1.0, 2.0], [3.0, 6.0]]))
    assert regret.mean == 4.0
    assert regret.standard_error == pytest.approx(2.0)
    ax = plot_lower_bound(2.0, 20, regret.plot(Figure().add_subplot()))
    line, bound = ax.lines
    assert np.asarray(line.get_xydata()).tolist() == [[10, 2], [20, 4]]
    assert np.asarray(bound.get_ydata())[-1] == pytest.approx(2 * math.log(20))
    band = np.asarray(ax.collections[0].get_paths()[0].vertices)
    assert (band[:, 1].min(), band[:, 1].max()) == pytest.approx((1.2, 5.6))


def test_the_lower_bound_is_that_of_ren_and_others() -> None:
    gaps = [0.0, 0.1, 0.1, 0.2]
    assert local_lower_bound(gaps, 1.0) == pytest.approx(25 / (math.e - 1 / math.e) ** 2)
    for gaps, epsilon in (([-0.1], 1.0), ([0.1], 0.0)):
        with pytest.raises(ParameterError, match="lower bound"):
            local_lower_bound(gaps, epsilon)
