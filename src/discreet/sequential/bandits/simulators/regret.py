"""Regret over time, of several runs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.core.checks import check_positive, check_whole
from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.core.progress_bar import tracked
from discreet.releases.drawing import drawn_on

if TYPE_CHECKING:
    from matplotlib.axes import Axes

ASKED = "simulation of a bandit"
BAND = (0.1, 0.9)  # quantiles of the runs between which the band lies


@dataclass(frozen=True)
class Regret:
    """How much more the best arm would have paid, up to several rounds, in independent runs on invented rewards.

    Parameters
    ----------
    name : str
        Of the agent.
    rounds : array of shape (marks,)
        After how many rounds it was noted.
    values : array of shape (runs, marks)
        The sums of gaps of all pulls until then.
    """

    name: str
    rounds: NDArray[np.int64]
    values: Array

    @classmethod
    def of(cls, name: str, rounds: int, marks: int, play: Callable[[int], Array]) -> Regret:
        """Play rounds one after another, and note the sums of what each run lost, with a progress bar after a second.

        Parameters
        ----------
        name : str
            Of the agent.
        rounds : int
            How many.
        marks : int
            How often sums are noted, about.
        play : callable
            Plays the round of a number, from 0, and gives out what was lost in each run.
        """
        check_whole(ASKED, "rounds", rounds)
        check_whole(ASKED, "marks", marks)
        noted = np.unique(np.linspace(0, rounds, min(int(marks), int(rounds)) + 1).astype(np.int64)[1:])
        due, found = set(noted.tolist()), []
        total: Array = np.zeros(1)
        for step in tracked(int(rounds), f"rounds of {name}"):
            total = total + play(step)
            if step + 1 in due:
                found.append(total)
        return cls(name, noted, np.stack(found, axis=1))

    @property
    def mean(self) -> float:
        """The mean of all runs at the end."""
        return float(self.values[:, -1].mean())

    @property
    def standard_error(self) -> float:
        """Of that mean; nan for a single run."""
        runs = len(self.values)
        return float(self.values[:, -1].std(ddof=1) / math.sqrt(runs)) if runs > 1 else math.nan

    def plot(self, ax: Axes | None = None) -> Axes:
        """The mean of all runs, in a band that holds four of five.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure.
        """
        ax = drawn_on("regret", ax)
        low, high = np.quantile(self.values, BAND, axis=0)
        (line,) = ax.plot(self.rounds, self.values.mean(axis=0), label=self.name)
        ax.fill_between(self.rounds, low, high, alpha=0.2, color=line.get_color())
        ax.set_xlabel("round")
        ax.set_ylabel("regret")
        return ax


def local_lower_bound(gaps: Sequence[float] | Array, epsilon: float) -> float:
    """What ln T has to be multiplied by, at least, in the regret of any consistent agent behind local privacy.

    The sum over the worse arms of 1 / gap, divided by (e^epsilon - e^-epsilon)^2, for T towards infinity. Ren, Zhou,
    Liu and Shroff 2020.

    Parameters
    ----------
    gaps : sequence of float
        By how much the best mean exceeds each; those of 0 do not count.
    epsilon : float
        Public. Of one response.

    Examples
    --------
    >>> round(local_lower_bound([0.0, 0.1, 0.2], epsilon=0.5), 2)
    13.81
    """
    check_positive("lower bound of regret", "epsilon", epsilon, most=300.0)
    each = np.asarray(gaps, np.float64)
    if not (each >= 0).all():
        raise ParameterError("lower bound of regret", f"the gaps are {gaps}", "Give gaps of at least 0.")
    return float((1 / each[each > 0]).sum()) / (2 * math.sinh(epsilon)) ** 2


def plot_lower_bound(slope: float, rounds: int, ax: Axes | None = None) -> Axes:
    """The line slope * ln t, beside which regret is drawn: it holds as T grows, not at every T.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> plot_lower_bound(3.0, 1000, Figure().add_subplot()).lines[0].get_label()
    'lower bound, asymptotic'
    """
    ax = drawn_on("a lower bound", ax)
    at = np.unique(np.geomspace(1, max(rounds, 2), 200).astype(np.int64))
    ax.plot(at, slope * np.log(at), "k:", label="lower bound, asymptotic")
    return ax
