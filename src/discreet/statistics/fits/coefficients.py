"""Private parameters of a loss, with their intervals and their receipt."""

from __future__ import annotations

import html
from dataclasses import dataclass

import numpy as np

from discreet.core.grid import Array
from discreet.core.receipt import Receipt
from discreet.releases.columns import in_words
from discreet.releases.release import promise
from discreet.statistics.tables.contingency import ContingencyTable


@dataclass(frozen=True)
class MEstimate:
    """Released parameters that make a loss least.

    Parameters
    ----------
    title : str
        What it is.
    names : tuple of str
        The parameters.
    theta : array
        Their values.
    covariance : array of shape (parameters, parameters)
        Of what they are off by; infinite, where noise hides how the loss curves.
    low, high : array
        The ends of intervals that each hold the exact value with the given confidence.
    confidence : float
        Of each interval.
    population : bool
        Whose exact value the intervals hold: the population's, or that of these data.
    table : ContingencyTable
        The release that it was made of; `m_estimate_of` makes others of it, at no cost.
    """

    title: str
    names: tuple[str, ...]
    theta: Array
    covariance: Array
    low: Array
    high: Array
    confidence: float
    population: bool
    table: ContingencyTable

    @property
    def receipt(self) -> Receipt:
        """What it cost."""
        return self.table.receipt

    @property
    def standard_errors(self) -> Array:
        """The standard deviations of what the parameters are off by."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def __getitem__(self, name: str) -> float:
        if name not in self.names:
            raise KeyError(f"{name!r} is not among {', '.join(self.names)}")
        return float(self.theta[self.names.index(name)])

    def __float__(self) -> float:
        if len(self.names) > 1:
            raise TypeError(f"{self.title} has {len(self.names)} parameters")
        return float(self.theta[0])

    def __str__(self) -> str:
        whose = promise(self.confidence, self.population)
        ends = zip(self.theta.tolist(), self.low.tolist(), self.high.tolist(), strict=True)
        texts = [in_words(*each) for each in ends]
        if len(texts) == 1:
            return f"{self.title}: {texts[0]}{whose}"
        width = max(map(len, self.names))
        rows = (f"{name:>{width}}  {text}" for name, text in zip(self.names, texts, strict=True))
        return "\n".join([f"{self.title}{whose}", *rows])

    def _repr_html_(self) -> str:
        return f"<pre>{html.escape(str(self))}</pre>{self.receipt._repr_html_()}"
