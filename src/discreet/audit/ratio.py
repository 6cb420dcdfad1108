"""How much likelier an output is on one data set than on another, learnt from outputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.core.grid import Array

Values = NDArray[Any]
DISTINCT = 256  # different values, at most, that get a cell each
CELLS = 128  # cells of equal mass otherwise, at most, and finer ones at both ends
CROWD = 16  # no cell with fewer outputs than this
SHOWN = 4  # stretches of the line that a description spells out
MANY = 4  # scores that only rows of many different numbers have
Score = Callable[[Values], Array]
Teacher = Callable[[Values, Values], dict[str, Score]]
HUGE = 1e30  # larger coordinates count as this one where whole rows are looked at, so that nothing overflows


@dataclass(frozen=True)
class Ratio:
    """The logarithm of a likelihood ratio, constant on cells of the line.

    Cell i holds the values above `edges[i - 1]` and up to `edges[i]`; the last cell the rest, nan included.

    Examples
    --------
    >>> ratio = Ratio.learnt(np.array([1, 1, 1, 0]), np.array([0, 0, 0, 1]))
    >>> ratio(np.array([0, 1])).round(3)
    array([-0.847,  0.847])
    >>> ratio.where(0.847, above=True)
    '0 < output <= 1'
    """

    edges: Values = field(repr=False)
    levels: Array = field(repr=False)

    @classmethod
    def learnt(cls, first: Values, second: Values) -> Ratio:
        """The ratio of the two histograms, with half an output added to each cell."""
        edges = _edges(np.concatenate([first, second]))
        here, there = (_shares(edges, values) for values in (first, second))
        return cls(edges, np.log(here / there))

    def __call__(self, values: Values) -> Array:
        """The level of each value's cell."""
        return self.levels[np.searchsorted(self.edges, values)]

    def where(self, threshold: float, above: bool) -> str:
        """The values at or above the threshold (or at or below it), in words."""
        inside = self.levels >= threshold if above else self.levels <= threshold
        turns = np.flatnonzero(np.diff(np.concatenate([[False], inside, [False]])))
        stretches = [self._stretch(start, stop) for start, stop in turns.reshape(-1, 2).tolist()]
        rest = [f"{len(stretches) - SHOWN} more stretches"] if len(stretches) > SHOWN else []
        return " or ".join(stretches[:SHOWN] + rest) or "no output"

    def _stretch(self, start: int, stop: int) -> str:
        low = f"{self.edges[start - 1]:.6g} < " if start > 0 else ""
        high = f" <= {self.edges[stop - 1]:.6g}" if stop <= len(self.edges) else ""
        return f"{low}output{high}" if low or high else "any output"


def _shares(edges: Values, values: Values) -> Array:
    counts = np.bincount(np.searchsorted(edges, values), minlength=len(edges) + 1) + 0.5
    return counts / counts.sum()


def _edges(values: Values) -> Values:
    """The distinct values, where they are few; else quantiles, with a cell to itself for every frequent value."""
    distinct = np.unique(values)
    if len(distinct) <= DISTINCT:
        return distinct
    chosen = spread(values, cells=CELLS, crowd=CROWD)
    frequent = chosen[1:][chosen[1:] == chosen[:-1]]
    below = frequent - 1 if frequent.dtype.kind in "iu" else np.nextafter(frequent, -np.inf)
    return np.unique(np.concatenate([chosen, below]))


