from __future__ import annotations

import sys

import numpy as np
import pytest

from discreet.accounting.accountant import epsilon
from discreet.accounting.curves import plot_curve
from discreet.core.errors import MissingExtra
from discreet.core.events import GaussianLoss, LaplaceLoss


def test_a_curve_goes_through_what_the_accountant_says() -> None:
    deltas = (1e-2, 1e-4, 1e-6)
    axes = plot_curve(GaussianLoss(2.0), deltas)
    (line,) = axes.get_lines()
    assert np.asarray(line.get_xdata()) == pytest.approx([epsilon(GaussianLoss(2.0), delta) for delta in deltas])
    assert np.asarray(line.get_ydata()) == pytest.approx(deltas)
    assert axes.get_yscale() == "log"
    assert axes.get_legend() is None


def test_several_events_share_axes_and_a_legend() -> None:
    axes = plot_curve({"noise": GaussianLoss(2.0)}, (1e-3, 1e-6))
    again = plot_curve({"other": LaplaceLoss(2.0)}, (1e-3, 1e-6), axes)
    assert again is axes
    assert [line.get_label() for line in axes.get_lines()] == ["noise", "other"]
    assert axes.get_legend() is not None


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtra, match=r"discreet\[plots\]"):
        plot_curve(GaussianLoss(1.0))
