"""The figures of the page about series: invented truths, releases and their bands."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from discreet import Budget, PrivateData
from discreet.mechanisms import Laplace
from discreet.noise.deterministic import DeterministicBits
from discreet.releases.columns import ConfidenceInterval
from discreet.releases.drawing import draw_band
from discreet.sequential import FAST, series_of_people

TIMES, PEOPLE, EPSILON = 200, 4000, 1.0


def truth() -> np.ndarray:
    """How many of 4,000 people are there at each time."""
    t = np.arange(TIMES)
    return np.round(1800 + 900 * np.sin(2 * np.pi * t / 100) + 500 * np.exp(-(((t - 140) / 12) ** 2)))


def lowest_frequencies(ax: Axes) -> None:
    """All times at once."""
    people = (np.arange(PEOPLE)[:, None] < truth()[None, :]).astype(np.float64)
    names = [f"t{i}" for i in range(TIMES)]
    data = PrivateData.of(people, dict.fromkeys(names, (0, 1)), Budget(EPSILON), bits=DeterministicBits(0))
    series_of_people(data, names, coefficients=7, epsilon=EPSILON).plot(ax)
    ax.set_title("lowest frequencies, all times at once")


def fast(ax: Axes) -> None:
    """One time after the other."""
    stream = FAST(TIMES, Laplace(1 / EPSILON), samples=40).open(Budget(EPSILON), bits=DeterministicBits(0))
    found, errors = [], []
    for number in truth():
        found.append(stream.update(np.ones(int(number)))[0])
        errors.append(stream.standard_errors[0])
    values, reach = np.array(found), 1.96 * np.array(errors)
    draw_band(ax, np.arange(TIMES), values, ConfidenceInterval(values - reach, values + reach))
    ax.set_title("FAST, one time after the other")


def series() -> Figure:
    """Both, with what they release."""
    figure = Figure(figsize=(9, 3.4), layout="constrained")
    for ax, draw in zip(figure.subplots(1, 2, sharey=True), (lowest_frequencies, fast), strict=True):
        draw(ax)
        ax.plot(np.arange(TIMES), truth(), color="#222222", linewidth=0.8, label="invented truth")
        ax.set(xlabel="time", ylabel="people")
        ax.legend(frameon=False)
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {"series.svg": series}
