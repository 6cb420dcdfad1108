"""Statistics of a column by diffprivlib's `tools`. Prints JSON; the argument is `errors` or `seconds`.

For errors, what is the same in every repetition is done once, with the mechanisms that `tools` makes; the first
release is held against that of `tools` for the same seed.

`tools` does not name its neighbors: a mean and a variance have the sensitivity to a replaced record, a quantile the
greater of those to both relations, and a histogram that to a record more or less.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import numpy as np
from diffprivlib import tools
from diffprivlib.mechanisms import Exponential, GeometricTruncated, LaplaceBoundedDomain, LaplaceTruncated
from numpy.random import RandomState

from benchmarks.peers.columns import BINS, ColumnQuestion
from benchmarks.peers.trials import Releases, main


class CheckedOnce(Exponential):
    """The mechanism, which would go through all of its scores again at every draw."""

    def _check_all(self, value: Any) -> bool:
        return True


def whole(asked: ColumnQuestion, values: np.ndarray, seed: RandomState | None = None) -> Any:
    """One release by `tools`."""
    given = {"epsilon": asked.epsilon, "random_state": seed}
    match asked.statistic:
        case "mean":
            return tools.mean(values, bounds=asked.of.bounds, **given)
        case "variance":
            return tools.var(values, bounds=asked.of.bounds, **given)
        case "nonnegative histogram":
            return tools.histogram(values, bins=BINS, range=asked.of.bounds, **given)[0]
        case _:
            return tools.quantile(values, asked.shares, bounds=asked.of.bounds, **given)


def job(asked: ColumnQuestion) -> Callable[[], Any]:
    values = asked.values
    return lambda: whole(asked, values)


def releases(asked: ColumnQuestion) -> Releases:
    first, sure = apart(asked, RandomState(1))(), whole(asked, np.clip(asked.values, *asked.of.bounds), RandomState(1))
    if not np.array_equal(np.ravel(first), np.ravel(sure)):
        raise SystemExit(f"{asked}: {first} is not what diffprivlib releases, which is {sure}")
    release = apart(asked, RandomState())
    return lambda count: [release() for _ in range(count)]


def apart(asked: ColumnQuestion, seed: RandomState) -> Callable[[], Any]:
    """One release after another, by mechanisms that are made once."""
    lower, upper = asked.of.bounds
    values, size, width = np.clip(asked.values, lower, upper), asked.size, upper - lower
    given = {"epsilon": asked.epsilon, "random_state": seed}
    match asked.statistic:
        case "mean":
            of_mean = LaplaceTruncated(delta=0, sensitivity=width / size, lower=lower, upper=upper, **given)
            mean = values.mean()
            return lambda: of_mean.randomise(mean)
        case "variance":
            reach, most = (width / size) ** 2 * (size - 1), width**2 / 4
            of_variance = LaplaceBoundedDomain(delta=0, sensitivity=reach, lower=0, upper=most, **given)
            variance = values.var()
            return lambda: of_variance.randomise(variance)
        case "nonnegative histogram":
            counts = np.histogram(values, BINS, (lower, upper))[0].tolist()
            count = GeometricTruncated(sensitivity=1, lower=0, upper=sys.maxsize, **given)
            return lambda: [count.randomise(each) for each in counts]
        case _:
            price = asked.epsilon / len(asked.shares)
            each = [quantile(values, share, asked.of.bounds, price, seed) for share in asked.shares]
            return lambda: [release() for release in each]


def quantile(
    values: np.ndarray, share: float, bounds: tuple[float, float], epsilon: float, seed: RandomState
) -> Callable[[], float]:
    edges = np.sort(np.append(values, bounds))
    scores = -np.abs(np.arange(0, len(values) + 1) - share * len(values))
    mechanism = CheckedOnce(
        epsilon=epsilon, sensitivity=1, utility=scores.tolist(), measure=np.diff(edges).tolist(), random_state=seed
    )

    def release() -> float:
        place = mechanism.randomise()
        return float(seed.random() * (edges[place + 1] - edges[place]) + edges[place])

    return release


if __name__ == "__main__":
    main("diffprivlib", releases, job)
