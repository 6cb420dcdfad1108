"""Every learner that predicts, at epsilon 1000, beside its exact twin: nothing but noise may stand between them.

On three made-up sets each, with defaults; accuracies, or R2. Twins are those that the learners' own test files name, or
what scikit-learn has by their names (`tests/learners/twins.py`): it takes an environment in which the tests can be run.
"""

from __future__ import annotations

import signal
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from benchmarks.cells import Cell
from benchmarks.rows import Row, missing
from discreet.core.errors import DiscreetError

SECONDS = 120  # of a fit, after which a learner is taken not to return


def cells() -> list[Cell]:
    """None: twins are fitted beside each learner."""
    return []


def rows() -> list[Row]:
    """A row for each learner and set: what the twin is ahead by."""
    try:
        from tests.learners.twins import predictors, sets_of
    except ModuleNotFoundError as why:
        return [missing(f"large epsilon: {why.name} is not installed; run it with .venv/bin/python")]
    return [_row(kind, name) for kind in predictors() for name in sets_of(kind)]


@contextmanager
def limited(seconds: int) -> Iterator[None]:
    """Stop with a TimeoutError after so many seconds."""

    def stop(*_: Any) -> None:
        raise TimeoutError

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _row(kind: type[Any], name: str) -> Row:
    from tests.learners.twins import CLOSE, LARGE, made

    claim, goal = f"{kind.__name__} on {name}, epsilon {LARGE:g}: behind its exact twin", f"<= {CLOSE:g}"
    try:
        with limited(SECONDS):
            found = made(name).scores(kind)
    except (DiscreetError, TimeoutError, ValueError) as refused:
        return Row(claim, type(refused).__name__, goal, holds=False)
    row = Row(claim, f"{found.exact - found.ours:.4f} ({found.ours:.3f}, {found.exact:.3f})", goal, found.close)
    print(row.line(), flush=True)
    return row