def spread(values: Values, cells: int, crowd: int) -> Values:
    """Quantiles that cut the values into equal shares, and the shares at both ends in halves again and again.

    At most `cells` equal shares, and none with fewer than `crowd` values; a frequent value comes several times.
    """
    ordered = np.sort(values)
    equal = int(np.clip(len(ordered) // crowd, 4, cells))
    halves = 0.5 ** np.arange(1, 60) / equal
    ends = halves[halves * len(ordered) >= crowd]
    below = np.sort(np.concatenate([np.arange(1, equal) / equal, ends, 1 - ends]))
    return ordered[np.floor(below * (len(ordered) - 1)).astype(np.int64)]


def scores(first: Values, second: Values) -> dict[str, Score]:
    """Scores by name, for numbers or for rows."""
    quick = quick_scores(first, second)
    return quick if len(quick) < MANY else {**quick, "probability by trees": _trees(first, second)}


def quick_scores(first: Values, second: Values) -> dict[str, Score]:
    """The same without trees, which take most of the time."""
    if first.ndim == 1:
        return _of_numbers(first, second)
    known = np.unique(_whole(np.concatenate([first, second])))
    return _of_listed(known, first, second) if len(known) <= DISTINCT else _of_rows(first, second)


def _of_numbers(first: Values, second: Values) -> dict[str, Score]:
    """The likelihood ratio, and the number itself, which is best where few outputs were seen."""
    return {"likelihood ratio": Ratio.learnt(first, second), "output": _value}


def _value(values: Values) -> Array:
    return np.where(np.isnan(values), -np.inf, values)


def _whole(rows: Values) -> Values:
    """Each row as one item, by its bytes."""
    rows = np.ascontiguousarray(rows)
    return rows.view(f"V{rows.dtype.itemsize * rows.shape[1]}")[:, 0]


def _of_listed(known: Values, first: Values, second: Values) -> dict[str, Score]:
    """The likelihood ratio of whole rows, where few different ones were seen; all others count as one more."""

    def places(rows: Values) -> Values:
        found = np.minimum(np.searchsorted(known, _whole(rows)), len(known) - 1)
        return np.where(known[found] == _whole(rows), found, len(known))

    ratio = Ratio.learnt(places(first), places(second))
    return {"likelihood ratio of whole rows": lambda rows: ratio(places(rows))}


def _of_rows(first: Values, second: Values) -> dict[str, Score]:
    """One coordinate, coordinates taken for independent, and two weighted sums."""
    ratios = [Ratio.learnt(first[:, j], second[:, j]) for j in range(first.shape[1])]
    apart = [ratio(first[:, j]).mean() - ratio(second[:, j]).mean() for j, ratio in enumerate(ratios)]
    best = int(np.argmax(apart))
    return {
        f"likelihood ratio of coordinate {best}": lambda rows: ratios[best](rows[:, best]),
        "likelihood ratio of independent coordinates": lambda rows: _added(ratios, rows),
        "likelihood ratio of the sum": _weighted(np.ones(first.shape[1]), first, second),
        "likelihood ratio of a linear function": _weighted(_direction(first, second), first, second),
    }


def _added(ratios: list[Ratio], rows: Values) -> Array:
    return np.sum([ratio(rows[:, j]) for j, ratio in enumerate(ratios)], axis=0)


def _finite(rows: Values) -> Array:
    return np.clip(np.nan_to_num(rows.astype(np.float64), nan=0.0), -HUGE, HUGE)


def _labels(first: Values, second: Values) -> Array:
    return np.repeat([1.0, 0.0], [len(first), len(second)])


def _direction(first: Values, second: Values) -> Array:
    """Fisher's linear discriminant: the least-squares fit of which data set a row comes from."""
    rows = _finite(np.concatenate([first, second]))
    rows = rows - rows.mean(axis=0)
    stddev = rows.std(axis=0)
    stddev = np.where(stddev > 0, stddev, 1.0)
    labels = _labels(first, second)
    return np.linalg.lstsq(rows / stddev, labels - labels.mean())[0] / stddev


def _weighted(weights: Array, first: Values, second: Values) -> Score:
    ratio = Ratio.learnt(_finite(first) @ weights, _finite(second) @ weights)
    return lambda rows: ratio(_finite(rows) @ weights)


def _trees(first: Values, second: Values) -> Score:
    """Extremely randomized trees (Geurts, Ernst and Wehenkel 2006), averaged."""
    from sklearn.ensemble import ExtraTreesClassifier  # a second, which who asks for no audit does not wait

    model = ExtraTreesClassifier(
        n_estimators=20, max_features=None, max_leaf_nodes=256, min_samples_leaf=50, random_state=0
    )
    model.fit(_finite(np.concatenate([first, second])), _labels(first, second))
    return lambda rows: model.predict_proba(_finite(rows))[:, 1]
