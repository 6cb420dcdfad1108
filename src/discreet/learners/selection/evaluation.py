"""What the noisy counts of an evaluation show: shares, ranks and losses, each with an interval."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise

import numpy as np

from discreet.core.errors import ParameterError
from discreet.core.grid import Array
from discreet.learners.selection.contrasts import CellMean, CellShare, Pairs, Supposable, not_contradicted
from discreet.learners.selection.losses import LOSSES, CellLoss, ranked
from discreet.learners.selection.score_table import ScoreCells, ScoreTable
from discreet.releases.columns import Columns, Series
from discreet.releases.estimate import Estimate
from discreet.releases.spread import CONFIDENCE, Spread, whole_half_width
from discreet.releases.table import Table, Tabular
from discreet.schema.schema import Number

SHARE = Number(0.0, 1.0)
GROUPS = 20  # of scores, in a calibration curve


@dataclass(frozen=True, kw_only=True)
class Evaluation(Tabular):
    """The accuracy of a classifier, and what else its noisy table of classes and scores shows.

    Printed, it is a table of the accuracy, of the AUC and the losses of scores, and of the recall and the precision of
    each class. `f1`, `confusion`, `calibration` and all single estimates follow from the same counts, and cost nothing
    more. Each interval is right by itself, however few records a class has; where noise hides them, it is wide.

    Parameters
    ----------
    classes : tuple of str
        Public. The classes, in order.
    table : ScoreTable
        The noisy counts.
    """

    classes: tuple[str, ...]
    table: ScoreTable

    @property
    def counts(self) -> Array:
        """The noisy counts, a row for each class."""
        return self.table.counts

    @cached_property
    def accuracy(self) -> Estimate:
        """The share of records that are put into their class."""
        own = np.eye(len(self.classes))
        return self._put_share("accuracy", own, 1 - own)

    @cached_property
    def balanced_accuracy(self) -> Estimate:
        """The mean of the recall of all classes; its interval is made of theirs (Zou and Donner 2008)."""
        k, (value, low, high, error) = len(self.classes), np.array([_row(one) for one in self.recall]).T
        middle = float(value.mean())
        reach = [float(np.linalg.norm(each)) / k for each in (value - low, high - value, error)]
        return self._between("balanced accuracy", middle, middle - reach[0], middle + reach[1], reach[2])

    @cached_property
    def recall(self) -> tuple[Estimate, ...]:
        """The share of the records of each class that are put into it."""
        return tuple(self._put_share(f"recall of {name}", own * put, own * (1 - put)) for name, own, put in self._marks)

    @cached_property
    def precision(self) -> tuple[Estimate, ...]:
        """The share of each class among the records that are put into it."""
        return tuple(
            self._put_share(f"precision of {name}", own * put, (1 - own) * put) for name, own, put in self._marks
        )

    @cached_property
    def f1(self) -> tuple[Estimate, ...]:
        """The harmonic mean of precision and recall of each class: twice the hits over the hits and all of the two."""
        return tuple(
            self._put_share(f"F1 of {name}", own * put, np.abs(own - put), 2.0) for name, own, put in self._marks
        )

    @cached_property
    def auc(self) -> Estimate:
        """The chance that a record of the second class has a higher score than one of the first; ties count one half.

        Scores are equal if they are in one of 4096 steps. What happens within a wider cell is not known: the interval
        holds what is possible. Hanley and McNeil 1982.
        """
        cells = self._scores("AUC")
        ties = (np.where(cells.alone, 0.5, tied) for tied in (0.0, 0.5, 1.0))
        low, middle, high = (Pairs(self.counts[0], self.counts[1], ranked(tied)) for tied in ties)
        return self._estimate("AUC", middle, low, high)

    @cached_property
    def log_loss(self) -> Estimate:
        """The mean of minus the logarithm of the probability of a record's class, which is taken as 2^-14 at least."""
        return self._loss("log loss", LOSSES["log loss"])

    @cached_property
    def brier(self) -> Estimate:
        """The mean squared distance of the score from 1 for the second class, and from 0 for the first."""
        return self._loss("Brier score", LOSSES["Brier score"])

    @cached_property
    def confusion(self) -> Table:
        """How many records of each class are put into each class: intervals are for these data."""
        k, confidence = len(self.classes), self.confidence or CONFIDENCE
        weights = [self._weights(mark.reshape(k, k)) for mark in np.eye(k * k)]
        whole = whole_half_width if self.table.sides is None else Spread.half_width
        half = [whole(self.table.spread, own[own != 0], confidence) for own in weights]
        labels = {"class": np.repeat(self.classes, k).tolist(), "predicted": list(self.classes) * k}
        series = Series.around("count", np.array(weights) @ self._sums, np.array(half))
        about = {"name": f"confusion: {self.name}", "receipt": self.receipt, "confidence": self.confidence}
        return Table(labels=labels, series=(series,), **about)  # type: ignore[arg-type]

    @cached_property
    def calibration(self) -> Table:
        """The share of the second class among the records in each of about 20 groups of cells of the score."""
        cells, size = self._scores("calibration"), self.counts.shape[1]
        ends = np.unique([*np.linspace(0, size, min(GROUPS, size) + 1).astype(int), cells.below])
        inside = [((np.arange(size) >= a) & (np.arange(size) < b)).astype(float) for a, b in pairwise(ends)]
        marks = np.eye(2)[:, :, None]
        found = [self._share("share", marks[1] * group, marks[0] * group) for group in inside]
        return Table(
            name=f"calibration: {self.name}",
            receipt=self.receipt,
            confidence=self.confidence,
            population=self.population,
            labels={"score": 0.5 * (cells.edges[ends[1:]] + cells.edges[ends[:-1]])},
            series=(series_of(f"share of {self.classes[1]}", found),),
        )

    def tabulated(self) -> Columns:
        """The accuracy, the AUC and losses of scores, and the recall and precision of each class."""
        ofscores = [] if self.table.cells is None else [self.auc, self.log_loss, self.brier]
        found = [self.accuracy, self.balanced_accuracy, *ofscores, *self.recall, *self.precision]
        return Columns({"measure": [one.name for one in found]}, (series_of("value", found),))

    def _scores(self, name: str) -> ScoreCells:
        if self.table.cells is None:
            raise ParameterError(name, "there are predicted classes, and no scores", "Evaluate a score of two classes.")
        return self.table.cells

    @property
    def _marks(self) -> list[tuple[str, Array, Array]]:
        """For each class its name, and marks of what is of it and what is put into it, by class and predicted one."""
        k = len(self.classes)
        return [
            (name, one[:, None] * np.ones(k), np.ones((k, 1)) * one)
            for name, one in zip(self.classes, np.eye(k), strict=True)
        ]

    @cached_property
    def _into(self) -> Array:
        """1 for each cell that is put into a class, class by class."""
        cells = self.table.cells
        if cells is None:
            return np.eye(len(self.classes))
        return np.eye(2)[(np.arange(self.counts.shape[1]) >= cells.below) * 1].T

    @cached_property
    def _sums(self) -> Array:
        """All counts; those of sides in units in which they have the noise of the others."""
        sides, own = self.table.sides, self.counts.ravel()
        if sides is None:
            return own
        return np.concatenate([own, sides.counts.ravel() / self._noisier])

    @property
    def _noisier(self) -> float:
        """By how much noise on sides is larger than that on cells, as far as there is any."""
        assert self.table.sides is not None
        ratio = self.table.sides.spread.stddev / max(self.table.spread.stddev, 2.0**-500)
        return min(max(ratio, 2.0**-20), 2.0**20)

    def _weights(self, marks: Array) -> Array:
        """Weights of all counts, with which they add up to what is marked by class and predicted class.

        Cells and sides count the same records: their mean is weighted by the inverse of both variances.
        """
        if self.table.sides is None:
            return np.asarray((marks @ self._into).ravel())
        cells, sides = self._into.sum(axis=1), self._noisier**2
        rest = self._noisier * cells / (cells + sides)
        return np.concatenate([((marks * (sides / (cells + sides))) @ self._into).ravel(), (marks * rest).ravel()])

    def _put_share(self, name: str, hits: Array, misses: Array, worth: float = 1.0) -> Estimate:
        """A share among records by class and predicted class."""
        return self._estimate(name, CellShare(self._sums, self._weights(hits), self._weights(misses), worth))

    def _share(self, name: str, hits: Array, misses: Array, worth: float = 1.0) -> Estimate:
        return self._estimate(name, CellShare(self.counts.ravel(), hits.ravel(), misses.ravel(), worth))

    def _loss(self, name: str, loss: CellLoss) -> Estimate:
        cells = self._scores(name)
        if cells.edges[0] < 0 or cells.edges[-1] > 1:
            raise ParameterError(name, "the scores are no probabilities", "Evaluate scores between 0 and 1.")
        middle, low, high = (CellMean(self.counts.ravel(), each.ravel()) for each in loss.between(cells.edges))
        return self._estimate(name, middle, low, high, Number(0.0, loss.most))

    def _estimate(
        self,
        name: str,
        figure: Supposable,
        low: Supposable | None = None,
        high: Supposable | None = None,
        ends: Number = SHARE,
    ) -> Estimate:
        """A figure, and the interval from what is at most it to what is at least it."""
        sure, spread = self.confidence or CONFIDENCE, self.table.spread
        least, most = not_contradicted(low or figure, high or figure, spread, self.population, sure, ends)
        value = min(max(figure.value, min(least, most)), max(least, most))
        error = figure.supposed(value).deviation(spread, self.population)
        slope = abs(figure.supposed(ends.lower).value - figure.supposed(ends.upper).value)
        error = error * (ends.upper - ends.lower) / slope if slope > 0 else ends.upper - ends.lower
        return self._between(name, value, min(least, value), max(most, value), error)

    def _between(self, name: str, value: float, low: float, high: float, error: float) -> Estimate:
        return Estimate(
            name=name,
            value=value,
            standard_error=error,
            low=low,
            high=high,
            confidence=self.confidence,
            population=self.population,
            receipt=self.receipt,
        )


def series_of(name: str, found: Sequence[Estimate]) -> Series:
    """Estimates in a column."""
    value, low, high, error = np.array([_row(one) for one in found], dtype=np.float64).T
    return Series(name, value, error, low, high)


def _row(one: Estimate) -> tuple[float | None, ...]:
    return one.value, one.low, one.high, one.standard_error
