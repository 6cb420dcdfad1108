"""How a private mean and a private median vary from run to run, and how the noise of a textbook figure falls short.

Figure 2 of Sarwate and Chaudhuri 2013 ("Signal processing and machine learning with differential privacy") shows what
the private mean and median of 1,000 values between 0 and 1 look like at epsilon 0.1. Their mean has Laplace noise of
variance one, times 1 / (epsilon n). That is too little: its scale is sqrt(1/2), and it spends sqrt(2) epsilon. Here the
noise has scale one, hence variance two, and spends epsilon.

Run: python examples/mean_and_median.py [figure.svg]
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet import Budget, Neighbors, Number, PrivateData, Schema, mean, median
from discreet.accounting.accountant import pure_epsilon
from discreet.mechanisms import Laplace

SCHEMA = Schema({"rate": Number(0, 1)})
RECORDS, EPSILON, RUNS = 1000, 0.1, 1000


@dataclass(frozen=True)
class Runs:
    """What many runs released, beside the exact value, which a user never sees."""

    name: str
    exact: float
    released: np.ndarray

    @property
    def error(self) -> float:
        """The root of the mean squared error."""
        return float(np.sqrt(np.square(self.released - self.exact).mean()))


def heart_rates() -> np.ndarray:
    """Invented heart rates, scaled from 40 to 180 beats a minute to numbers between 0 and 1."""
    beats = 40 + np.random.default_rng(2013).gamma(9.0, 4.5, RECORDS)
    return np.clip((beats - 40) / 140, 0, 1)


def runs(times: int = RUNS) -> tuple[Runs, Runs]:
    """Release the mean and the median again and again, each time from an account of its own."""
    rates = heart_rates()

    def patients() -> PrivateData:  # their number is public, as it is in the textbook
        return PrivateData.of({"rate": rates}, SCHEMA, Budget(EPSILON), neighbors=Neighbors.REPLACE)

    means = [mean(patients(), "rate", epsilon=EPSILON).value for _ in range(times)]
    medians = [median(patients(), "rate", epsilon=EPSILON, confidence=None).value for _ in range(times)]
    return (
        Runs("mean", float(rates.mean()), np.array(means)),
        Runs("median", float(np.median(rates)), np.array(medians)),
    )


def figure(found: tuple[Runs, Runs]) -> Any:
    """Both histograms, side by side, with a line at the exact value."""
    from matplotlib.figure import Figure

    drawn = Figure(figsize=(9, 3.4), layout="constrained")
    for axes, one in zip(drawn.subplots(1, 2), found, strict=True):
        axes.hist(one.released, bins=40, color="#4c9f95")
        axes.axvline(one.exact, color="#222222", linewidth=1.2, label=f"exact {one.name}")
        axes.set_title(f"private {one.name}: {len(one.released):,} runs")
        axes.set_xlabel(f"n = {RECORDS:,}, epsilon = {EPSILON}")
        axes.set_ylabel("runs")
        axes.legend(frameon=False)
    return drawn


def textbook() -> float:
    """What the noise of variance one spends, where epsilon is meant: in units of sensitivity, its scale is less."""
    return pure_epsilon(Laplace(float(np.sqrt(0.5)) / EPSILON).event)


def main(path: str | None = None) -> dict[str, Any]:
    """Run, tell, and draw where a path is given."""
    found = runs()
    for one in found:
        print(f"{one.name:>6}: exact {one.exact:.4f}, released {one.released.mean():.4f} ± {one.error:.4f}")
    print(f"Laplace noise of variance one would have spent {textbook():.4f}, not {EPSILON}.")
    if path is not None:
        figure(found).savefig(path)
        print(f"The figure is in {path}.")
    return {one.name: [one.exact, float(one.released.mean()), one.error] for one in found}


if __name__ == "__main__":
    main(*sys.argv[1:2])
