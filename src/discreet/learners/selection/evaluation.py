"""What a private evaluation of a classifier says: all of it from one table of noisy counts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.releases.ask import Released
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate, estimate_of
from discreet.releases.figure import Figure, Sampling
from discreet.releases.spread import CONFIDENCE, whole_half_width
from discreet.releases.table import Table, Tabular
from discreet.schema.schema import Number

SHARE = Number(0.0, 1.0)


@dataclass(frozen=True, kw_only=True)
class Evaluation(Tabular):
    """The accuracy of a classifier, and what else its noisy table of classes and scores shows.

    Printed, it is a table of the accuracy, the AUC, and the recall of each class. `confusion`, `calibration` and the
    single estimates follow from the same release, and cost nothing more.

    Parameters
    ----------
    classes : tuple of str
        Public. The classes, in order.
    released : Released
        The noisy counts, by class and then by cell of the score (for two classes) or predicted class.
    edges : array, optional
        Public. The ends of the cells of the score; None where the cells are predicted classes.
    """

    classes: tuple[str, ...]
    released: Released
    edges: Array | None = None

    @cached_property
    def counts(self) -> Array:
        """The noisy counts, a row for each class."""
        return self.released.values.reshape(len(self.classes), -1)

    @cached_property
    def accuracy(self) -> Estimate:
        """The share of records that are put into their class."""
        return self._share("accuracy", self._correct, np.ones_like(self.counts))

    @cached_property
    def auc(self) -> Estimate:
        """The chance that a record of the second class has a higher score than one of the first.

        Scores are those of the cells: two records in one cell count one half. Hanley and McNeil 1982; for the
        population the variance of DeLong, DeLong and Clarke-Pearson 1988.
        """
        if self.edges is None:
            raise ParameterError(
                "AUC", "there are predicted classes, and no scores", "Evaluate a score of two classes."
            )
        first, second = self.counts
        n, m = np.maximum(self.counts.sum(axis=1), 1.0)
        below = (np.cumsum(first) - 0.5 * first) / n  # the share of the first class below a score
        above = (second.sum() - np.cumsum(second) + 0.5 * second) / m
        value = float(second @ below / m)
        weights = np.concatenate([(above - value) / n, (below - value) / m])
        sampling = None
        if self.population:
            variance = first @ np.square(above - value) / n**2 + second @ np.square(below - value) / m**2
            sampling = _sampling(float(variance), min(n, m), weights.size)
        return self._estimate("AUC", Figure(min(max(value, 0.0), 1.0), weights, sampling))

    @cached_property
    def recall(self) -> tuple[Estimate, ...]:
        """The share of the records of each class that are put into it."""
        own = zip(self.classes, np.eye(len(self.classes))[:, :, None] * np.ones_like(self.counts), strict=True)
        return tuple(self._share(f"recall of {name}", row * self._correct, row) for name, row in own)

    @cached_property
    def confusion(self) -> Table:
        """How many records of each class are put into each class: intervals are for these data."""
        k = len(self.classes)
        parts = self.counts.reshape(k, k, -1)  # cells of scores: the lower half is the first class
        half = whole_half_width(self.released.spread, np.ones(parts.shape[-1]), self.confidence or CONFIDENCE)
        labels = {"class": np.repeat(self.classes, k).tolist(), "predicted": list(self.classes) * k}
        series = Series.around("count", parts.sum(axis=-1).ravel(), half)
        about = {"name": f"confusion: {self.name}", "receipt": self.receipt, "confidence": self.confidence}
        return Table(labels=labels, series=(series,), **about)  # type: ignore[arg-type]

    @cached_property
    def calibration(self) -> Table:
        """The share of the second class among the records in each cell of the score."""
        if self.edges is None:
            raise ParameterError("calibration", "there are no scores", "Evaluate a score of two classes.")
        cells = np.eye(self.counts.shape[1])
        second = np.array([[0.0], [1.0]])
        found = [self._share("share", second * cell, np.ones((2, 1)) * cell) for cell in cells]
        return Table(
            name=f"calibration: {self.name}",
            receipt=self.receipt,
            confidence=self.confidence,
            population=self.population,
            labels={"score": 0.5 * self.edges[1:] + 0.5 * self.edges[:-1]},
            series=(series_of(f"share of {self.classes[1]}", found),),
        )

    def tabulated(self) -> Columns:
        """The accuracy, the AUC of scores, and the recall of each class."""
        found = [self.accuracy, *([] if self.edges is None else [self.auc]), *self.recall]
        return Columns({"measure": [one.name for one in found]}, (series_of("value", found),))

    @property
    def _correct(self) -> Array:
        """1 for each cell that is put into its class."""
        k = len(self.classes)
        return np.repeat(np.eye(k), self.counts.shape[1] // k, axis=1)

    def _share(self, name: str, part: Array, whole: Array) -> Estimate:
        """The counts of some cells over those of more: a ratio of two noisy sums."""
        total = max(float((whole * self.counts).sum()), 1.0)
        value = min(max(float((part * self.counts).sum()) / total, 0.0), 1.0)
        weights = ((part - value * whole) / total).ravel()
        sampling = _sampling(value * (1 - value) / total, total, weights.size) if self.population else None
        return self._estimate(name, Figure(value, weights, sampling))

    def _estimate(self, name: str, figure: Figure) -> Estimate:
        return estimate_of(name, figure, self.released, self.confidence or CONFIDENCE, SHARE)


def _sampling(variance: float, records: float, size: int) -> Sampling:
    """The sampling error of a mean of so many records, whose variance is known as well as that of as many."""
    return Sampling(max(variance, 0.0), np.zeros(size), 2 * variance**2 / max(records - 1, 1.0), records)


def series_of(name: str, found: Sequence[Estimate]) -> Series:
    """Estimates in a column."""
    rows = [(one.value, one.standard_error, one.low, one.high) for one in found]
    return Series(name, *np.array(rows, dtype=np.float64).T)
