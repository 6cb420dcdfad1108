"""The figures of the gallery and of the page on epsilon: drawn by the lines that the pages show."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from matplotlib.figure import Figure

import discreet

EPSILONS = [0.05, 0.1, 0.3, 1.0, 3.0]
LINES = {
    "A histogram": 'discreet.histogram(patients, "age", bins=22, epsilon=0.5).plot(ax)',
    "A density": 'discreet.density(patients, "stay_days", epsilon=0.5).plot(ax)',
    "A distribution, with its band": 'discreet.distribution(patients, "systolic", epsilon=0.5).plot(ax)',
    "A table": 'discreet.contingency(patients, ["sex", "department"], epsilon=0.5).plot(ax)',
    "Means of groups": 'discreet.mean(patients, "stay_days", by="department", epsilon=0.5).plot(ax)',
    "Values that only the data know": 'discreet.key_counts(patients, "town", epsilon=1.0, delta=1e-6).plot(ax)',
    "Correlations": "discreet.correlation(patients, epsilon=1.0, delta=1e-6).plot(ax)",
    "What questions would cost": 'discreet.plan(patients, "mean of age", "median of age", n=5000).plot(ax)',
}


def page_of(title: str) -> str:
    """The name of a figure's file."""
    return f"gallery_{title.lower().replace(',', '').replace(' ', '_')}.svg"


def drawn(line: str) -> Callable[[], Figure]:
    """What draws the figure of a line."""

    def draw() -> Figure:
        figure = Figure(figsize=(7, 3.6), layout="constrained")
        patients, ax = discreet.sample("patients", epsilon=4.0, delta=1e-5), figure.add_subplot()
        exec(line, {"discreet": discreet, "patients": patients, "ax": ax})
        return figure

    return draw


def gallery() -> str:
    """The text of the gallery, below its first lines."""
    parts = (f"## {title}\n\n```python\n{line}\n```\n\n![{title}]({page_of(title)})\n" for title, line in LINES.items())
    return "\n".join(parts)


def odds() -> Figure:
    """How often the best attacker guesses right which of two neighbors it was."""
    figure = Figure(figsize=(7, 3.2), layout="constrained")
    ax, epsilons = figure.add_subplot(), np.linspace(0, 6, 200)
    for before in (0.5, 0.1, 0.01):
        after = before * np.exp(epsilons) / (1 - before + before * np.exp(epsilons))
        ax.plot(epsilons, after, label=f"believed with {before:g} before")
    ax.set_xlabel("epsilon")
    ax.set_ylabel("believed afterwards, at most")
    ax.legend()
    return figure


def questions() -> Figure:
    """Error of several questions against epsilon, and the one that is needed."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    schema, asked = discreet.sample().schema, ("mean of age", "median of age", "standard deviation of age")
    discreet.plan(schema, *asked, n=5000, epsilon=EPSILONS).plot(figure.add_subplot())
    return figure


def records() -> Figure:
    """Error of a mean against epsilon, for several numbers of records."""
    figure = Figure(figsize=(7, 3.6), layout="constrained")
    ax, schema = figure.add_subplot(), discreet.sample().schema
    for n in (500, 5000, 50_000):
        rows = discreet.plan(schema, "mean of age", n=n, epsilon=EPSILONS).expectations
        ax.plot([row.epsilon for row in rows], [row.error for row in rows], marker="o", label=f"n = {n:,}")
    ax.set(xscale="log", yscale="log", xlabel="epsilon", ylabel="expected error of the mean age, in years")
    ax.legend()
    return figure


FIGURES: dict[str, Callable[[], Figure]] = {page_of(title): drawn(line) for title, line in LINES.items()} | {
    "choosing_epsilon_odds.svg": odds,
    "choosing_epsilon_questions.svg": questions,
    "choosing_epsilon_records.svg": records,
}
