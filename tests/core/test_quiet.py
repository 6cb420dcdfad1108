"""Silence: of numpy and of Python's warnings, in several threads at once, and over when all are done."""

from __future__ import annotations

import threading
import warnings

import numpy as np
import pytest

from discreet.core.bound import Bound
from discreet.core.quiet import quiet
from discreet.questions.question import BoundedSum


def test_a_sum_of_ones_own_does_not_warn_of_a_record() -> None:
    logarithms = BoundedSum(
        lambda rows: np.log(rows) + np.nanmean(rows, axis=1, keepdims=True), Bound("l1", 1.0), ("x0",)
    )
    for records in ([[1.0]], [[0.0]], [[-1.0]], [[np.nan]]):
        assert np.isfinite(logarithms.steps(np.array(records))).all()


def test_silence_lasts_until_all_threads_are_done() -> None:
    inside, over = threading.Event(), threading.Event()

    def other() -> None:
        with quiet():
            inside.set()
            over.wait(60)
            warnings.warn("a record", UserWarning, stacklevel=1)

    thread = threading.Thread(target=other)
    with quiet():
        thread.start()
        inside.wait(60)
    warnings.warn("a record", UserWarning, stacklevel=1)
    over.set()
    thread.join()
    with pytest.raises(UserWarning, match="heard"):
        warnings.warn("heard", UserWarning, stacklevel=1)
