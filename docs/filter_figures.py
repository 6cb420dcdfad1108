"""The figure of the page about filters: placements, and a signal with its release."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure
from scipy import signal

from discreet import Budget
from discreet.mechanisms import Gaussian
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.drawing import draw_band
from discreet.sequential import FilterStream, TransferFunction, better_placement

SMOOTH = TransferFunction([0.05], [1.0, -0.95])


def filters() -> Figure:
    """What each placement leaves, and people in a building, who are invented, smoothed: exact and released."""
    drawn = Figure(figsize=(9, 3.2), layout="constrained")
    left, right = drawn.subplots(1, 2, width_ratios=[2, 3])
    better_placement(SMOOTH).plot(left)
    times = np.arange(200)
    people = np.random.default_rng(0).poisson(4 + 3 * np.sin(times / 25))
    described = FilterStream(SMOOTH, Gaussian(2.0))
    stream = described.open(Budget(3.0, 1e-6), bits=DeterministicBits(0))
    released = np.array([float(stream.update(np.ones(count))) for count in people])
    half = 2 * np.array([described.stddev(int(time) + 1) for time in times])
    draw_band(right, times, released, ConfidenceInterval(released - half, released + half))
    right.lines[0].set_label("released, with two standard deviations")
    right.plot(times, signal.lfilter(SMOOTH.b, SMOOTH.a, people), "k:", label="exact, of invented people")
    right.set(xlabel="sample", ylabel="people, smoothed")
    right.legend(frameon=False)
    return drawn


FIGURES: dict[str, Callable[[], Figure]] = {"filters.svg": filters}
