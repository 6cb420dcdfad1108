"""Numbers that distinguish the outputs on two data sets, learnt from examples of both.

Any score gives a sound bound, since events are certified on outputs that the score has not seen; a good one gives a
high bound. So several are learnt, and the best is chosen on further outputs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from sklearn.ensemble import ExtraTreesClassifier

from discreet.audit.ratio import DISTINCT, Ratio, Values
from discreet.core.grid import Array

Score = Callable[[Values], Array]

HUGE = 1e30  # larger coordinates count as this one where whole rows are looked at, so that nothing overflows


def scores(first: Values, second: Values) -> dict[str, Score]:
    """Scores by name, for numbers or for rows."""
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
    """One coordinate, coordinates taken for independent, two weighted sums, and trees for what they do together."""
    ratios = [Ratio.learnt(first[:, j], second[:, j]) for j in range(first.shape[1])]
    apart = [ratio(first[:, j]).mean() - ratio(second[:, j]).mean() for j, ratio in enumerate(ratios)]
    best = int(np.argmax(apart))
    return {
        f"likelihood ratio of coordinate {best}": lambda rows: ratios[best](rows[:, best]),
        "likelihood ratio of independent coordinates": lambda rows: _added(ratios, rows),
        "likelihood ratio of the sum": _weighted(np.ones(first.shape[1]), first, second),
        "likelihood ratio of a linear function": _weighted(_direction(first, second), first, second),
        "probability by trees": _trees(first, second),
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
    model = ExtraTreesClassifier(
        n_estimators=20, max_features=None, max_leaf_nodes=256, min_samples_leaf=50, random_state=0
    )
    model.fit(_finite(np.concatenate([first, second])), _labels(first, second))
    return lambda rows: model.predict_proba(_finite(rows))[:, 1]
