"""Reports of attacks before a release: how long they take, and in how much memory.

python -m benchmarks.attacks_report
"""

from __future__ import annotations

import resource
import time
from collections.abc import Iterator

import numpy as np
from sklearn.linear_model import LogisticRegression

from benchmarks.rows import Row, at_least, at_most, printed, report
from discreet.attacks import MembershipData, ModelMaterial, attacked
from discreet.attacks.report.demo import demo

LARGE, FEATURES = 500_000, 4


def large() -> ModelMaterial:
    """A million records, half of which a model has seen."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2 * LARGE, FEATURES))
    y = (X[:, 0] > 0).astype(int)
    data = MembershipData.of(X[:LARGE], y[:LARGE], X[LARGE:], y[LARGE:])
    return ModelMaterial(LogisticRegression().fit(data.members_X, data.members_y), data, number=2)


def rows() -> Iterator[Row]:
    """What was promised of `discreet attack`."""
    start = time.perf_counter()
    overfitted, private = demo()
    yield at_most("seconds of the demo", time.perf_counter() - start, 60)
    yield at_least("attacks that succeed on the model of the demo", len(overfitted.succeeded), 3)
    yield at_most("attacks on its private twin beyond its receipt", len(private.beyond), 0)
    start = time.perf_counter()
    found = attacked(large())
    yield printed("seconds of all attacks on a million records", time.perf_counter() - start)
    yield at_least("attacks that were run on them", len(found.runs), 5)
    most = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    yield at_most("MiB at most, in all", most, 2048)


if __name__ == "__main__":
    report("attacks_report", list(rows()))
