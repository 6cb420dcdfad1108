"""What questions would cost and how far off they would be: a table, and a plot of error against epsilon."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.display.notebook import carded
from discreet.display.plain import plain
from discreet.releases.columns import Columns, Series
from discreet.releases.drawing import drawn_on
from discreet.releases.release import finite

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SAME = 1.1  # how many times the least error the largest one may be to count as the same


@dataclass(frozen=True)
class Expectation:
    """What to expect of one figure at one price.

    Parameters
    ----------
    question : str
        The figure.
    epsilon, delta : float
        The price; infinite where an error was asked for that no price gives.
    error : float
        How far off it would be, for records of a middling shape.
    low, high : float
        The same for the shapes of records that suit it best and worst, and for what chance makes of so many records.
    basis : str
        The answer's own interval, of which the error is half the width; or a simulation, and what it measures.
    times : int, optional
        How often the account could pay for the question now, all in one plan.
    """

    question: str
    epsilon: float
    delta: float
    error: float
    low: float
    high: float
    basis: str
    times: int | None = None


@dataclass(frozen=True)
class Forecast:
    """What to expect of several questions, each at one or several prices. Nothing was asked of any data.

    Parameters
    ----------
    n : int
        The number of units that was assumed.
    expectations : tuple of Expectation
        In the order in which they were asked for.
    for_error : float, optional
        The error for which epsilons were looked for.

    Examples
    --------
    >>> one = Expectation("mean of age", 0.5, 0.0, 0.125, 0.124, 0.126, "95% interval", 4)
    >>> print(Forecast(5000, (one,)))
    expected errors, if n is 5,000; nothing was asked
       question  epsilon         basis  error  times
    mean of age      0.5  95% interval  0.125      4
    """

    n: int
    expectations: tuple[Expectation, ...]
    for_error: float | None = None

    @property
    def title(self) -> str:
        """What the table shows."""
        of = f" of {self.of}" if self.of else ""
        return f"expected errors{of}, if n is {self.n:,}; nothing was asked"

    @property
    def of(self) -> str:
        """The question that all figures are of, where it is one with several; else nothing.

        Examples
        --------
        >>> rows = (Expectation(f"SELECT ...: {name}", 1.0, 0.0, 2.0, 2.0, 2.0, "95% interval") for name in "ab")
        >>> print(Forecast(100, tuple(rows)))
        expected errors of SELECT ..., if n is 100; nothing was asked
        question  epsilon         basis  error
               a        1  95% interval      2
               b        1  95% interval      2
        """
        heads = {each.question.rpartition(": ")[0] for each in self.expectations}
        return heads.pop() if len(heads) == 1 else ""

    @property
    def epsilon(self) -> float:
        """The largest epsilon among the rows: what the costliest of the questions needs."""
        return max(each.epsilon for each in self.expectations)

    @property
    def error(self) -> float:
        """The largest error among the rows."""
        return max(each.error for each in self.expectations)

    def tabulated(self) -> Columns:
        """The rows as labels and numbers."""
        rows = self.expectations
        labels = {
            "question": [each.question.rpartition(": ")[2] if self.of else each.question for each in rows],
            "epsilon": [f"{each.epsilon:.4g}" for each in rows],
            "basis": [each.basis for each in rows],
        }
        if any(each.delta for each in rows):
            labels["delta"] = [f"{each.delta:.3g}" for each in rows]
        error, low, high = (
            np.array([_rounded(getattr(each, end)) for each in rows]) for end in ("error", "low", "high")
        )
        sure = high <= SAME * low
        series = [Series("error", error, low=np.where(sure, error, low), high=np.where(sure, error, high))]
        if all(each.times is not None for each in rows):
            series.append(Series("times", np.array([float(each.times or 0) for each in rows])))
        return Columns(labels, tuple(series))

    def to_pandas(self) -> Any:
        """The rows as a pandas data frame.

        Raises
        ------
        MissingExtra
            pandas is not installed.
        """
        return self.tabulated().to_pandas(self.title)

    def to_dict(self) -> dict[str, Any]:
        """The forecast as plain numbers, texts and lists."""
        return {"n": self.n, "for_error": self.for_error, "expectations": [asdict(each) for each in self.expectations]}

    def to_json(self) -> str:
        """The same as JSON; null for what is not a finite number."""
        return json.dumps(finite(self.to_dict()), indent=2, allow_nan=False)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw error against epsilon, a line for each question.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default on a new figure, which a notebook shows.

        Raises
        ------
        MissingExtra
            matplotlib is not installed.
        """
        ax = drawn_on(self.title, ax)
        for question in dict.fromkeys(each.question for each in self.expectations):
            rows = sorted(
                (each for each in self.expectations if each.question == question), key=lambda row: row.epsilon
            )
            epsilons = [each.epsilon for each in rows]
            ax.fill_between(epsilons, [each.low for each in rows], [each.high for each in rows], alpha=0.2)
            ax.plot(epsilons, [each.error for each in rows], marker="o", label=question)
        if self.for_error is not None:
            ax.axhline(self.for_error, color="gray", linestyle="--", label=f"error {self.for_error:g}")
        ax.set_xscale("log")
        ax.set_yscale("log")
        ax.set_xlabel("epsilon")
        ax.set_ylabel("expected error")
        ax.set_title(f"n = {self.n:,}")
        ax.legend()
        return ax

    def __str__(self) -> str:
        return f"{plain(self.title)}\n{self.tabulated().text()}"

    def _repr_html_(self) -> str:
        return carded(self.tabulated().html(self.title))


def _rounded(value: float) -> float:
    return float(f"{value:.3g}")
