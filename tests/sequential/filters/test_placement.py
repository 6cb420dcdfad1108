"""Which placement leaves the least error."""

from __future__ import annotations

import pytest
from matplotlib.figure import Figure

from discreet.mechanisms.additive.gaussian import Gaussian
from discreet.sequential import FilterStream, TransferFunction, better_placement


def test_the_report_says_which_is_best_in_words_and_in_a_figure() -> None:
    system = TransferFunction([0.2], [1.0, -0.8])
    report = better_placement(system)
    assert report.best.place == "zero_forcing" == next(iter(report.mean_squared_errors))
    assert str(report).splitlines()[1].split()[0] == "zero_forcing"
    assert "mean squared error" in report._repr_html_()
    ax = report.plot(Figure().add_subplot())
    widths = [patch.get_width() ** 2 for patch in ax.patches]  # type: ignore[attr-defined]
    assert widths == pytest.approx(list(report.mean_squared_errors.values()))
    stream = FilterStream(system, Gaussian(1.0))
    assert stream.placed.place == "zero_forcing"
    assert stream.stddev() ** 2 == pytest.approx(report.best.mean_squared_error)


def test_a_short_horizon_costs_less() -> None:
    system = TransferFunction([0.02], [1.0, -0.98])
    short, long = (better_placement(system, horizon=horizon).mean_squared_errors for horizon in (10, None))
    assert all(short[place] < 0.8 * long[place] for place in short)
