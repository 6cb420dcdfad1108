"""How far a released table is from the records: exact figures, which promise nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any, ClassVar

import numpy as np

from discreet.core.answer import Records
from discreet.core.bits import Bits
from discreet.core.events import NoPromise
from discreet.core.grid import Array, Steps
from discreet.noise.uniform import permutation
from discreet.questions.tables.coded_tables import AxisPlaces, TableCodes

LEAST = 20  # records to train on, and to test on
ROUNDS = 50  # trees of a model
FEW = 2**17  # records, from which on threads save time; among fewer they wait for one another


@dataclass(frozen=True)
class TableComparison:
    """Give away how far a public table is from the records: distances of tables of counts, dependences, and models.

    Parameters
    ----------
    codes : TableCodes
        Public. The cells of the columns that are compared.
    sets : tuple of tuples
        Public. The columns of each table of counts, by their places.
    released : array of shape (n, columns)
        Public. The records of the table.
    targets : tuple of int
        Public. The columns that models predict from the others, all of them categories.

    Notes
    -----
    Every figure is exact: together they tell of single records, and two reports about data that differ in one person
    tell who that is.
    """

    codes: TableCodes
    sets: tuple[AxisPlaces, ...]
    released: Array = field(repr=False)
    targets: tuple[int, ...] = ()
    event: ClassVar[NoPromise] = NoPromise("exact figures of the records, beside those of a table")

    def release(self, answer: Records, bits: Bits) -> Mapping[str, Any]:
        """All figures, by name."""
        return self.figures(answer.values, permutation(bits, len(answer.values)))

    def figures(self, records: Array, order: Steps) -> Mapping[str, Any]:
        """All figures of records, of which the first half in this order trains a model and the others test all."""
        counts = [self.codes.counted(self.codes.places(one), self.sets) for one in (records, self.released)]
        shares = [[table / max(table.sum(), 1) for table in tables] for tables in counts]
        distances = [float(np.abs(a - b).sum() / 2) for a, b in zip(*shares, strict=True)]
        pairs = [place for place, axes in enumerate(self.sets) if len(axes) == 2]
        dependences = [[self._dependence(tables[place], self.sets[place]) for place in pairs] for tables in counts]
        numbers = [place for place, edges in enumerate(self.codes.edges) if edges]
        both = list(combinations(numbers, 2))
        return {
            "distances": np.array(distances),
            "dependences": np.array(dependences).reshape(2, len(pairs)),
            "correlated": np.array(both, dtype=np.int64).reshape(-1, 2),
            "correlations": np.array([[_correlation(one, pair) for pair in both] for one in (records, self.released)]),
            "scores": np.array([self._scores(target, records, order) for target in self.targets]).reshape(-1, 3),
        }

    def _dependence(self, counts: Steps, axes: AxisPlaces) -> float:
        """Cramer's V of a table of two columns: 0 if they are independent, 1 if one determines the other."""
        table = counts.reshape([self.codes.sizes[axis] for axis in axes]).astype(np.float64)
        table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
        if min(table.shape) < 2:
            return 0.0
        expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / table.sum()
        chi_square = (np.square(table - expected) / expected).sum()
        return float(np.sqrt(chi_square / table.sum() / (min(table.shape) - 1)))

    def _scores(self, target: int, records: Array, order: Steps) -> tuple[float, float, float]:
        """The accuracies of models that were trained on the table and on records, and of the most frequent value."""
        half = len(order) // 2
        train, test = records[order[:half]], records[order[half:]]
        if min(len(train), len(self.released)) < LEAST or len(self.codes.columns) < 2:
            return np.nan, np.nan, np.nan
        truth = _classes(test, target)
        ours, theirs = (np.mean(self._predicted(one, test, target) == truth) for one in (self.released, train))
        values, counts = np.unique(_classes(train, target), return_counts=True)
        return float(ours), float(theirs), float(np.mean(truth == values[counts.argmax()]))

    def _predicted(self, train: Array, test: Array, target: int) -> Array:
        from sklearn.ensemble import HistGradientBoostingClassifier
        from threadpoolctl import threadpool_limits

        known = _classes(train, target)
        if len(np.unique(known)) < 2:
            return np.full(len(test), known[0])
        kinds = [not edges and size <= 200 for edges, size in zip(self.codes.edges, self.codes.sizes, strict=True)]
        model = HistGradientBoostingClassifier(
            max_iter=ROUNDS, categorical_features=np.delete(kinds, target), random_state=0, early_stopping=False
        )
        with threadpool_limits(1 if len(train) < FEW else None, "openmp"):
            model.fit(np.delete(train, target, axis=1), known)
            return np.asarray(model.predict(np.delete(test, target, axis=1)))


def _classes(records: Array, target: int) -> Array:
    """The values of a category; -1 where one is missing, which is a value too."""
    return np.nan_to_num(records[:, target], nan=-1.0)


def _correlation(records: Array, pair: tuple[int, int]) -> float:
    """Of two numbers, where neither is missing; 0 where one does not vary."""
    first, second = records[~np.isnan(records[:, pair]).any(axis=1)][:, pair].T
    if len(first) < 2 or np.ptp(first) == 0 or np.ptp(second) == 0:
        return 0.0
    return float(np.corrcoef(first / np.abs(first).max(), second / np.abs(second).max())[0, 1])
